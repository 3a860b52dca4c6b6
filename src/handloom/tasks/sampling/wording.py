"""The instruction of an episode and the texts of its skills, in words."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from handloom.seeding import generator
from handloom.skills.configs import skill_name
from handloom.skills.configs.parts import SkillConfig
from handloom.tasks.config.task import Task
from handloom.values import ObjectInstance, TaskInstance

Stages = tuple[dict[str, tuple[dict[str, tuple[Any, ...]], ...]], ...]
"""Stage > robot > block > arm > skill configs, as the task file nests them."""
WORDINGS: dict[str, tuple[str, ...]] = {
    "approach__rotate": ("Bring the {0} to the {1} and turn it.", "Turn the {0} beside the {1}."),
    "dexpick": ("Pick up the {0}.", "Take the {0}."),
    "dexplace": ("Drop the {0} into the {1}.", "Put the {0} into the {1}."),
    "fail_pick": ("Miss the {0}.", "Close the hand beside the {0}."),
    "flip": ("Turn the {0} over.", "Flip the {0}."),
    "goto__pose": ("Move the hand.", "Move the hand to the next place."),
    "gripper__action": ("Move the gripper.",),
    "hang": ("Hang the {0} on the {1}.", "Put the {0} on a peg of the {1}."),
    "heuristic__skill": ("Move the arm.",),
    "home": ("Go home.", "Return to the home position."),
    "joint__ctrl": ("Move single joints.",),
    "manualpick": ("Pick up the {0}.", "Grasp the {0}."),
    "move": ("Move the {0} over to the {1}.", "Carry the {0} to the {1}."),
    "pick": ("Pick up the {0}.", "Grasp the {0} and lift it.", "Take the {0}."),
    "place": ("Put the {0} on the {1}.", "Place the {0} on the {1}.", "Set the {0} down on the {1}."),
    "rotate__obj": ("Tilt the {0}.", "Turn the {0}."),
    "scan": ("Show the {0} to the scanner.", "Scan the {0}."),
    "track": ("Follow the target.", "Bring the hand to the target."),
    "wait": ("Wait.", "Hold still."),
}
"""Published name > wordings; {0} and {1} are the skill's objects."""


def sample_instruction(task: Task, objects: Sequence[ObjectInstance], rng: np.random.Generator) -> str:
    """Pick a wording and put in what the randomized objects are this time."""
    wordings = (task.config.data.language_instruction, *task.config.data.paraphrases)
    return with_words(task, wordings[int(rng.integers(len(wordings)))], objects)


def with_words(task: Task, text: str, objects: Sequence[ObjectInstance]) -> str:
    """Return a text with what the objects are this time.

    As published, the name of an object with ``apply_randomization`` is replaced by what it is; ``{name}`` in a text is
    replaced for every object.
    """
    randomized = {o.name for o in task.config.objects if o.apply_randomization or o.colors}
    words = {obj.name: obj.words or obj.name.replace("_", " ") for obj in objects}
    # In one pass, so that the words put in are not searched for names again.
    names = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))

    def spoken(match: re.Match[str]) -> str:
        braced, bare = match.group(1), match.group(2)
        return words[braced] if braced else words[bare] if bare in randomized else bare

    return re.sub(rf"\{{({names})\}}|\b({names})\b", spoken, text) if names else text


def worded_skills(task: Task, instance: TaskInstance) -> Stages:
    """Return the task's skills, each with an instruction that names its objects as they are in this episode.

    A skill without a text of its own gets one of the usual wordings.
    """
    rng = generator(instance.seed, instance.episode, "skill words")

    def worded(skill: Any) -> Any:
        return skill.model_copy(update={"instruction": _instruction(task, skill, instance, rng)})

    return tuple(
        {
            robot: tuple({arm: tuple(map(worded, skills)) for arm, skills in block.items()} for block in blocks)
            for robot, blocks in stage.items()
        }
        for stage in task.config.skills
    )


def _instruction(task: Task, skill: SkillConfig, instance: TaskInstance, rng: np.random.Generator) -> str:
    # Drawn for every skill, so that giving one a text leaves the words of the others as they were.
    choice = float(rng.uniform())
    if skill.instruction:
        return with_words(task, skill.instruction, instance.objects)
    wordings = WORDINGS.get(skill_name(skill.name), ())
    possible = [text for text in wordings if _needed(text) <= len(skill.objects)]
    if not possible:
        return ""
    words = {obj.name: obj.words or obj.name.replace("_", " ") for obj in instance.objects}
    return _chosen(possible, choice).format(*(words[name] for name in skill.objects))


def _needed(text: str) -> int:
    """Return how many objects a wording names."""
    return sum(f"{{{k}}}" in text for k in range(2))


def _chosen(texts: Sequence[str], choice: float) -> str:
    return texts[int(choice * len(texts))]
