"""The SO-101 nodes give the published numbers."""

import math

import numpy as np
import pytest
from controller_samples import about, controller, product, running

from handloom.retarget import (
    ExecutionState,
    SO101GripperRetargeter,
    SO101PoseClutchRetargeter,
    SO101PositionClutchRetargeter,
    SO101RollRetargeter,
    TransformMatrix,
    bool_signal,
    group_of,
)

RIGHT = "controller_right"
X, Z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)


def matrix(T) -> object:
    return group_of(TransformMatrix(), np.asarray(T, np.float32))


def translation(*position: float) -> np.ndarray:
    T = np.eye(4)
    T[:3, 3] = position
    return T


# --- gripper


@pytest.mark.parametrize(
    ("trigger", "closedness"),
    [(0.0, 0.0), (0.05, 0.0), (0.1, 0.0526316), (0.5, 0.4736842), (0.525, 0.5), (1.0, 1.0), (-0.5, 0.0), (1.5, 1.0)],
)
def test_the_jaw_follows_the_published_curve(trigger, closedness) -> None:
    node = SO101GripperRetargeter("g")
    outputs = node({RIGHT: controller(trigger_value=trigger)}, running(state=ExecutionState.STOPPED))
    assert outputs["gripper_command"][0] == pytest.approx(closedness, abs=5e-8)


def test_the_jaw_holds_when_the_controller_is_gone_and_opens_on_reset() -> None:
    node = SO101GripperRetargeter("g")
    value = lambda inputs, **context: node(inputs, running(**context))["gripper_command"][0]  # noqa: E731
    assert value({RIGHT: controller(trigger_value=1.0, valid=False)}) == 1.0
    assert value({}) == 1.0
    assert value({RIGHT: controller(trigger_value=math.nan)}) == 1.0
    assert value({}, reset=True) == 0.0
    assert value({RIGHT: controller(trigger_value=0.525)}, reset=True) == pytest.approx(0.5)


# --- roll


@pytest.mark.parametrize(
    ("quat", "roll"),
    [
        (about(Z, math.radians(30)), 0.5235988),
        (about(Z, math.radians(170)), 2.9670597),
        (about(Z, math.radians(190)), -2.9670597),
        (about(X, math.radians(90)), 0.0),
        (about(X, math.radians(180)), 0.0),
        (product(about(Z, math.radians(40)), about(X, math.radians(60))), 0.6981317),
        (product(about(X, math.radians(60)), about(Z, math.radians(40))), 0.6981317),
        (product(about(Z, 0.8), about((1.0, 0.0, 0.4), 0.6)), 1.0287663),
    ],
)
def test_world_roll_is_the_published_twist(quat, roll) -> None:
    outputs = SO101RollRetargeter("r")({RIGHT: controller(quat=quat)})
    # Inputs are float32, so the angle is good to about 1e-7.
    assert outputs["roll_command"][0] == pytest.approx(roll, abs=2e-7)


def roll_of(node, angle=None, **context) -> float:
    inputs = {} if angle is None else {RIGHT: controller(quat=about(Z, angle))}
    return node(inputs, running(**context))["roll_command"][0]


def test_world_roll_jumps_at_half_a_turn_unless_unwrapped() -> None:
    plain, unwrapped = SO101RollRetargeter("r"), SO101RollRetargeter("u", unwrap=True)
    angles = np.radians(np.arange(0, 800, 20.0))
    for angle in angles:
        assert roll_of(unwrapped, angle) == pytest.approx(angle, abs=1e-5)
        assert -math.pi < roll_of(plain, angle) <= math.pi + 1e-9


def test_world_roll_holds_lost_frames_and_applies_sign_and_offset() -> None:
    node = SO101RollRetargeter("r", sign=-1.0, offset=0.25)
    assert roll_of(node, 0.5) == pytest.approx(-0.25, abs=1e-6)
    assert roll_of(node) == pytest.approx(-0.25, abs=1e-6)
    assert node({RIGHT: controller(quat=(0, 0, 0, 0))})["roll_command"][0] == pytest.approx(-0.25, abs=1e-6)


