"""Held parts of a pose: what they allow, and that the way keeps them."""

from itertools import product

import numpy as np
import pytest

from handloom.scene import build_scene
from handloom.skills.arms.arm_controller import ArmController
from handloom.skills.arms.held_parts import HeldAxis, HeldParts
from handloom.spatial import (
    invert_pose,
    make_pose,
    matrix_from_rotvec,
    random_rotations,
    rotvec_from_matrix,
    translation,
)
from handloom.values import TaskInstance

TURNS = [weights for weights in product((0.0, 1.0), repeat=3) if any(weights)]


def parts_of(*weights: float) -> HeldParts:
    parts = HeldParts.given(weights)
    assert parts is not None
    return parts


@pytest.mark.parametrize("turns", TURNS)
def test_drawn_orientations_share_the_held_turns_with_the_start(turns: tuple[float, ...]) -> None:
    rng = np.random.default_rng(0)
    R = random_rotations(rng, 1)[0]
    for drawn in parts_of(*turns, 0, 0, 0).orientations(R, 50, rng):
        turn = rotvec_from_matrix(drawn.T @ R)
        assert np.abs(turn[np.array(turns) > 0]).max() < 1e-9


def test_nothing_held_is_no_hold() -> None:
    assert HeldParts.given(None) is None
    assert HeldParts.given((0, 0, 0, 0, 0, 0)) is None


def test_a_move_changes_what_is_held_as_far_as_start_and_goal_differ_in_it() -> None:
    start = make_pose(np.eye(3), [0.4, 0.0, 0.4])
    moved = start @ translation([0.1, 0.0, 0.0])
    assert parts_of(1, 1, 1, 0, 1, 1).change(start, moved).max() == pytest.approx(0.0, abs=1e-12)
    assert parts_of(0, 0, 0, 1, 0, 0).change(start, moved)[3] == pytest.approx(0.1)


@pytest.mark.parametrize("weights", [(0, 0, 1, 1, 0, 0), (1, 1, 1, 0, 0, 3)])
def test_a_goal_that_differs_in_a_held_part_is_come_nearer_to_evenly(
    plate_instance: TaskInstance, weights: tuple[int, ...]
) -> None:
    scene = build_scene(plate_instance)
    controller = ArmController(scene, scene.robot("franka").arm("left"))
    goal = controller.commanded_pose
    goal[:3, 3] += goal[:3, :3] @ np.array([0.06, 0.0, -0.06])
    result = controller.plan_held(controller.target, goal, parts_of(*weights))
    assert result.ok, result.reason
    left = np.array([np.abs(invert_pose(goal) @ controller.chain.T_base_tool(q))[[0, 2], 3] for q in result.path])
    assert (np.diff(left, axis=0) < 1e-3).all()
    assert left[-1].max() < 2e-3


@pytest.mark.parametrize("weights", [(1, 1, 0, 0, 0, 0), (1, 1, 1, 0, 0, 0), (0, 0, 1, 0, 0, 1)])
def test_a_plan_keeps_the_held_parts_all_the_way(plate_instance: TaskInstance, weights: tuple[int, ...]) -> None:
    scene = build_scene(plate_instance)
    controller = ArmController(scene, scene.robot("franka").arm("left"))
    parts = parts_of(*weights)
    start = controller.commanded_pose
    goal = start.copy()
    goal[:3, :3] = parts.orientations(start[:3, :3], 2, np.random.default_rng(3))[1]
    goal[:3, 3] = start[:3, 3] + goal[:3, :3] @ np.array([0.1, -0.08, 0.0])
    result = controller.plan_held(controller.target, goal, parts)
    assert result.ok, result.reason
    for q in result.path:
        now = invert_pose(goal) @ controller.chain.T_base_tool(q)
        change = np.abs(np.concatenate([rotvec_from_matrix(now[:3, :3]), now[:3, 3]]))
        assert np.all(change[np.array(weights) > 0] < 0.11)


def test_one_axis_of_the_hand_is_held_around_an_obstacle(plate_instance: TaskInstance) -> None:
    scene = build_scene(plate_instance)
    controller = ArmController(scene, scene.robot("franka").arm("left"))
    start = controller.commanded_pose
    goal = start.copy()
    goal[1, 3] += 0.3
    middle = controller.arm.T_world_base @ start @ translation([0.0, 0.0, 0.05])
    middle[:3, 3] += controller.arm.T_world_base[:3, 1] * 0.15
    controller.planner.world.add_box("post", [0.05, 0.05, 0.2], middle)
    for weights in ((1, 1, 0, 0, 0, 0), (1, 1, 1, 0, 0, 0)):
        result = controller.plan_held(controller.target, goal, parts_of(*weights))
        assert result.ok, result.reason
        cosines = [controller.chain.T_base_tool(q)[:3, 2] @ start[:3, 2] for q in result.path]
        assert min(cosines) > np.cos(0.11)


def test_the_direction_of_one_axis_can_be_kept_around_obstacles_where_two_or_three_turns_are_held() -> None:
    axes = {(0, 1, 1): (1.0, 0.0, 0.0), (1, 0, 1): (0.0, 1.0, 0.0), (1, 1, 0): (0.0, 0.0, 1.0)}
    axes[1, 1, 1] = (0.0, 1.0, 0.0)  # The one that is nearest to upright below.
    pose = make_pose(matrix_from_rotvec([1.4, 0.0, 0.0]), np.zeros(3))
    for turns in TURNS:
        hold = parts_of(*turns, 0, 0, 0).direction(pose)
        wanted = next((axis for held, axis in axes.items() if held == turns), None)
        assert (None if hold is None else hold.tool_axis) == wanted
    assert parts_of(1, 1, 0, 1, 0, 0).direction(pose) is None


@pytest.mark.parametrize("blocked", [False, True])
def test_any_axis_of_the_hand_keeps_its_direction_while_the_hand_turns_about_it(
    plate_instance: TaskInstance, blocked: bool
) -> None:
    scene = build_scene(plate_instance)
    controller = ArmController(scene, scene.robot("franka").arm("left"))
    start = controller.commanded_pose
    axis = np.array([0.1, 0.2, 1.0]) / np.linalg.norm([0.1, 0.2, 1.0])
    goal = start.copy()
    goal[:3, :3] = start[:3, :3] @ matrix_from_rotvec(0.6 * axis)
    goal[1, 3] += 0.3
    if blocked:
        middle = controller.arm.T_world_base @ start @ translation([0.0, 0.0, 0.05])
        middle[:3, 3] += controller.arm.T_world_base[:3, 1] * 0.15
        controller.planner.world.add_box("post", [0.05, 0.05, 0.2], middle)
    result = controller.plan_held(controller.target, goal, HeldAxis(tuple(axis.tolist())))
    assert result.ok, result.reason
    cosines = [controller.chain.T_base_tool(q)[:3, :3] @ axis @ start[:3, :3] @ axis for q in result.path]
    assert min(cosines) > np.cos(0.11)


def test_a_goal_that_tips_a_held_axis_is_refused(plate_instance: TaskInstance) -> None:
    scene = build_scene(plate_instance)
    controller = ArmController(scene, scene.robot("franka").arm("left"))
    goal = controller.commanded_pose
    goal[:3, :3] = goal[:3, :3] @ matrix_from_rotvec([0.4, 0.0, 0.0])
    assert not controller.plan_held(controller.target, goal, HeldAxis((0.0, 0.0, 1.0))).ok
