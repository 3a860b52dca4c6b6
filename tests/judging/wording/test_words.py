"""Every term is said in words: no internal names with equals signs, no long numbers, units and what is measured."""

import inspect
import re

import numpy as np
import pytest
from tests.judging.conftest import put

from handloom.judging.checks import CHECKS
from handloom.judging.wording.measured import MEASURED, unmet
from handloom.judging.wording.words import WORDS, in_words, said
from handloom.scene import Scene, build_scene
from handloom.skills.deeds import make_judge
from handloom.spatial import quat_from_rotvec
from handloom.tasks import library, load_task, sample_task
from handloom.values import Check

LONG = re.compile(r"\d\.\d{4,}")
TASK = """
base: setups/fr3.yaml
cameras: []
objects:
  - {name: mug, category: mug}
  - {name: bowl, category: bowl}
  - {name: chest, category: drawer_cabinet, fix_base: true, parameters: {drawers: 3}}
  - {name: panel, category: knob, fix_base: true, parameters: {knobs: 3}}
regions:
  - {object: mug, target: table, random_config: {pos_range: [[-0.2, 0.1, 0], [-0.2, 0.1, 0]]}}
  - {object: bowl, target: table, random_config: {pos_range: [[0.1, 0.0, 0], [0.1, 0.0, 0]]}}
  - {object: chest, target: table, random_config: {pos_range: [[-0.3, 0.45, 0], [-0.3, 0.45, 0]]}}
  - {object: panel, target: table, random_config: {pos_range: [[0.3, 0.4, 0], [0.3, 0.4, 0]]}}
skills: [{pick: mug}, {place: mug, on: bowl}]
"""
VALUES = {
    "object": "mug", "target": "bowl", "container": "mug", "scanner": "mug", "first": "mug", "second": "bowl",
    "lower": "bowl", "upper": "mug", "robot": "franka", "arm": "left", "base": "drawer_0", "joint": "drawer_2_joint",
    "point": "rim", "part": "drawer_2", "mode": "abs", "objects": ["mug"], "held": ["mug"], "side": "left",
    "joints": ["drawer_1_joint"],
}  # fmt: skip
"""Argument of a term > a value; all others are long numbers, or lists of them."""


def sample(name: str) -> Check:
    """Return a term with every argument that it takes."""
    given = {}
    for key, parameter in list(inspect.signature(CHECKS[name]).parameters.items())[1:]:
        kind = str(parameter.annotation)
        number = 1 if "int" in kind else 0.8201273675861936
        given[key] = VALUES.get(key, [number] * 3 if "Sequence" in kind else number)
    if name == "joints_at":
        given["joints"] = [0.8201273675861936] * 7
    return Check(name=name, arguments=given)


@pytest.fixture(scope="module")
def scene(tmp_path_factory) -> Scene:
    (file := tmp_path_factory.mktemp("words") / "task.yaml").write_text(TASK)
    return build_scene(sample_task(load_task(file), 0, 0))


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_a_term_is_said_in_words_without_long_numbers(scene, name):
    for text in (in_words(sample(name)), in_words(sample(name), scene)):
        assert "=" not in text
        assert name not in text or "_" not in name
        assert not LONG.search(text), text


def test_every_term_of_handloom_has_a_sentence():
    assert set(CHECKS) - set(WORDS) == {"joint_state", "joint_between"}
    assert set(MEASURED) <= set(CHECKS)


def test_a_term_of_a_users_own_is_said_by_its_name_and_figures():
    text = said(Check(name="glows", arguments={"object": "lamp", "level": 0.8201273675861936, "part": None}))
    assert text == "glows with object lamp, level 0.82"


def test_what_does_not_hold_is_said_with_what_is_measured(scene):
    def about(name: str, **arguments: object) -> str:
        return unmet(scene, Check(name=name, arguments=arguments))

    put(scene, "mug", (-0.2, 0.1, 0.8), quat_from_rotvec(np.array([np.deg2rad(26.0), 0.0, 0.0])))
    leans = about("points_up", object="mug", axis=[0.0, 0.0, 1.0], angle=0.4363323129985824)
    assert leans == "mug is upright to within 25 degrees (it leans 26 degrees)"
    lifted = about("lifted", object="mug", from_z=float(scene.object_pose("mug")[2, 3]), by=0.05)
    assert lifted == "mug is 5 cm above its initial place (it is 0.0 cm above it)"
    knob = {"object": "panel", "joint": "knob_1_joint", "start": 0.0, "mode": "abs"}
    assert about("joint_state", **knob, threshold=0.890117918517108, most=1.308996938995747) == (
        "panel: knob_1_joint has moved by 51 degrees and at most 75 degrees (it moved by 0 degrees)"
    )
    drawer = {"object": "chest", "joint": "drawer_2_joint", "start": 0.0, "mode": "abs", "threshold": 0.0812345}
    assert about("joint_state", **drawer) == "chest: drawer_2_joint has moved by 81 mm (it moved by 0 mm)"
    kept = {"object": "panel", "joints": ["knob_0_joint", "knob_2_joint"], "start": [-0.5, 0.0], "within": [0.26, 0.26]}
    assert about("other_joints_kept", **kept) == (
        "no other part of panel has moved: knob_0, knob_2 (knob_0 moved by 29 degrees, 15 degrees allowed)"
    )


@pytest.mark.parametrize("name", sorted(MEASURED.keys() - {"poured", "in_cavity", "inserted", "grasped"}))
def test_every_measure_is_said_without_long_numbers(scene, name):
    term = sample(name)
    quat = {"quat": [1.0, 0.0, 0.0, 0.0]} if "quat" in term.arguments else {}
    chest = {"object": "chest"} if "joint" in name and name != "joints_at" else {}
    lists = {"start": [0.8201273675861936], "within": [0.1]} if name == "other_joints_kept" else {}
    flat = {"low": [0.8] * 2, "high": [0.9] * 2} if name == "placed_at" else {}
    part = {"part": None} if "part" in term.arguments else {}
    before = {"before": {term.arguments["target"]: np.eye(4)}} if "before" in term.arguments else {}
    given = {**term.arguments, **quat, **chest, **lists, **flat, **part, **before}
    text = unmet(scene, Check(name=name, arguments=given))
    assert text.endswith(")")
    assert "=" not in text
    assert not LONG.search(text), text


@pytest.mark.slow
def test_the_goals_of_the_library_are_said_without_long_numbers():
    for name in sorted(library()):
        task = load_task(name)
        built = build_scene(sample_task(task, 0, 0))
        for term in make_judge(built, task.config.skills, None).goal:
            assert not LONG.search(text := unmet(built, term)), text
            assert "=" not in text


def test_a_hand_that_holds_something_else_says_what(scene):
    term = Check(name="grasped", arguments={"robot": "franka", "arm": "left", "object": "mug"})
    assert unmet(scene, term) == "franka/left holds mug"
    hand = scene.robot("franka").arm("left")
    finger = scene.world.body_pose(hand.finger_bodies[0])
    put(scene, "bowl", finger[:3, 3], quat_from_rotvec(np.zeros(3)))
    assert "bowl" in unmet(scene, term)
    put(scene, "bowl", (0.1, 0.0, 0.75), quat_from_rotvec(np.zeros(3)))