def test_local_roll_is_relative_to_the_engage_and_starts_at_half_a_turn() -> None:
    node = SO101RollRetargeter("r", axis="local_z")
    stopped = ExecutionState.STOPPED
    assert roll_of(node, 0.4, state=stopped) == pytest.approx(math.pi)
    assert roll_of(node, 0.4) == pytest.approx(math.pi)
    assert roll_of(node, 0.7) == pytest.approx(math.pi + 0.3, abs=1e-6)
    assert roll_of(node, 1.5, state=stopped) == pytest.approx(math.pi + 0.3, abs=1e-6)
    assert roll_of(node, 1.5) == pytest.approx(math.pi + 0.3, abs=1e-6)
    assert roll_of(node, 1.4) == pytest.approx(math.pi + 0.2, abs=1e-6)
    assert roll_of(node) == pytest.approx(math.pi + 0.2, abs=1e-6)
    assert roll_of(node, 3.0) == pytest.approx(math.pi + 0.2, abs=1e-6)
    assert roll_of(node, 3.0, reset=True) == pytest.approx(math.pi)


def test_local_roll_ignores_the_yaw_of_the_hand() -> None:
    node = SO101RollRetargeter("r", axis="local_z", start=0.0)
    tilt = about(X, math.pi / 2)
    frames = [product(about(Z, yaw), tilt) for yaw in (0.0, 0.5, 1.0)]
    # After a quarter turn about x the grip's own z axis lies level, so yawing the hand is no roll.
    rolls = [node({RIGHT: controller(quat=quat)}, running())["roll_command"][0] for quat in frames]
    np.testing.assert_allclose(rolls, 0.0, atol=1e-6)


# --- position clutch

BASE = np.array([[0.0, -1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, -0.03008], [0.0, 0.0, 0.0, 1.0]])


def position_of(node, position=None, **kwargs) -> np.ndarray:
    live = {key: matrix(kwargs.pop(key)) for key in ("robot_ee_pos", "robot_base_pos") if key in kwargs}
    inputs = live if position is None else {RIGHT: controller(position), **live}
    return node(inputs, running(**kwargs))["ee_pose"][0][:3]


def test_the_clutch_gives_the_published_vector_in_a_turned_base() -> None:
    node = SO101PositionClutchRetargeter("c")
    live = {"robot_ee_pos": translation(0.18852, 0.01918, 0.15879), "robot_base_pos": BASE}
    np.testing.assert_allclose(position_of(node, (0.4, 0.1, 0.9), **live), (0.01918, -0.18852, 0.18887), atol=1e-7)
    np.testing.assert_allclose(position_of(node, (0.45, 0.08, 1.0), **live), (-0.00082, -0.23852, 0.28887), atol=1e-7)
    assert node.is_engaged


def test_without_live_inputs_the_clutch_starts_at_the_fallback_and_resumes_from_its_last_command() -> None:
    node = SO101PositionClutchRetargeter("c")
    stopped = ExecutionState.STOPPED
    np.testing.assert_allclose(position_of(node, (1.0, 1.0, 1.0), state=stopped), (0.22, 0.0, 0.12), atol=1e-8)
    np.testing.assert_allclose(position_of(node, (1.0, 1.0, 1.0)), (0.22, 0.0, 0.12), atol=1e-8)
    np.testing.assert_allclose(position_of(node, (1.1, 1.0, 1.0)), (0.32, 0.0, 0.12), atol=1e-7)
    np.testing.assert_allclose(position_of(node, (5.0, 1.0, 1.0), state=stopped), (0.32, 0.0, 0.12), atol=1e-7)
    np.testing.assert_allclose(position_of(node, (5.0, 1.0, 1.0)), (0.32, 0.0, 0.12), atol=1e-7)
    np.testing.assert_allclose(position_of(node, (5.0, 1.1, 1.0)), (0.32, 0.1, 0.12), atol=1e-6)
    np.testing.assert_allclose(position_of(node, (5.0, 1.1, 1.0), reset=True), (0.22, 0.0, 0.12), atol=1e-8)


