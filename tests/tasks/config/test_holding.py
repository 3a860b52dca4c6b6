"""Short forms know which hand holds an object: handovers begin with it, and contradictions are refused."""

import re
from pathlib import Path

import pytest

from handloom.errors import ConfigError
from handloom.tasks import Task, load_task

START = """name: pass_it_on
robot: lift2
objects:
  - {name: stick, category: block, parameters: {length: 0.15, width: 0.03, height: 0.03}}
  - {name: cube, category: cube}
  - {name: tray, category: tray}
regions:
  - {object: stick, at: [-0.2, 0.0]}
  - {object: cube, at: [0.0, 0.0]}
  - {object: tray, at: [0.2, 0.0]}
skills:
"""
LINES = START.count("\n")


def loaded(folder: Path, *skills: str) -> Task:
    (folder / "task.yaml").write_text(START + "".join(f"  - {skill}\n" for skill in skills))
    return load_task(folder / "task.yaml")


def lanes(task: Task) -> list[tuple[str, str]]:
    blocks = task.config.skills[0]["lift2"]
    return [(arm, skill.name) for block in blocks for arm, lane in block.items() for skill in lane]


GIVEN_LEFT = [
    ("left", "pick"),
    ("left", "goto__pose"),
    ("right", "pick"),
    ("left", "gripper__action"),
    ("left", "heuristic__skill"),
]


@pytest.mark.parametrize(
    "skills",
    [
        ("{pick: stick, arm: left}", "{handover: stick}"),
        ("{pick: stick, arm: left}", "{handover: stick, from: left, to: right}"),
        ("{pick: stick, arm: left}", "{handover: stick, from: left}"),
        ("{pick: stick, arm: left}", "{handover: stick, to: right}"),
        ("{left: [{pick: stick}]}", "{handover: stick}"),
    ],
)
def test_a_hand_that_holds_an_object_hands_it_over_without_picking_it_again(tmp_path, skills):
    assert lanes(loaded(tmp_path, *skills)) == GIVEN_LEFT


def test_the_nearest_hand_hands_over_what_it_picked(tmp_path):
    arms = [arm for arm, _ in lanes(loaded(tmp_path, "{pick: stick}", "{handover: stick}"))]
    assert arms == ["nearest", "nearest", "other", "other", "other"], "the other one than in the last block"


def test_a_hand_still_holds_an_object_after_other_steps(tmp_path):
    told = lanes(loaded(tmp_path, "{pick: stick, arm: right}", "{home: left}", "{handover: stick}"))
    assert told[:4] == [("right", "pick"), ("left", "home"), ("right", "goto__pose"), ("left", "pick")]


def test_what_was_put_down_is_picked_again(tmp_path):
    told = lanes(
        loaded(tmp_path, "{pick: stick, arm: left}", "{place: stick, on: tray, arm: left}", "{handover: stick}")
    )
    assert [name for _, name in told[:4]] == ["pick", "place", "pick", "goto__pose"]


def test_the_giver_leaves_the_far_end_of_a_long_object_free(tmp_path):
    def given(*skills: str) -> tuple[str, float, float] | None:
        return loaded(tmp_path, *skills).config.skills[0]["lift2"][0]["left"][0].constraints

    assert given("{pick: stick, arm: left}", "{home: right}", "{handover: stick}") == ("x", 0.0, 0.25)
    assert given("{pick: stick, arm: left, constraints: [x, 0.1, 0.3]}", "{handover: stick}") == ("x", 0.1, 0.3)
    assert given("{pick: cube, arm: left}", "{handover: cube}") is None, "a short object has no far end"
    assert given("{pick: stick, arm: left}", "{place: stick, on: tray, arm: left}") is None


@pytest.mark.parametrize(
    ("skills", "expected"),
    [
        (
            ("{pick: stick, arm: left}", "{handover: stick, from: right, to: left}"),
            r"the left hand holds stick; write \{handover: stick, from: left, to: right\}, "
            r"or \{pick: stick, arm: right\} before",
        ),
        (("{pick: stick, arm: left}", "{handover: stick, to: left}"), r"from: left, to: right\}"),
        (("{pick: stick}", "{handover: stick, from: left}"), r"write \{pick: stick, arm: left\} there, or \{handover"),
        (("{pick: stick}", "{handover: stick, to: left}"), r"write \{pick: stick, arm: right\} there"),
        (
            ("{pick: stick, arm: left}", "{place: stick, on: tray, arm: right}"),
            r"the left hand holds stick; write arm: left, or \{handover: stick, from: left, to: right\} before",
        ),
    ],
)
def test_contradictions_are_refused_with_what_to_write(tmp_path, skills, expected):
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, *skills)
    assert re.search(rf"task\.yaml:{LINES + 2}: skills\.1: ", str(caught.value)), caught.value
    assert re.search(expected, str(caught.value)), caught.value


def test_the_receiving_hand_puts_it_down(tmp_path):
    skills = ("{pick: stick, arm: left}", "{handover: stick}")
    assert lanes(loaded(tmp_path, *skills, "{place: stick, on: tray, arm: right}"))[-1] == ("right", "place")
    with pytest.raises(ConfigError, match="the right hand holds stick; write arm: right"):
        loaded(tmp_path, *skills, "{place: stick, on: tray, arm: left}")
