"""Left of, right of, in front of and behind, with a gap; facing: judged, planned and carried out."""

from pathlib import Path

import numpy as np
import pytest
from tests.judging.conftest import TABLE, put

from handloom.engine.attempt import Stopwatch, simulate
from handloom.errors import ConfigError
from handloom.judging.checks import holds
from handloom.judging.goal_config import GoalTerm, goal_terms
from handloom.judging.relations import facing_terms, relation_terms
from handloom.scene.measures import world_box
from handloom.spatial import quat_from_rotvec
from handloom.tasks import load_task

SIDE = """
base: setups/fr3.yaml
cameras: []
objects: [{{name: mug, category: mug}}, {{name: box, category: cereal_box}}]
regions:
  - {{object: mug, target: table, random_config: {{pos_range: [[{x}, 0.0], [{x}, 0.05]]}}}}
  - {{object: box, target: table, random_config: {{pos_range: [[-0.02, 0.1], [0.02, 0.12]]}}}}
skills: [{{pick: mug}}, {{place: mug, {where}}}]
"""
OFF = {"left_of": (-1, 0), "right_of": (1, 0), "in_front_of": (0, -1), "behind": (0, 1)}


def stand(scene, way, gap: float, sideways: float = 0.0, rise: float = 0.0) -> None:
    """Stand the cube beside the box, along a way (2,), with a gap [m] and some way to the side [m]."""
    put(scene, "cube", (0.4, -0.2, TABLE + 0.1))
    a, b = world_box(scene, "cube"), world_box(scene, "box")
    half = 0.5 * ((a[1] - a[0]) + (b[1] - b[0]))[:2]
    across = np.array([-way[1], way[0]], float)
    spot = b.mean(axis=0)[:2] + np.array(way) * (half + gap) + across * sideways
    put(scene, "cube", (*spot, TABLE + 0.5 * (a[1] - a[0])[2] + rise))


@pytest.mark.parametrize("relation", OFF)
def test_a_thing_is_on_one_side_of_another_and_on_no_other(table, relation):
    scene = table(cube="category: cube", box="category: snack_box")
    terms = {name: relation_terms(scene, "cube", name, "box", gap=(0.03, 0.08))[0] for name in OFF}
    stand(scene, OFF[relation], 0.05)
    assert [name for name, term in terms.items() if holds(scene, term)] == [relation]


@pytest.mark.parametrize(
    ("gap", "sideways", "rise", "right"),
    [
        (0.031, 0.0, 0.0, True),
        (0.079, 0.0, 0.0, True),
        (0.02, 0.0, 0.0, False),
        (0.09, 0.0, 0.0, False),
        (0.05, 0.15, 0.0, False),
        (0.05, 0.0, 0.1, False),
        (-0.02, 0.0, 0.0, False),
    ],
)
def test_the_gap_the_line_and_the_level_count(table, gap, sideways, rise, right):
    scene = table(cube="category: cube", box="category: snack_box")
    term = relation_terms(scene, "cube", "left_of", "box", gap=(0.03, 0.08))[0]
    stand(scene, OFF["left_of"], gap, sideways, rise)
    assert holds(scene, term) is right


def test_facing_is_that_of_the_front(table):
    scene = table(cube="category: cube, axes: {front: [0, -1, 0]}")
    (term,) = facing_terms(scene, "cube", "toward")
    put(scene, "cube", (0.0, 0.1, TABLE + 0.03))
    assert holds(scene, term)
    (left,) = facing_terms(scene, "cube", "left")
    assert not holds(scene, left)
    put(scene, "cube", (0.0, 0.1, TABLE + 0.03), quat_from_rotvec(np.array([0.0, 0.0, -0.5 * np.pi])))
    assert holds(scene, left)
    put(scene, "cube", (0.0, 0.1, TABLE + 0.03), quat_from_rotvec(np.array([0.5 * np.pi, 0.0, 0.0])))
    assert not holds(scene, term), "its front points down"


def test_a_goal_says_the_same(table):
    scene = table(cube="category: cube", box="category: snack_box")
    entry = GoalTerm.model_validate({"object": "cube", "behind": "box", "gap": [0.03, 0.08], "facing": "away"})
    names = [term.name for term in goal_terms(scene, (entry,))]
    assert names[:3] == ["apart_along", "let_go", "headed"]
    assert "lasting_after" in names


@pytest.mark.parametrize(
    ("x", "where"),
    [
        (0.2, "left_of: box, gap: [0.03, 0.08]"),
        (-0.2, "in_front_of: box, facing: away"),
        (-0.2, "at: [0.2, -0.05], facing: left"),
    ],
)
def test_the_expert_puts_it_there(tmp_path: Path, x: float, where: str):
    (file := tmp_path / "task.yaml").write_text(SIDE.format(x=x, where=where))
    _, record = simulate(load_task(file), 5, 0, Stopwatch())
    assert record.success, record.failure


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("left_of: box, gap: [0.1, 0.03]", "from low to high"),
        ("on: box, gap: [0.03, 0.1]", "gap needs left_of"),
        ("on: box.lid", "box .cereal_box. has no point 'lid'"),
        ("on: box, facing: north", "facing"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_file_and_line(tmp_path: Path, where: str, message: str):
    (file := tmp_path / "task.yaml").write_text(SIDE.format(x=0.2, where=where))
    with pytest.raises(ConfigError, match=message) as raised:
        load_task(file)
    assert f"{file}:8" in str(raised.value)
