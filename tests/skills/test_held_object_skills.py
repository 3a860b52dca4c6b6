"""Skills that turn and carry what the hand holds, each run in physics."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.skills.conftest import run_with, table_instance, thing

from handloom.skills.held_objects.rotate_held import upright_towards
from handloom.spatial import matrix_from_euler_deg, random_rotations, rotvec_from_matrix
from handloom.values import FunnelStage, TaskInstance

PICK: dict[str, Any] = {
    "name": "pick", "objects": ["block"], "filter_z_dir": ["downward", 150], "filter_x_dir": ["forward", 60],
    "gripper_change_steps": 15, "t_eps": 0.01, "o_eps": 0.1, "post_grasp_offset_min": 0.14,
    "post_grasp_offset_max": 0.14, "lift_th": 0.05,
}  # fmt: skip
TILT: dict[str, Any] = {
    "name": "rotate_obj", "objects": ["block"], "rotate_obj_euler_delta": [[25, 0, 0], [40, 0, 0]],
    "success_threshold_move": 0.02, "success_threshold_rotate": 0.12,
}  # fmt: skip
APPROACH: dict[str, Any] = {
    "name": "approach_rotate", "objects": ["block", "cup"], "success_threshold": 0.02, "distance": 0.15,
    "approach_axis": "+x",
}  # fmt: skip


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> TaskInstance:
    folder: Path = tmp_path_factory.mktemp("held")
    block = thing("block", "cube", (-0.15, 0.0), yaw=90, parameters={"edge": 0.045})
    return table_instance(folder, block, thing("cup", "cup", (0.22, 0.1)))


def tilt_of(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    return np.rad2deg(rotvec_from_matrix(before[:3, :3].T @ after[:3, :3]))


def states_at_the_ends(scene: Any, record: Any, name: str) -> list[np.ndarray]:
    poses = []
    for span in record.timeline:
        scene.world.restore_state(record.states[span.end])
        poses.append(scene.object_pose(name).copy())
    return poses


@pytest.mark.parametrize("first", [None, "move", "rotate"])
def test_a_held_object_tilts_about_its_own_axis_and_moves(instance: TaskInstance, first: str | None) -> None:
    keys = {"first_motion": first, "trans_offset": [0.05, 0.02, 0.03]}
    scene, record = run_with(instance, PICK, {**TILT, **keys})
    assert record.success, record.failure
    before, after = states_at_the_ends(scene, record, "block")
    tilt = tilt_of(before, after)
    assert 20 < tilt[0] < 45
    assert np.abs(tilt[1:]).max() < 6
    assert np.abs(after[:3, 3] - before[:3, 3] - [0.05, 0.02, 0.03]).max() < 0.02


@pytest.mark.parametrize("nested", [True, False])
def test_joints_move_at_the_end_wherever_the_list_stands(instance: TaskInstance, nested: bool) -> None:
    joints = {"ctrl_list": [[6, 20.0, "delta"]]}
    keys = {"dummy_forward": {"num_steps": 10, **joints}} if nested else joints
    scene, record = run_with(instance, PICK, {**TILT, **keys, "rotate_only": True})
    plain, _ = run_with(instance, PICK, {**TILT, "rotate_only": True})
    assert record.success, record.failure
    arms = [s.robot("franka").arm("left").joints for s in (scene, plain)]
    assert np.rad2deg(arms[0][6] - arms[1][6]) == pytest.approx(20.0, abs=2.0)


def test_a_point_on_the_object_stays_while_it_turns(instance: TaskInstance) -> None:
    scene, record = run_with(instance, PICK, {**TILT, "obj_axis_offset": [["z", 0.06]]})
    assert record.success, record.failure
    before, after = (T @ [0, 0, 0.06, 1] for T in states_at_the_ends(scene, record, "block"))
    assert np.linalg.norm(before - after) < 0.015


def test_a_tilt_out_of_reach_says_so(instance: TaskInstance) -> None:
    _, record = run_with(instance, PICK, {**TILT, "trans_offset": [0.0, 1.5, 0.0]})
    assert record.failure is not None
    assert record.failure.skill == "rotate_obj"
    assert record.failure.reason in ("goal_unreachable", "line_unreachable", "line_jumps")
    assert sum(v for k, v in record.failure.counts.items() if k != "given") == record.failure.counts["given"]


@pytest.mark.parametrize("axis", ["+x", "-y"])
def test_a_held_object_comes_to_stand_before_another(instance: TaskInstance, axis: str) -> None:
    scene, record = run_with(instance, PICK, {**APPROACH, "approach_axis": axis})
    assert record.success, record.failure
    away = scene.object_pose("cup")[:2, 3] - scene.object_pose("block")[:2, 3]
    wanted = {"+x": [0.15, 0.0], "-y": [0.0, -0.15]}[axis]
    assert np.abs(away - wanted).max() < 0.02


def test_a_yaw_offset_turns_the_side_it_comes_from(instance: TaskInstance) -> None:
    scene, record = run_with(instance, PICK, {**APPROACH, "obj_yaw_offset": 40.0, "z_offset": 0.05})
    assert record.success, record.failure
    away = scene.object_pose("cup")[:2, 3] - scene.object_pose("block")[:2, 3]
    assert np.abs(away - 0.15 * np.array([np.cos(np.deg2rad(40)), np.sin(np.deg2rad(40))])).max() < 0.02


def test_an_object_turned_towards_another_faces_it(instance: TaskInstance) -> None:
    turn = {"type": "towards", "success_threshold": 0.15}
    scene, record = run_with(instance, PICK, {**APPROACH, "rotate": turn})
    assert record.success, record.failure
    base = scene.robot("franka").arm("left").T_world_base[:3, 3]
    away = scene.object_pose("cup")[:2, 3] - base[:2]
    x = scene.object_pose("block")[:2, 0]
    assert x @ away / np.linalg.norm(away) > np.cos(0.15)


def test_an_object_is_turned_to_angles_in_the_given_range(instance: TaskInstance) -> None:
    turn = {"type": "random", "rotate_obj_euler": [[0, 0, 60], [0, 0, 120]], "success_threshold": 0.15}
    scene, record = run_with(instance, PICK, {**APPROACH, "rotate": turn})
    assert record.success, record.failure
    heading = np.rad2deg(np.arctan2(*scene.object_pose("block")[:2, 0][::-1]))
    assert 50 < heading < 130


def test_an_approach_out_of_reach_says_so(instance: TaskInstance) -> None:
    _, record = run_with(instance, PICK, {**APPROACH, "distance": 3.0})
    assert record.failure is not None
    assert (record.failure.stage, record.failure.reason) == (FunnelStage.REACH, "goal_unreachable")


def test_an_approach_whose_goal_differs_in_held_parts_is_no_contradiction(instance: TaskInstance) -> None:
    _, record = run_with(instance, PICK, {**APPROACH, "hold_vec_weight": [0, 0, 0, 1, 1, 0]})
    assert record.success, record.failure


def test_an_object_is_stood_upright_with_the_axis_that_was_nearest_to_up() -> None:
    for R in random_rotations(np.random.default_rng(0), 200):
        upright = upright_towards(R, 0.7)
        assert np.linalg.det(upright) == pytest.approx(1.0)
        assert np.allclose(upright.T @ upright, np.eye(3))
        axis = int(np.argmax(np.abs(R[2])))
        assert upright[2, axis] == pytest.approx(np.sign(R[2, axis]))
        assert np.isclose(upright[:2].T @ [np.cos(0.7), np.sin(0.7)], 1.0).any()


def test_an_object_with_y_up_is_turned_as_published() -> None:
    lying = matrix_from_euler_deg(np.array([90.0, 0.0, 10.0]))
    assert np.allclose(upright_towards(lying, np.deg2rad(35)), matrix_from_euler_deg(np.array([90.0, 0.0, 35.0])))