def test_an_unknown_state_never_engages() -> None:
    node = SO101PositionClutchRetargeter("c")
    for x in (0.0, 1.0):
        np.testing.assert_allclose(node({RIGHT: controller((x, 0, 0))})["ee_pose"][0][:3], (0.22, 0, 0.12), atol=1e-8)
    assert not node.is_engaged


def test_before_the_first_engage_the_clutch_holds_the_live_end_effector() -> None:
    node = SO101PositionClutchRetargeter("c")
    held = position_of(node, None, state=ExecutionState.STOPPED, robot_ee_pos=translation(0.3, 0.1, 0.2))
    np.testing.assert_allclose(held, (0.3, 0.1, 0.2), atol=1e-7)


def test_a_drop_out_resumes_from_the_last_command_wherever_the_hand_went() -> None:
    node = SO101PositionClutchRetargeter("c", position_scale=0.5)
    position_of(node, (0.0, 0.0, 0.0))
    before = position_of(node, (0.2, 0.0, 0.0))
    np.testing.assert_allclose(before, (0.32, 0.0, 0.12), atol=1e-7)
    np.testing.assert_array_equal(position_of(node), before)
    np.testing.assert_array_equal(position_of(node, (0.9, 0.0, 0.0)), before)
    np.testing.assert_allclose(position_of(node, (1.0, 0.0, 0.0)), (0.37, 0.0, 0.12), atol=1e-6)


def test_the_grip_orientation_passes_through() -> None:
    quat = about((1.0, 2.0, 3.0), 0.7)
    pose = SO101PositionClutchRetargeter("c")({RIGHT: controller(quat=quat)}, running())["ee_pose"][0]
    np.testing.assert_allclose(pose[3:], quat, atol=1e-7)


def test_a_broken_live_transform_is_a_typed_error_that_changes_nothing() -> None:
    node = SO101PositionClutchRetargeter("c")
    position_of(node, (0.0, 0.0, 0.0), state=ExecutionState.STOPPED)
    with pytest.raises(ValueError, match="robot_ee_pos of 'c' must be finite"):
        position_of(node, (0.0, 0.0, 0.0), robot_ee_pos=np.full((4, 4), np.nan))
    with pytest.raises(ValueError, match="orthonormal"):
        position_of(node, (0.0, 0.0, 0.0), robot_base_pos=np.diag([2.0, 1.0, 1.0, 1.0]))
    np.testing.assert_allclose(position_of(node, (0.0, 0.0, 0.0)), (0.22, 0.0, 0.12), atol=1e-8)


# --- pose clutch


def test_permission_gates_the_latch_only() -> None:
    node = SO101PoseClutchRetargeter("c", translation(0.1, 0.2, 0.3), position_scale=0.5)
    steps = [
        (0.0, False, (0.1, 0.2, 0.3), False),
        (0.2, False, (0.1, 0.2, 0.3), False),
        (0.2, True, (0.1, 0.2, 0.3), True),
        (0.4, True, (0.2, 0.2, 0.3), True),
        (0.6, False, (0.3, 0.2, 0.3), True),
    ]
    for x, permitted, expected, engaged in steps:
        inputs = {
            RIGHT: controller((x, 0.0, 0.0), squeeze_value=1.0),
            "engage_permitted": group_of(bool_signal("permitted"), permitted),
        }
        np.testing.assert_allclose(node(inputs, running())["ee_pose"][0][:3], expected, atol=1e-7)
        assert node.is_engaged is engaged


@pytest.mark.parametrize(
    ("home", "text"),
    [
        (np.eye(3), "4x4"),
        (np.full((4, 4), np.nan), "finite"),
        (np.ones((4, 4)), "bottom row"),
        (np.diag([2.0, 1.0, 1.0, 1.0]), "orthonormal"),
        (np.diag([-1.0, 1.0, 1.0, 1.0]), "proper rotation"),
    ],
)
def test_an_impossible_home_is_refused_with_the_published_words(home, text) -> None:
    with pytest.raises(ValueError, match=text):
        SO101PoseClutchRetargeter("c", home)


