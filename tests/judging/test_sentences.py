"""The sentence of a task agrees with what it is judged by: a word of it asks for a term, which does not hold yet."""

import re
from collections.abc import Iterator

import pytest

from handloom.judging import holds
from handloom.scene import build_scene
from handloom.skills.deeds import make_judge, steps_of
from handloom.skills.placing.place_in import cavities_of
from handloom.tasks import library, load_task, sample_task, worded_skills
from handloom.values import Check

INSIDE = {"in_cavity", "inserted", "inside", "poured", "filled", "over_box"}
UPON = {"carried_by", "stacked", "touches", "over_box", "raised_above", "wipes"}
BESIDE = {"next_to", "left_of", "right_of"}
JOINT = {"joint_state", "joint_between"}
SIDE = r"(?:next to|beside|on the (?:left|right) side of) the"
PUT = r"\b(?:put|place|set|lay|stack|stand|move|carry|hang)s?\b[^.,;]*?"
WORDS = {
    r"^(?!push|slide).*\binto the [^{.,;]*\{(\w+)\}": INSIDE,
    rf"{PUT} on(?:to)? the (?!left|right)[^{{.,;]*\{{(\w+)\}}": UPON,
    rf"{PUT} {SIDE} \{{(\w+)\}}": BESIDE,
    r"^open the (?!gripper)[^{.,;]*\{(\w+)\}": JOINT,
    r"^(?:close|shut) the (?!gripper)[^{.,;]*\{(\w+)\}": JOINT,
}
"""How a sentence says something of an object > terms that ask for it."""
FEW = ("fr3_pick_place", "fr3_put_in_drawer", "fr3_open_drawer", "fr3_close_microwave", "so101_stack_cubes")


def said(sentence: str) -> Iterator[tuple[str, set[str]]]:
    """Yield the objects that a sentence says something of, and the terms that would ask for it."""
    for pattern, terms in WORDS.items():
        for match in re.finditer(pattern, sentence, re.IGNORECASE):
            yield match.group(1), terms


def about(term: Check, name: str) -> bool:
    """Return whether a term names an object."""
    return any(name == value or (isinstance(value, list) and name in value) for value in term.arguments.values())


def disagreements(name: str) -> list[str]:
    """Return what the sentences of a task say and its goal, with the steps to it, does not ask for."""
    task = load_task(name)
    sentences = [task.config.data.language_instruction or "", *task.config.data.paraphrases]
    scene = build_scene(instance := sample_task(task, 0, 0))
    stages = worded_skills(task, instance)
    judge = make_judge(scene, stages, None)
    terms = [*judge.goal, *(term for step in steps_of(scene, stages, None) for term in step.terms)]
    wrong = []
    for sentence in sentences:
        for obj, wanted in (found for found in said(sentence) if found[0] in scene.assets):
            # What lies on the floor of a tray or of an open bowl is in it, too.
            shallow = wanted is INSIDE and all(cavity.from_above for cavity in cavities_of(scene, obj))
            fitting = wanted | {"carried_by"} if shallow and not scene.assets[obj].articulated else wanted
            asked = [term for term in terms if term.name in fitting and about(term, obj)]
            if not asked:
                wrong.append(f"{sentence} {obj}: none of {sorted(fitting)} in {[term.name for term in terms]}")
    if not judge.goal:
        return wrong
    open_terms = [t for t in judge.goal if t.seconds or not holds(scene, t)]
    return wrong if open_terms else [*wrong, f"{name}: all of it holds before anything was done"]


@pytest.mark.parametrize("name", FEW)
def test_a_sentence_asks_for_what_the_judge_asks_for(name: str):
    assert disagreements(name) == []


@pytest.mark.slow
def test_every_sentence_of_the_library_asks_for_what_the_judge_asks_for():
    found = {name: wrong for name in sorted(library()) if (wrong := disagreements(name))}
    assert found == {}


def test_a_sentence_that_says_more_than_the_judge_asks_for_is_found(tmp_path):
    text = """
base: setups/fr3.yaml
objects:
  - {name: cabinet, target_class: ArticulatedObject, category: drawer_cabinet, fix_base: true}
  - {name: lemon, target_class: RigidObject, category: lemon}
regions:
  - {object: cabinet, target: table, random_config: {pos_range: [[0.1, 0.45, 0], [0.1, 0.45, 0]]}}
  - {object: lemon, target: table, random_config: {pos_range: [[-0.3, 0.0, 0], [-0.3, 0.0, 0]]}}
data: {language_instruction: "Put the {lemon} into the {cabinet}."}
skills: [{pick: lemon}, {place: lemon, on: cabinet}]
"""
    (file := tmp_path / "roof.yaml").write_text(text)
    assert len(disagreements(str(file))) == 1
    file.write_text(text.replace("into", "on"))
    assert disagreements(str(file)) == []
