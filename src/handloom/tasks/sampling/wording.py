"""The instruction of an episode and the texts of its skills, in words."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np

from handloom.arrays import Array
from handloom.objects.materials import COLORS, SPOKEN
from handloom.seeding import generator
from handloom.skills.configs import skill_name
from handloom.skills.configs.parts import SkillConfig
from handloom.tasks.config.task import Task
from handloom.tasks.config.task_config import placed_skills
from handloom.tasks.reach.chosen_arms import with_arms
from handloom.tasks.retelling.end_poses import aimed
from handloom.values import ObjectInstance, TaskInstance

Stages = tuple[dict[str, tuple[dict[str, tuple[Any, ...]], ...]], ...]
"""Stage > robot > block > arm > skill configs, as the task file nests them."""
WORDINGS: dict[str, tuple[str, ...]] = {
    "aim": ("Point the {0} at the {1}.", "Scan the {1} with the {0}."),
    "approach__rotate": ("Bring the {0} to the {1} and turn it.", "Turn the {0} beside the {1}."),
    "artpreplan": ("Look at the {0}.",),
    "carry": ("Carry the {0} to the {1} with both hands.", "Bring the {0} to the {1}."),
    "close": ("Close the {0}.", "Shut the {0}."),
    "dexpick": ("Pick up the {0}.", "Take the {0}."),
    "dexplace": ("Drop the {0} into the {1}.", "Put the {0} into the {1}."),
    "dynamicpick": ("Take the {0} while it moves.", "Catch the {0}.", "Grasp the {0} as it comes along."),
    "fail_pick": ("Pick up the {0}.", "Grasp the {0} and lift it.", "Take the {0}."),
    "flip": ("Turn the {0} over.", "Flip the {0}."),
    "goto__pose": ("Move the hand.", "Move the hand to the next place."),
    "gripper__action": ("Move the gripper.",),
    "hang": ("Hang the {0} on the {1}.", "Put the {0} on a peg of the {1}."),
    "heuristic__skill": ("Move the arm.",),
    "home": ("Go home.", "Return to the home position."),
    "joint__ctrl": ("Move single joints.",),
    "lift": ("Lift the {0} with both hands.", "Raise the {0} together."),
    "manualpick": ("Pick up the {0}.", "Grasp the {0}."),
    "mobile__rotate": ("Turn the base.", "Turn around."),
    "mobile__translate": ("Drive on.", "Drive the base to its place."),
    "move": ("Move the {0} over to the {1}.", "Carry the {0} to the {1}."),
    "navigate": ("Drive to the next place.", "Drive over there."),
    "open": ("Open the {0}.",),
    "pick": ("Pick up the {0}.", "Grasp the {0} and lift it.", "Take the {0}."),
    "place": ("Put the {0} on the {1}.", "Place the {0} on the {1}.", "Set the {0} down on the {1}."),
    "pour": ("Pour the {0} into the {1}.", "Empty the {0} into the {1}."),
    "pour__water__succ": ("Pour until enough is in it.", "Hold still."),
    "press": ("Press the {0}.", "Push down on the {0}."),
    "push": ("Push the {0} to its place.", "Slide the {0} over."),
    "rotate": ("Turn the {0}.", "Give the {0} a turn."),
    "rotate__obj": ("Tilt the {0}.", "Turn the {0}."),
    "scan": ("Show the {0} to the scanner.", "Scan the {0}."),
    "shake": ("Shake the {0}.", "Give the {0} a shake."),
    "track": ("Follow the target.", "Bring the hand to the target."),
    "use": ("Touch the {1} with the {0}.", "Use the {0} on the {1}."),
    "wait": ("Wait.", "Hold still."),
    "wipe": ("Wipe the {1} with the {0}.", "Rub the {0} over the {1}."),
}
"""Published name > wordings; {0} and {1} are the skill's objects. A pick that misses on purpose has the same words as
any other: they state the intention, and the frames of the mistake are marked."""
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
"""Ordinals from the left, or from near to far, if more than three objects have the same words."""
PHRASE_ENDS = (
    *("the", "a", "an", "its", "it", "this", "that", "each", "both", "and", "or", "then", "on", "onto", "in", "into"),
    *(
        "of",
        "to",
        "from",
        "with",
        "by",
        "at",
        "over",
        "upon",
        "beside",
        "next",
        "before",
        "under",
        "for",
        "so",
        "until",
    ),
)
"""Words that delimit a noun phrase, within which no word and no colour occurs twice."""
SPOKEN_COLORS = frozenset(SPOKEN.get(word, word) for word in COLORS if " " not in word)


def sample_instruction(task: Task, objects: Sequence[ObjectInstance], rng: np.random.Generator) -> str:
    """Pick a wording and fill in the words for the objects of this episode."""
    wordings = (task.config.data.language_instruction, *task.config.data.paraphrases)
    return with_words(wordings[int(rng.integers(len(wordings)))], objects)


def with_words(text: str, objects: Sequence[ObjectInstance]) -> str:
    """Return a text with ``{name}`` replaced by the words for that object in this episode, e.g. ``red cube``.

    Published task files use bare names, which are replaced unless they could be English words: ``obj_left``,
    ``cube2``. A name such as ``mug`` stays, since it also occurs in "mug tree".
    """
    words = {obj.name: obj.words or obj.name.replace("_", " ") for obj in objects}
    # In one pass, so that the words put in are not searched for names again.
    names = sorted(map(re.escape, words), key=len, reverse=True)
    bare = [name for name in names if re.search(r"[_\d]", name)]
    if not names:
        return text
    pattern = rf"\{{({'|'.join(names)})\}}" + (rf"|\b({'|'.join(bare)})\b" if bare else "")
    return re.sub(pattern, lambda match: words[next(filter(None, match.groups()))], text)


def told_apart(objects: Sequence[ObjectInstance], T_world_robot: Array) -> tuple[ObjectInstance, ...]:
    """Return the objects; those with equal words are distinguished by side, seen by the robot: left, right, near, far.

    Args:
        objects: The task's objects at their places.
        T_world_robot: Pose (4, 4) of the robot that gets the instruction; x ahead, y left.
    """
    groups: dict[str, list[ObjectInstance]] = {}
    for obj in objects:
        groups.setdefault(obj.words or obj.name.replace("_", " "), []).append(obj)
    renamed: dict[str, str] = {}
    for words, group in groups.items():
        if len(group) > 1:
            seen = (np.array([obj.position for obj in group]) - T_world_robot[:3, 3]) @ T_world_robot[:3, :3]
            axis = 1 if np.ptp(seen[:, 1]) >= np.ptp(seen[:, 0]) else 0
            order = np.argsort(-seen[:, 1] if axis == 1 else seen[:, 0], kind="stable")
            sides = zip(order, _sides(axis, len(group)), strict=True)
            renamed |= {group[k].name: f"{side} {words}" for k, side in sides}
    return tuple(replace(obj, words=renamed[obj.name]) if obj.name in renamed else obj for obj in objects)


def _sides(axis: int, count: int) -> tuple[str, ...]:
    first, last = ("left", "right") if axis == 1 else ("near", "far")
    between = ("middle",) if count == 3 else tuple(ORDINALS[k] for k in range(1, count - 1))
    return (first, *between, last)


def faults_of_sentence(text: str) -> list[str]:
    """Return the faults of an instruction for a policy; an empty text has none."""
    if not text:
        return []
    faults = ["does not start with a capital letter"] if not text[0].isupper() else []
    if not text.endswith((".", "!", "?")):
        faults.append("does not end with a full stop")
    if re.search(r"[{}]|\b\w*_\w*\b|\b[a-z]+\d\w*", text):
        faults.append("names an object by its identifier")
    if "  " in text or re.search(r"\s[.,;]", text):
        faults.append("has stray spaces")
    if re.search(r"\b(miss|fail|beside it on purpose)\b", text, re.IGNORECASE):
        faults.append("asks for a mistake")
    if re.search(r"\b[Aa] [aeio]|\b[Aa]n [^aeiouh\W]", text):
        faults.append("has the wrong article")
    for phrase in re.split(rf"[^\w\s]|\b(?:{'|'.join(PHRASE_ENDS)})\b", text.lower()):
        words = phrase.split()
        if len(set(words)) < len(words):
            faults.append(f"repeats a word in {phrase.strip()!r}")
        if sum(word in SPOKEN_COLORS for word in words) > 1:
            faults.append(f"has two colours in {phrase.strip()!r}")
    return faults


def worded_skills(task: Task, instance: TaskInstance) -> Stages:
    """Return the task's skills, each with an instruction in the words for this episode's objects.

    A skill without its own text gets one of the usual wordings; one whose arm the task leaves open is listed under the
    arm chosen for the episode. In a reused scene, the expert aims at the recorded final places of the objects.
    """
    task = with_arms(task, instance)
    rng = generator(instance.seed, instance.episode, "skill words", task=instance.task)

    aims = aimed([skill for _, skill in placed_skills(task.config)], instance)
    numbers = count()

    def worded(skill: Any) -> Any:
        own = aims.get(next(numbers), {})
        return skill.model_copy(update={"instruction": _instruction(skill, instance, rng), **own})

    return tuple(
        {
            robot: tuple({arm: tuple(map(worded, skills)) for arm, skills in block.items()} for block in blocks)
            for robot, blocks in stage.items()
        }
        for stage in task.config.skills
    )


def _instruction(skill: SkillConfig, instance: TaskInstance, rng: np.random.Generator) -> str:
    # Drawn for every skill, so that giving one a text does not change the words of the others.
    choice = float(rng.uniform())
    if skill.instruction:
        return with_words(skill.instruction, instance.objects)
    wordings = WORDINGS.get(skill_name(skill.name), ())
    possible = [text for text in wordings if _needed(text) <= len(skill.objects)]
    if not possible:
        return ""
    words = {obj.name: obj.words or obj.name.replace("_", " ") for obj in instance.objects}
    return _chosen(possible, choice).format(*(words[name] for name in skill.objects))


def _needed(text: str) -> int:
    """Return the number of objects that a wording names."""
    return sum(f"{{{k}}}" in text for k in range(2))


def _chosen(texts: Sequence[str], choice: float) -> str:
    return texts[int(choice * len(texts))]