@pytest.mark.parametrize(
    ("kwargs", "text"),
    [
        ({"position_scale": 0.0}, "position_scale must be positive and finite"),
        ({"position_scale": math.inf}, "position_scale must be positive and finite"),
        ({"squeeze_threshold": 1.0}, "squeeze_threshold"),
        ({"squeeze_threshold": math.nan}, "squeeze_threshold"),
        ({"controller_pose": "palm"}, "no pose 'palm'"),
    ],
)
def test_impossible_settings_are_refused(kwargs, text) -> None:
    with pytest.raises(ValueError, match=text):
        SO101PoseClutchRetargeter("c", np.eye(4), **kwargs)


def squeeze(node, position, quat=(0, 0, 0, 1), value=1.0, **kwargs) -> np.ndarray:
    inputs = {RIGHT: controller(position, quat, squeeze_value=value)}
    if "measured" in kwargs:
        inputs["measured_base_T_ee"] = matrix(kwargs.pop("measured"))
    return node(inputs, running(**kwargs))["ee_pose"][0]


def test_the_squeeze_must_be_strictly_above_its_threshold() -> None:
    node = SO101PoseClutchRetargeter("c", translation(0.1, 0.2, 0.3))
    for value, engaged in ((0.5, False), (0.51, True), (0.5, False), (math.nan, False)):
        squeeze(node, (0, 0, 0), value=value)
        assert node.is_engaged is engaged
    squeeze(node, (0, 0, 0), state=ExecutionState.PAUSED)
    assert not node.is_engaged


def test_orientation_turns_about_the_axes_of_the_base_one_to_one() -> None:
    home = np.eye(4)
    home[:3, :3] = [[1, 0, 0], [0, 0, -1], [0, 1, 0]]
    node = SO101PoseClutchRetargeter("c", home, position_scale=0.25)
    start = about((0.3, 1.0, 0.2), 1.1)
    squeeze(node, (0, 0, 0), start)
    pose = squeeze(node, (0, 0, 0), product(about(Z, 0.4), start))
    np.testing.assert_allclose(pose[3:], product(about(Z, 0.4), about(X, math.pi / 2)), atol=1e-6)


def test_the_measured_position_is_read_on_the_latch_frame_only_and_never_the_rotation() -> None:
    node = SO101PoseClutchRetargeter("c", translation(0.1, 0.2, 0.3))
    measured = translation(0.5, 0.5, 0.5)
    measured[:3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    np.testing.assert_allclose(squeeze(node, (0, 0, 0), measured=measured), (0.5, 0.5, 0.5, 0, 0, 0, 1), atol=1e-7)
    moved = squeeze(node, (0.1, 0, 0), measured=translation(9, 9, 9))
    np.testing.assert_allclose(moved[:3], (0.6, 0.5, 0.5), atol=1e-7)


def test_fifty_re_clutch_cycles_return_exactly_to_the_seed() -> None:
    node = SO101PoseClutchRetargeter("c", translation(0.1, 0.2, 0.3))
    start = squeeze(node, (0, 0, 0), value=0.0)
    for _ in range(50):
        for x in (0.0, 0.25, 0.5, 0.25, 0.0):
            last = squeeze(node, (x, -x, x))
        squeeze(node, (3, 3, 3), value=0.0)
    np.testing.assert_array_equal(last, start)


def test_a_new_home_is_held_and_re_arms() -> None:
    node = SO101PoseClutchRetargeter("c", translation(0.1, 0.2, 0.3))
    squeeze(node, (0, 0, 0))
    node.set_home_base_T_ee(translation(0.4, 0.0, 0.1))
    assert not node.is_engaged
    np.testing.assert_allclose(squeeze(node, (0, 0, 0), value=0.0)[:3], (0.4, 0.0, 0.1), atol=1e-7)
    squeeze(node, (0, 0, 0))
    squeeze(node, (1, 0, 0))
    np.testing.assert_allclose(squeeze(node, (1, 0, 0), reset=True)[:3], (0.4, 0.0, 0.1), atol=1e-7)
