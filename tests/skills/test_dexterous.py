"""Grasps by annotated hand poses, and drops along the line of sight, in physics."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from tests.skills.conftest import run_with, table_instance, thing

from handloom.errors import ConfigError
from handloom.values import FunnelStage, TaskInstance

PART = """<mujoco><worldbody><body name="object">
  <geom type="box" size="0.02 0.02 0.03" density="400" rgba="0.2 0.4 0.8 1"/>
</body></worldbody></mujoco>"""
FROM_ABOVE = [0.0, 0.0, 0.105, 0.0, 1.0, 0.0, 0.0]
TOO_FAR = [0.0, 0.0, 3.0, 0.0, 1.0, 0.0, 0.0]
DEXPICK: dict[str, Any] = {
    "name": "dexpick", "objects": ["part"], "gripper_change_steps": 15, "t_eps": 0.01, "o_eps": 0.1, "lift_th": 0.05,
    "post_grasp_offset_min": 0.2, "post_grasp_offset_max": 0.22,
}  # fmt: skip
DEXPLACE: dict[str, Any] = {
    "name": "dexplace", "objects": ["part", "box"], "gripper_change_steps": 15, "t_eps": 0.01, "o_eps": 0.1,
}  # fmt: skip


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> TaskInstance:
    folder: Path = tmp_path_factory.mktemp("dex")
    asset = folder / "parts" / "bolt" / "b_000"
    asset.mkdir(parents=True)
    (asset / "model.xml").write_text(PART)
    (asset / "dexpick_pose.yaml").write_text(yaml.safe_dump({"pick_poses": [TOO_FAR, FROM_ABOVE]}))
    (asset / "place_range.yaml").write_text(yaml.safe_dump({"x_range": [0.45, 0.55], "y_range": [0.45, 0.55]}))
    part = thing("part", "bolt", (-0.1, 0.05), path=str(asset / "model.xml"))
    box = thing("box", "cardboard_tray", (0.2, 0.12))
    return table_instance(folder, part, box)


def test_a_part_is_taken_with_the_annotated_pose_and_dropped_into_the_box(instance: TaskInstance) -> None:
    tilt = [{"direction": [1, 0, 0]}, {"degree": [30, 60]}]
    scene, record = run_with(instance, {**DEXPICK, "pick_pose_idx": 1}, {**DEXPLACE, "camera_axis_filter": tilt})
    assert record.success, record.failure
    away = scene.object_pose("part")[:2, 3] - scene.object_pose("box")[:2, 3]
    assert np.abs(away).max() < 0.1


def test_the_hand_is_where_the_pose_says_when_it_closes(instance: TaskInstance) -> None:
    scene, record = run_with(instance, {**DEXPICK, "pick_pose_idx": 1, "post_grasp_offset_min": 0.0,
                                        "post_grasp_offset_max": 0.0, "lift_th": 0.0})  # fmt: skip
    assert record.success, record.failure
    T_object_tool = np.linalg.inv(scene.object_pose("part")) @ scene.world.body_pose("franka/fr3_hand")
    assert np.abs(T_object_tool[:3, 3] - FROM_ABOVE[:3]).max() < 0.004


def test_an_annotated_pose_out_of_reach_says_so(instance: TaskInstance) -> None:
    _, record = run_with(instance, DEXPICK)
    assert record.failure is not None
    assert (record.failure.stage, record.failure.reason) == (FunnelStage.REACH, "goal_unreachable")


def test_poses_in_the_task_take_the_place_of_the_file(instance: TaskInstance) -> None:
    _, record = run_with(instance, {**DEXPICK, "pick_poses": [FROM_ABOVE]})
    assert record.success, record.failure


def test_a_row_that_is_not_there_and_an_object_without_poses_are_refused(instance: TaskInstance) -> None:
    with pytest.raises(ConfigError, match="has only 2 poses"):
        run_with(instance, {**DEXPICK, "pick_pose_idx": 2})
    with pytest.raises(ConfigError, match=r"no dexpick_pose\.yaml"):
        run_with(instance, {**DEXPICK, "objects": ["box"]})


def test_a_drop_that_cannot_be_reached_says_so(instance: TaskInstance) -> None:
    behind = [{"direction": [0, 0, 1]}, {"degree": [170, 180]}]
    _, record = run_with(instance, {**DEXPICK, "pick_pose_idx": 1}, {**DEXPLACE, "camera_axis_filter": behind})
    assert record.failure is not None
    assert record.failure.skill == "dexplace"
    assert record.failure.stage in (FunnelStage.REACH, FunnelStage.PLAN)
    assert record.failure.counts["given"] == 32
