"""Objects are put down, not dropped: how far they can be lowered, and where the hand lets go."""

from pathlib import Path

import numpy as np
import pytest
from tests.skills.conftest import RunSkills, table_instance, thing
from tests.skills.test_pick_and_place import PICK, PLACE

from handloom.episode.columns import recorded_qpos
from handloom.scene import build_scene
from handloom.scene.measures import world_box
from handloom.skills.placing.descent import GAP, REACH, deeper_places, drop_height
from handloom.skills.placing.place_in import hollow_from_above
from handloom.spatial import translation


@pytest.mark.parametrize("height", [0.004, 0.05, 0.2])
def test_a_cube_drops_as_far_as_it_was_raised(tmp_path: Path, height: float) -> None:
    scene = build_scene(table_instance(tmp_path, thing("cube", "cube", (0.1, 0.1))))
    raised = translation([0.0, 0.0, height]) @ scene.object_pose("cube")
    assert drop_height(scene, "cube", raised) == pytest.approx(height - GAP, abs=1.5e-3)


def test_an_object_is_stopped_by_what_stands_below_and_not_by_what_stands_beside(tmp_path: Path) -> None:
    low = thing("low", "cube", (0.1, 0.1), parameters={"edge": 0.05})
    high = thing("high", "cube", (0.2, 0.1), parameters={"edge": 0.06})
    scene = build_scene(table_instance(tmp_path, low, high, thing("cube", "cube", (-0.1, 0.1))))
    above = scene.object_pose("low").copy()
    above[2, 3] += 0.12
    table = float(scene.object_pose("low")[2, 3]) - 0.025
    edge = 2 * (scene.object_pose("cube")[2, 3] - table)
    expected = (above[2, 3] - edge / 2) - (table + 0.05)
    assert drop_height(scene, "cube", above) == pytest.approx(expected - GAP, abs=1.5e-3)


def test_nothing_below_means_as_far_as_it_looks(tmp_path: Path) -> None:
    scene = build_scene(table_instance(tmp_path, thing("cube", "cube", (0.1, 0.1))))
    assert drop_height(scene, "cube", translation([5.0, 5.0, 3.0])) == REACH


def test_a_place_over_the_rim_of_a_mug_moves_to_where_the_object_sinks(tmp_path: Path) -> None:
    things = (
        thing("mug", "mug", (0.1, 0.1), parameters={"radius": 0.036, "height": 0.1}),
        thing("egg", "egg", (-0.1, 0)),
    )
    scene = build_scene(table_instance(tmp_path, *things))
    over = scene.object_pose("egg").copy()
    box, hollow = world_box(scene, "mug")[:, :2], hollow_from_above(scene, "mug")
    over[:3, 3] = [hollow[1, 0] + 0.003, hollow.mean(axis=0)[1], world_box(scene, "mug")[1, 2] + 0.05]
    (shift,), (depth,) = deeper_places(scene, "egg", over[None], box, hollow)
    assert depth > drop_height(scene, "egg", over) + 0.04
    assert np.all((over[:2, 3] + shift > hollow[0]) & (over[:2, 3] + shift < hollow[1]))


def test_a_place_that_is_deep_already_stays(tmp_path: Path) -> None:
    things = thing("bin", "bin", (0.1, 0.1)), thing("egg", "egg", (-0.15, 0))
    scene = build_scene(table_instance(tmp_path, *things))
    over = scene.object_pose("egg").copy()
    over[:3, 3] = scene.object_pose("bin")[:3, 3] + [0.0, 0.0, 0.15]
    box, hollow = world_box(scene, "bin")[:, :2], hollow_from_above(scene, "bin")
    shifts, _ = deeper_places(scene, "egg", over[None], box, hollow)
    assert not shifts.any()


def test_the_hand_lets_go_when_the_object_stands(run_skills: RunSkills) -> None:
    scene, record = run_skills(PICK, {**PLACE, "until_contact": True})
    assert record.success, record.failure
    arm = scene.robots["franka"].arm("left")
    target = record.applied[:, arm.gripper_ctrl_index[0]]
    span = record.timeline[-1]
    opening = span.start + int(np.argmax(np.diff(target[span.start : span.end]) > 1e-4))
    joint = scene.world.model.body_jntadr[scene.world.body_index(scene.body_of("cube"))]
    z = recorded_qpos(scene, record)[:, scene.world.model.jnt_qposadr[joint] + 2]
    assert abs(z[opening] - z[-1]) < 0.004
