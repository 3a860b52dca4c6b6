"""Boxes are picked up and put down by suction, up to what the cup can carry; the episode replays."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.skills.conftest import FRANKA, run_with, table_instance, thing

from handloom.episode import replay
from handloom.scene import Scene
from handloom.values import EpisodeRecord, FunnelStage

SUCTION = {**FRANKA, "robot_config_file": "fr3_suction"}
PICK: dict[str, Any] = {
    "name": "pick", "objects": ["box"], "filter_z_dir": ["downward", 160], "gripper_change_steps": 10, "t_eps": 0.01,
    "o_eps": 0.1, "pre_grasp_offset": 0.06, "post_grasp_offset_min": 0.12, "post_grasp_offset_max": 0.12,
    "lift_th": 0.1,
}  # fmt: skip
PLACE: dict[str, Any] = {
    "name": "place", "objects": ["box", "mat"], "position_constraint": "object", "place_z_offset": 0.044,
    "pre_place_z_offset": 0.14, "filter_z_dir": ["downward", 170], "align_pick_obj_axis": [0, 0, 1],
    "align_place_obj_axis": [0, 0, 1], "align_obj_tol": 1, "t_eps": 0.01, "o_eps": 0.1,
    "post_place_vector": [0, 0, -0.08], "gripper_change_steps": 10, "success_mode": "resting",
}  # fmt: skip


def carry(folder: Path, mass: float, at: tuple[float, float], yaw: float, *skills: dict[str, Any]) -> Any:
    """Run skills on a box of a mass [kg] at a place of the table."""
    size = {"length": 0.14, "width": 0.1, "height": 0.08}
    box = thing("box", "cardboard_box", at, yaw=yaw, mass=mass, parameters=size)
    mat = thing("mat", "place_mat", (0.28, 0.05), parameters={"length": 0.36, "width": 0.28})
    return run_with(table_instance(folder, box, mat, robot=SUCTION), *skills)


def is_held(scene: Scene) -> bool:
    suction = scene.robot("franka").arm("left").suction
    assert suction is not None
    return suction.gripped_objects == ("box/object",)


def lift_and_release(folder: Path, mass: float, at: tuple[float, float], yaw: float) -> EpisodeRecord:
    scene, record = carry(folder, mass, at, yaw, PICK, PLACE)
    assert record.success, record.failure
    assert not is_held(scene)
    return record


@pytest.mark.parametrize(("mass", "at", "yaw"), [(0.2, (-0.2, 0.0), 30.0), (2.0, (-0.12, 0.1), -50.0)])
def test_a_box_is_lifted_and_released(tmp_path: Path, mass: float, at: tuple[float, float], yaw: float) -> None:
    record = lift_and_release(tmp_path, mass, at, yaw)
    assert replay(record).exact


@pytest.mark.slow
@pytest.mark.parametrize("case", range(20))
def test_boxes_of_up_to_two_kilograms_are_lifted_and_released_at_twenty_poses(tmp_path: Path, case: int) -> None:
    rng = np.random.default_rng(case)
    at = (float(rng.uniform(-0.32, 0.02)), float(rng.uniform(-0.08, 0.16)))
    lift_and_release(tmp_path, 0.2 + 1.8 * case / 19.0, at, float(rng.uniform(-180.0, 180.0)))


@pytest.mark.parametrize(("mass", "held"), [(3.5, True), (7.0, False)])
def test_it_drops_what_pulls_harder_than_its_limit(tmp_path: Path, mass: float, held: bool) -> None:
    """The limit is 60 N: 3.5 kg weigh 34 N and pull half as much again when they are lifted, 7 kg weigh 69 N."""
    scene, record = carry(tmp_path, mass, (-0.15, 0.0), 0.0, PICK)
    assert is_held(scene) == held
    assert record.success == held
    if not held:
        assert record.failure is not None
        assert (record.failure.stage, record.failure.reason) == (FunnelStage.EXECUTE, "not_grasped")


def test_an_object_without_a_flat_patch_is_refused_with_a_reason(tmp_path: Path) -> None:
    instance = table_instance(tmp_path, thing("box", "orange", (-0.15, 0.0)), robot=SUCTION)
    _, record = run_with(instance, PICK)
    assert record.failure is not None
    assert (record.failure.stage, record.failure.reason) == (FunnelStage.GRASP, "no_grasp")
    assert "no flat patch for a cup of 0.020 m radius" in record.failure.detail


def test_an_object_that_only_leans_on_the_cup_is_not_grasped(tmp_path: Path) -> None:
    scene, record = carry(tmp_path, 0.3, (-0.15, 0.0), 0.0, {**PICK, "final_gripper_state": 1, "lift_th": 0.0})
    assert record.success, record.failure
    assert not is_held(scene)
