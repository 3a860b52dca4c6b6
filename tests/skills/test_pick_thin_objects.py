"""Thin things are picked up from the table, and things with a rim by it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.skills.conftest import FRANKA, run_with, table_instance, thing

from handloom.engine.attempt import Stopwatch, simulate
from handloom.episode.examine import examine
from handloom.errors import ConfigError
from handloom.grasping import GripperShape, annotate, write_grasps
from handloom.grasping.annotate_options import AnnotateOptions
from handloom.objects import import_object
from handloom.robots import load_robot
from handloom.tasks import load_task
from handloom.values import FunnelStage

PICK: dict[str, Any] = {
    "name": "pick", "objects": ["it"], "filter_z_dir": ["downward", 130], "gripper_change_steps": 20, "t_eps": 0.01,
    "o_eps": 0.1, "post_grasp_offset_min": 0.1, "post_grasp_offset_max": 0.1, "lift_th": 0.05,
}  # fmt: skip


@pytest.mark.parametrize("category", ["pen", "spoon", "bowl", "cup"])
def test_it_is_lifted_and_the_table_spared(category: str, tmp_path: Path) -> None:
    _, record = run_with(table_instance(tmp_path, thing("it", category, (0.0, 0.05), yaw=60)), PICK, seed=1)
    assert record.success, record.failure
    assert examine(record).into_surroundings.metres < 0.002


def test_a_plate_is_taken_by_its_rim_and_set_down_again(tmp_path: Path) -> None:
    robot = {**FRANKA, "robot_config_file": "franka_robotiq85"}
    plate = thing("it", "plate", (-0.15, 0.05), parameters={"radius": 0.09, "height": 0.022})
    mat = thing("mat", "place_mat", (0.18, 0.05), yaw=90)
    instance = table_instance(tmp_path, mat, plate, robot=robot)
    pick = {**PICK, "filter_z_dir": None, "pre_grasp_offset": 0.06, "constraints": ["z", 0.0, 0.5]}
    place = {
        "name": "place", "objects": ["it", "mat"], "position_constraint": "object", "align_pick_obj_axis": [0, 0, 1],
        "align_place_obj_axis": [0, 0, 1], "align_obj_tol": 2, "pre_place_z_offset": 0.08, "place_z_offset": 0.013,
        "gripper_change_steps": 18, "post_place_vector": [0, 0, -0.08], "t_eps": 0.01, "o_eps": 0.1,
        "success_mode": "resting",
    }  # fmt: skip
    _, record = run_with(instance, pick)
    assert record.failure is not None
    assert record.failure.stage is FunnelStage.GRASP, record.failure
    _, record = run_with(instance, {**pick, "rim": True}, {**place, "rim": True}, seed=1)
    assert record.success, record.failure
    assert examine(record).into_surroundings.metres < 0.002


BLOCK = """<mujoco><worldbody><body name="object">
  <geom type="box" size="0.02 0.02 0.03" density="400"/></body></worldbody></mujoco>"""


def test_grasps_come_from_the_file_beside_the_asset_scaled_as_the_task_says(tmp_path: Path) -> None:
    (tmp_path / "model.xml").write_text(BLOCK)
    asset = import_object(tmp_path / "model.xml").asset
    gripper = GripperShape.of(load_robot("fr3"))
    rows = annotate(asset, gripper, AnnotateOptions(count=60), np.random.default_rng(0)).rows.copy()
    rows[:, 13:16] *= 0.5  # as annotated on a model of half the size
    write_grasps(tmp_path / "half.npy", rows)
    block = thing("it", "block", (0.0, 0.05), path=str(tmp_path / "model.xml"))
    instance = table_instance(tmp_path, block)
    _, record = run_with(instance, {**PICK, "npy_name": "half.npy", "grasp_scale": 2.0})
    assert record.success, record.failure
    with pytest.raises(ConfigError, match=r"no grasp annotation .*other\.npy"):
        run_with(instance, {**PICK, "npy_name": "other.npy"})


def test_constraints_keep_grasps_of_one_end_of_the_object(tmp_path: Path) -> None:
    instance = table_instance(tmp_path, thing("it", "banana", (0.0, 0.05), yaw=90))
    ends = []
    for low, high in ((0.0, 0.3), (0.7, 1.0)):
        keys = {
            "constraints": ["x", low, high],
            "post_grasp_offset_max": 0.0,
            "post_grasp_offset_min": 0.0,
            "lift_th": 0,
        }
        scene, record = run_with(instance, {**PICK, **keys})
        assert record.success, record.failure
        hand = scene.world.body_pose("franka/fr3_hand")[:3, 3]
        ends.append(float((scene.object_pose("it")[:3, :3].T @ (hand - scene.object_pose("it")[:3, 3]))[0]))
    assert ends[1] - ends[0] > 0.03


def test_a_small_lever_keeps_grasps_between_whose_fingers_the_object_does_not_turn(tmp_path: Path) -> None:
    bar = thing("it", "block", (0.0, 0.05), yaw=70, parameters={"length": 0.16, "width": 0.03, "height": 0.03})
    instance = table_instance(tmp_path, bar)
    scene, record = run_with(instance, {**PICK, "largest_lever": 0.01})
    assert record.success, record.failure
    T_world_bar, T_world_hand = scene.object_pose("it"), scene.world.body_pose("franka/fr3_hand")
    fingertips = T_world_hand[:3, 3] + 0.1034 * T_world_hand[:3, 2]
    assert abs(T_world_bar[:3, 0] @ (fingertips - T_world_bar[:3, 3])) < 0.02
    _, record = run_with(instance, {**PICK, "largest_lever": 0.01, "constraints": ["x", 0.0, 0.2]})
    assert record.failure is not None
    assert (record.failure.stage, record.failure.reason) == (FunnelStage.GRASP, "levers_leave_nothing")


def test_an_object_wider_than_the_gripper_says_so(tmp_path: Path) -> None:
    (tmp_path / "model.xml").write_text(BLOCK.replace("0.02 0.02 0.03", "0.1 0.1 0.1"))
    wide = thing("it", "block", (0.0, 0.1), path=str(tmp_path / "model.xml"))
    _, record = run_with(table_instance(tmp_path, wide), PICK)
    assert record.failure is not None
    assert (record.failure.stage, record.failure.reason) == (FunnelStage.GRASP, "no_grasp")


def test_a_bowl_that_an_open_hand_fits_nowhere_is_taken_by_its_rim():
    _, record = simulate(load_task("stack_bowls", robot="ur5e_robotiq85"), 70121, 0, Stopwatch())
    assert record.success, record.failure


FAR_MARKER = """
base: setups/split_aloha.yaml
objects:
  - {name: marker, target_class: RigidObject, category: marker}
