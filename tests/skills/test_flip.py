"""Turning an object over in physics."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.skills.conftest import run_with, table_instance, thing

from handloom.errors import ConfigError
from handloom.robots import load_robot
from handloom.skills.held_objects.flip_and_scan import hand_facing, right_ahead_up
from handloom.values import FunnelStage, TaskInstance

PICK: dict[str, Any] = {
    "name": "pick", "objects": ["carton"], "filter_z_dir": ["downward", 150], "filter_x_dir": ["forward", 40],
    "gripper_change_steps": 15, "t_eps": 0.01, "o_eps": 0.1, "post_grasp_offset_min": 0.05,
    "post_grasp_offset_max": 0.05, "lift_th": 0.02,
}  # fmt: skip
FLIP: dict[str, Any] = {
    "name": "flip", "objects": ["carton"], "gripper_axis": [1, 0, 0], "lower": 0.15, "t_eps": 0.01, "o_eps": 0.1,
}  # fmt: skip


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> TaskInstance:
    folder: Path = tmp_path_factory.mktemp("flip")
    return table_instance(folder, thing("carton", "milk_carton", (-0.1, 0.0), yaw=-90))


@pytest.mark.parametrize("key", ["gripper_axis", "ee_axis"])
def test_another_side_of_the_carton_is_up_after_a_flip(instance: TaskInstance, key: str) -> None:
    flip = {**FLIP, "gripper_axis": None, key: [1, 0, 0]}
    scene, record = run_with(instance, PICK, flip)
    assert record.success, record.failure
    assert scene.object_pose("carton")[2, 1] > 0.9
    assert scene.object_pose("carton")[2, 2] < 0.3


def test_the_wrong_side_up_is_no_success(instance: TaskInstance) -> None:
    _, record = run_with(instance, PICK, {**FLIP, "up_axis": [0, -1, 0]})
    assert record.failure is not None
    assert (record.failure.stage, record.failure.reason) == (FunnelStage.EXECUTE, "not_points_up")


def test_a_hand_that_would_point_up_finds_no_way(instance: TaskInstance) -> None:
    _, record = run_with(instance, PICK, {**FLIP, "gripper_axis": [0, 0, 1]})
    assert record.failure is not None
    assert record.failure.stage in (FunnelStage.PLAN, FunnelStage.REACH)
    assert record.failure.skill == "flip"


def test_a_flip_without_its_axis_is_refused(instance: TaskInstance) -> None:
    with pytest.raises(ConfigError, match="gripper_axis"):
        run_with(instance, PICK, {**FLIP, "gripper_axis": None})


@pytest.mark.parametrize("robot", ["fr3", "lift2", "split_aloha", "genie1", "so101"])
def test_every_hand_approaches_along_its_x_of_the_published_axes(robot: str) -> None:
    arm = load_robot(robot).arms[0]
    R = hand_facing(arm, (0.0, 1.0, -1.0), (0.0, 1.0, 1.0))
    assert np.allclose(R @ arm.approach, np.array([1.0, 0.0, -1.0]) / np.sqrt(2))
    assert np.allclose(R.T @ R, np.eye(3))
    assert np.linalg.det(R) == pytest.approx(1.0)


def test_the_published_hand_has_the_axes_it_is_given() -> None:
    arm = load_robot("lift2").arms[0]
    R = hand_facing(arm, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    assert np.allclose(R[:, 0], right_ahead_up([1.0, 0.0, 0.0]))
    assert np.allclose(R[:, 2], right_ahead_up([0.0, 1.0, 0.0]))


def test_axes_that_no_hand_can_have_are_refused() -> None:
    with pytest.raises(ConfigError, match="cannot have"):
        hand_facing(load_robot("fr3").arms[0], (0.0, 1.0, 0.0), (0.0, 2.0, 0.0))
