"""Objects are put down, not dropped: how far they can be lowered, and where the hand lets go."""

from pathlib import Path

import numpy as np
import pytest
from tests.skills.conftest import RunSkills, table_instance, thing
from tests.skills.test_pick_and_place import PICK, PLACE

from handloom.episode.columns import recorded_qpos
from handloom.scene import build_scene
from handloom.skills.placing.descent import GAP, REACH, drop_height
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