regions:
  - {object: marker, target: table,
     random_config: {pos_range: [[-0.466, -0.25, 0], [-0.466, -0.25, 0]], yaw_rotation: [117, 117]}}
skills: [{pick: marker}]
"""


def test_at_the_end_of_its_reach_a_hand_comes_from_nearer(tmp_path: Path) -> None:
    (file := tmp_path / "task.yaml").write_text(FAR_MARKER)
    _, record = simulate(load_task(file), 0, 0, Stopwatch())
    assert record.success, record.failure


WIDER = """
base: setups/fr3.yaml
objects:
  - {{name: it, target_class: RigidObject, {what}}}
  - {{name: board, target_class: RigidObject, category: cutting_board}}
regions:
  - {{object: it, target: table, random_config: {{pos_range: [[-0.15, 0.08, 0], [-0.15, 0.08, 0]]}}}}
  - {{object: board, target: table, random_config: {{pos_range: [[0.2, 0.08, 0], [0.2, 0.08, 0]]}}}}
skills: [{{pick: it}}, {{place: it, on: board}}]
"""


def wider_than_the_hand(tmp_path: Path, what: str):
    """Let an expert pick and place something that is wider than its hand opens."""
    (file := tmp_path / "task.yaml").write_text(WIDER.format(what=what))
    return simulate(load_task(file), 0, 0, Stopwatch())[1]


def test_a_ring_wider_than_the_hand_is_taken_with_one_finger_in_its_hole(tmp_path: Path) -> None:
    record = wider_than_the_hand(tmp_path, "category: donut, parameters: {radius: 0.044}")
    assert record.success, record.failure


def test_what_is_too_wide_for_the_hand_is_called_so(tmp_path: Path) -> None:
    failure = wider_than_the_hand(tmp_path, "category: book, parameters: {height: 0.03}").failure
    assert failure is not None
    assert failure.reason == "no_grasp"
    assert "m across as it lies and the gripper opens 0.080 m" in failure.detail
