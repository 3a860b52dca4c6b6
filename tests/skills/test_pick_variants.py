"""Picks at a given pose, and picks that miss on purpose."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.skills.conftest import run_with, table_instance, thing

from handloom.dataset import archive_of_record, outcome_of_record, record_of_archive
from handloom.dataset.episodes.archive import segments_of
from handloom.episode import replay
from handloom.episode.columns import robot_series
from handloom.scene import build_scene
from handloom.skills.arms.arm_controller import ArmController
from handloom.skills.configs.picks import ManualPickConfig, PickConfig
from handloom.skills.picking.pick import Pick
from handloom.skills.picking.pick_variants import ManualPick
from handloom.spatial import make_pose, random_rotations, rotvec_from_matrix
from handloom.tasks import load_task, sample_task
from handloom.values import FunnelStage, TaskInstance

MANUAL: dict[str, Any] = {
    "name": "manualpick", "objects": ["cube"], "filter_z_dir": ["downward", 150], "gripper_change_steps": 12,
    "t_eps": 0.01, "o_eps": 0.1, "post_grasp_offset_min": 0.08, "post_grasp_offset_max": 0.1, "lift_th": 0.04,
}  # fmt: skip


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> TaskInstance:
    folder: Path = tmp_path_factory.mktemp("manual")
    return table_instance(folder, thing("cube", "cube", (-0.1, 0.1), yaw=20, parameters={"edge": 0.04}))


def manual_pick(instance: TaskInstance, **keys: Any) -> ManualPick:
    scene = build_scene(instance)
    controller = ArmController(scene, scene.robot("franka").arm("left"))
    return ManualPick(scene, controller, ManualPickConfig(**{**MANUAL, **keys}), np.random.default_rng(0))


@pytest.mark.parametrize("hold", [None, [1, 1, 1, 0, 0, 0]])
def test_a_tuned_grasp_lifts_the_cube(instance: TaskInstance, hold: list[float] | None) -> None:
    keys = {"adjust_ori": ["x", "z", "min"], "adjust_rotate_axis": "y", "adjust_angle_list_cfg": [-10, 10, 5]}
    _, record = run_with(instance, {**MANUAL, **keys, "hold_vec_weight": hold})
    assert record.success, record.failure


def test_the_turn_kept_is_the_best_of_those_tried_and_leaves_the_fingertips_in_place(instance: TaskInstance) -> None:
    skill = manual_pick(instance, adjust_ori=("z", "x", "max"), adjust_rotate_axis="y")
    given = make_pose(random_rotations(np.random.default_rng(3), 50), np.zeros(3))
    turned = skill.adjusted(given)
    tip = skill.controller.arm.spec.T_tool_tcp[:, 3]
    assert np.allclose(turned @ tip, given @ tip)
    for before, after in zip(given, turned, strict=True):
        vector = np.rad2deg(rotvec_from_matrix(before[:3, :3].T @ after[:3, :3]))
        assert vector[[0, 2]] == pytest.approx([0, 0], abs=1e-6)
        angles = np.deg2rad(np.linspace(-15, 15, 7))
        assert after[0, 2] == pytest.approx((np.cos(angles) * before[0, 2] + np.sin(angles) * before[0, 0]).max())


def test_shifts_are_in_the_arm_base_and_turns_in_the_hand(instance: TaskInstance) -> None:
    skill = manual_pick(instance, manual_adjust_ori=(("z", 90.0),), adjust_trans_offset=(0.01, 0.02, 0.03))
    given = make_pose(random_rotations(np.random.default_rng(4), 5), np.zeros(3))
    turned = skill.adjusted(given)
    assert np.allclose(turned[:, :3, 3], [0.01, 0.02, 0.03])
    assert np.allclose(turned[:, :3, 0], given[:, :3, 1])


def test_a_shift_out_of_reach_says_so(instance: TaskInstance) -> None:
    _, record = run_with(instance, {**MANUAL, "adjust_trans_offset": [0.0, 0.0, 1.5]})
    assert record.failure is not None
    assert (record.failure.stage, record.failure.reason) == (FunnelStage.REACH, "goal_unreachable")
    assert record.failure.counts["given"] > 0


@pytest.fixture(scope="module")
def leaning() -> ArmController:
    """An arm whose base leans forward with the waist of its robot."""
    scene = build_scene(sample_task(load_task("genie1_pick_place"), 0, 0))
    return ArmController(scene, scene.robot("genie1").arm("left"))


@pytest.mark.parametrize(
    ("given", "lifted"),
    [({"approach": ["down", 30]}, [0.0, 0.0, 0.05]), ({"filter_z_dir": ["downward", 150]}, None)],
)
def test_a_pick_with_an_approach_lifts_straight_up_and_a_published_one_along_its_base(leaning, given, lifted):
    R_world_base = leaning.arm.T_world_base[:3, :3]
    assert R_world_base[2, 2] < 0.9
    config = PickConfig.model_validate({"name": "pick", "objects": ["cube"], **given})
    moves = Pick(leaning.scene, leaning, config, np.random.default_rng(0)).moves(0.05)
    along = R_world_base @ moves.lift_axis * moves.lift
    np.testing.assert_allclose(along, 0.05 * R_world_base[:, 2] if lifted is None else lifted, atol=1e-9)


def test_up_is_exactly_z_in_an_upright_base(instance: TaskInstance) -> None:
    assert build_scene(instance).robot("franka").arm("left").up.tolist() == [0.0, 0.0, 1.0]


MISS: dict[str, Any] = {
    "name": "fail_pick", "objects": ["cube"], "filter_z_dir": ["downward", 150], "t_eps": 0.01, "o_eps": 0.1,
}  # fmt: skip
OPEN = {"name": "gripper_action", "gripper_state": 1}
PICK = {**MISS, "name": "pick", "gripper_change_steps": 12, "lift_th": 0.03}


def test_a_miss_and_its_recovery_are_labelled_and_the_way_to_the_miss_is_left_out(instance: TaskInstance) -> None:
    scene, record = run_with(instance, MISS, OPEN, PICK)
    assert record.success, record.failure
    assert [(span.skill, span.kind) for span in record.timeline] == [
        ("fail_pick", "mistake"),
        ("gripper_action", "recovery"),
        ("pick", "recovery"),
    ]
    (start, stop), _ = record.left_out  # The second is the rest at the end.
    assert start == 0
    assert 0 < stop < record.timeline[0].end
    assert record.kept[0] == stop
    # The first frame of the demonstration is the one in which the open hand stands beside the cube and closes.
    arm = scene.robot("franka").arm("left")
    scene.world.restore_state(record.states[stop])
    hand, cube = scene.world.body_pose(arm.tool_body)[:2, 3], scene.object_pose("cube")[:2, 3]
    assert np.linalg.norm(hand - cube) > 0.05
    closes = record.applied[:, arm.gripper_ctrl_index[0]] < record.applied[0, arm.gripper_ctrl_index[0]]
    assert not closes[:stop].any()
    assert closes[stop]


def test_the_dataset_has_the_demonstration_and_the_archive_everything(instance: TaskInstance) -> None:
    _, record = run_with(instance, MISS, OPEN, PICK)
    back = record_of_archive(archive_of_record(record))
    assert back.left_out == record.left_out
    assert back.timeline == record.timeline
    assert replay(back).exact
    series = robot_series(build_scene(instance), record)["franka"].arms[0]
    assert len(series.joint_position) == len(record.kept)
    segments = segments_of(record)
    assert segments[0].start == 0
    assert segments[0].label == "fail_pick cube"
    assert segments[-1].stop <= len(record.kept)
    assert outcome_of_record(record, archive_of_record(record)).columns["recovery"] is True


def test_a_miss_that_cannot_be_reached_says_so(instance: TaskInstance) -> None:
    _, record = run_with(instance, {**MISS, "grasp_x_offset_min": 2.0, "grasp_x_offset_max": 2.1})
    assert record.failure is not None
    assert (record.failure.stage, record.failure.reason) == (FunnelStage.REACH, "goal_unreachable")
    assert record.failure.counts["unreachable"] == record.failure.counts["given"]


def test_a_miss_whose_filters_leave_nothing_says_so(instance: TaskInstance) -> None:
    _, record = run_with(instance, {**MISS, "filter_x_dir": ["upward", 5]})
    assert record.failure is not None
    assert (record.failure.stage, record.failure.reason) == (FunnelStage.GRASP, "filters_leave_nothing")
    assert record.failure.counts["candidates"] > 0


def test_what_is_tuned_for_a_missing_file_is_left_out_for_its_stand_in(instance: TaskInstance) -> None:
    (cube,) = [o for o in instance.objects if o.name == "cube"]
    standing = replace(cube, parameters={**cube.parameters, "up": "y"})
    others = tuple(standing if o is cube else o for o in instance.objects)
    tuned = {"adjust_trans_offset": [0.05, 0.0, 0.1], "manual_adjust_ori": [["x", -15]]}
    shift = {"pre_grasp_offset": 0.0, "pre_grasp_offset_manual": [-0.1, 0.0, 0.0]}
    skill = manual_pick(replace(instance, objects=others), **tuned, **shift)
    T = np.broadcast_to(np.eye(4), (3, 4, 4)).copy()
    np.testing.assert_array_equal(skill.adjusted(T), T)
    assert (skill.moves(0.1).pre_grasp_offset, skill.moves(0.1).pre_grasp_shift) == (0.1, (0.0, 0.0, 0.0))
