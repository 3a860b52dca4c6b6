"""Gripper, locomotion and pedals give the published numbers."""

import math

import numpy as np
import pytest
from controller_samples import controller, running

from handloom.errors import InputError
from handloom.retarget import (
    FootPedalRootCmdRetargeter,
    FootPedalRootCmdRetargeterConfig,
    Generic3AxisPedalInput,
    GripperRetargeter,
    GripperRetargeterConfig,
    HandInput,
    HandJointIndex,
    HandSnapshot,
    LocomotionFixedRootCmdRetargeter,
    LocomotionFixedRootCmdRetargeterConfig,
    LocomotionRootCmdRetargeter,
    LocomotionRootCmdRetargeterConfig,
    TriHandBiManualMotionControllerRetargeter,
    TriHandMotionControllerConfig,
    TriHandMotionControllerRetargeter,
    group_of,
)

RIGHT = "controller_right"


def pinch(distance: float, valid: int = 1):
    positions, ok = np.zeros((26, 3)), np.ones(26)
    positions[HandJointIndex.INDEX_TIP, 0], ok[HandJointIndex.THUMB_TIP] = distance, valid
    sample = HandSnapshot(
        joint_positions=positions, joint_orientations=np.zeros((26, 4)), joint_radii=np.zeros(26), joint_valid=ok
    )
    return {"hand_right": group_of(HandInput(), *sample.slots())}


def command(node, inputs, **context) -> float:
    return node(inputs, running(**context))["gripper_command"][0]


@pytest.mark.parametrize(("trigger", "expected"), [(0.0, 1.0), (0.5, 1.0), (0.51, -1.0), (1.0, -1.0)])
def test_the_trigger_closes_above_its_threshold(trigger, expected) -> None:
    node = GripperRetargeter(GripperRetargeterConfig(), "g")
    assert command(node, {RIGHT: controller(trigger_value=trigger)}) == expected


def test_a_pinch_has_hysteresis_and_the_controller_wins() -> None:
    node = GripperRetargeter(GripperRetargeterConfig(), "g")
    pairs = [(0.1, 1), (0.04, 1), (0.029, -1), (0.04, -1), (0.051, 1), (0.029, -1), (math.nan, -1)]
    assert [command(node, pinch(distance)) for distance, _ in pairs] == [expected for _, expected in pairs]
    assert command(node, pinch(0.1, valid=0)) == -1
    assert command(node, {**pinch(0.01), RIGHT: controller(trigger_value=0.0)}) == 1.0
    assert command(node, {RIGHT: controller(trigger_value=1.0)}) == -1.0
    assert command(node, {}) == 1.0


def test_a_reset_opens_the_gripper() -> None:
    node = GripperRetargeter(GripperRetargeterConfig(), "g")
    command(node, pinch(0.01))
    assert command(node, pinch(0.04), reset=True) == 1.0


def test_gripper_settings_are_checked() -> None:
    with pytest.raises(ValueError, match="hand_side"):
        GripperRetargeterConfig(hand_side="both")
    with pytest.raises(ValueError, match="gripper_close_meters"):
        GripperRetargeterConfig(gripper_close_meters=0.1)


def test_sticks_walk_and_lift_the_hip() -> None:
    node = LocomotionRootCmdRetargeter(LocomotionRootCmdRetargeterConfig(), "l")
    inputs = {
        "controller_left": controller(thumbstick_x=0.4, thumbstick_y=0.8),
        RIGHT: controller(thumbstick_x=-0.5, thumbstick_y=1.0),
    }
    np.testing.assert_allclose(node(inputs)["root_command"][0], (0.4, -0.2, 0.5, 0.7258334), atol=5e-8)
    for _ in range(100):
        hip = node(inputs)["root_command"][0][3]
    assert hip == 1.0
    np.testing.assert_allclose(node({}, running(reset=True))["root_command"][0], (0, 0, 0, 0.72), atol=1e-7)
    inputs[RIGHT] = controller(thumbstick_y=math.nan)
    assert node(inputs)["root_command"][0][3] == pytest.approx(0.72)


def test_the_fixed_command_stands_still() -> None:
    node = LocomotionFixedRootCmdRetargeter(LocomotionFixedRootCmdRetargeterConfig(), "l")
    np.testing.assert_allclose(node({})["root_command"][0], (0, 0, 0, 0.72), atol=1e-7)


@pytest.mark.parametrize(
    ("mode", "pedals", "expected"),
    [
        ("horizontal", (0.0, 0.8, 0.0), (0.8, 0, 0, 0.72)),
        ("horizontal", (0.6, 0.0, 0.0), (-0.6, 0, 0, 0.72)),
        ("horizontal", (0.04, 0.0, 0.03), (0, 0, 0, 0.72)),
        ("horizontal", (0.0, 0.5, 0.4), (0, 0.2, 0, 0.72)),
        ("horizontal", (0.0, 0.0, 0.4), (0, 0, 0.4, 0.72)),
        ("horizontal", (math.nan, 0.0, 0.0), (0, 0, 0, 0.72)),
        ("vertical", (1.0, 0.0, 0.0), (0, 0, 0, 0.4)),
        ("horizontal", (0.08, 0.0, 0.5), (-0.08, 0, 0.5, 0.72)),
        ("horizontal", (1.1, 0.0, 1.1), (0, 1, 0, 0.72)),
        ("horizontal", (0.0, 0.0, -1.1), (0, 0, -1, 0.72)),
        ("vertical", (0.5, 0.3, 0.0), (0, 0, 0, 0.56)),
        ("vertical", (0.5, 0.0, 0.5), (0, 0.25, 0, 0.56)),
        ("vertical", (0.0, 0.5, -0.5), (0, -0.25, 0, 0.72)),
        ("vertical", (0.5, 0.0, 0.15), (0, 0, 0, 0.56)),
        ("vertical", (0.0, 0.0, 0.5), (0, 0, 0.5, 0.72)),
    ],
)
def test_pedals_walk_strafe_turn_and_squat(mode, pedals, expected) -> None:
    node = FootPedalRootCmdRetargeter(FootPedalRootCmdRetargeterConfig(mode=mode), "p")
    outputs = node({"pedals": group_of(Generic3AxisPedalInput(), *pedals)})
    np.testing.assert_allclose(outputs["root_command"][0], expected, atol=1e-6)


def test_pedals_keep_their_velocity_limits_and_squat_range() -> None:
    config = FootPedalRootCmdRetargeterConfig(2.0, 3.0, 0.5, 0.9, mode="vertical")
    node = FootPedalRootCmdRetargeter(config, "p")

    def command(*pedals):
        return node({"pedals": group_of(Generic3AxisPedalInput(), *pedals)})["root_command"][0]

    np.testing.assert_allclose(command(1.0, 0.0, 0.5), (0, 1.0, 0, 0.5), atol=1e-6)
    np.testing.assert_allclose(command(0.0, 0.0, -0.5), (0, 0, -1.5, 0.9), atol=1e-6)
    config.mode = "horizontal"
    np.testing.assert_allclose(command(0.0, 0.5, 0.0), (1.0, 0, 0, 0.9), atol=1e-6)


@pytest.mark.parametrize(
    ("side", "trigger", "squeeze", "expected"),
    [
        ("left", 1.0, 0.0, (-0.5, 0.4, 0.7, -1, -1, 0, 0)),
        ("left", 0.0, 1.0, (0.5, 0.4, 0.7, 0, 0, -1, -1)),
        ("right", 0.5, 0.2, (-0.15, -0.2, -0.35, 0.5, 0.5, 0.2, 0.2)),
    ],
)
def test_trigger_and_squeeze_bend_a_three_finger_hand(side, trigger, squeeze, expected) -> None:
    config = TriHandMotionControllerConfig(list("abcdefg"), side)
    node = TriHandMotionControllerRetargeter(config, "hand")
    joints = node({f"controller_{side}": controller(trigger_value=trigger, squeeze_value=squeeze)})["hand_joints"]
    assert [joints[i] for i in range(7)] == pytest.approx(expected)
    assert [node({})["hand_joints"][i] for i in range(7)] == [0.0] * 7


def test_two_hands_come_in_the_order_asked_for() -> None:
    left = TriHandMotionControllerConfig(list("abcdefg"), "left")
    right = TriHandMotionControllerConfig(list("hijklmn"), "right")
    node = TriHandBiManualMotionControllerRetargeter(left, right, ["k", "d"], "hands")
    inputs = {"controller_left": controller(trigger_value=0.5), RIGHT: controller(trigger_value=1.0)}
    assert [node(inputs)["hand_joints"][i] for i in range(2)] == [1.0, -0.5]
    with pytest.raises(InputError, match="no hand has a joint 'z'"):
        TriHandBiManualMotionControllerRetargeter(left, right, ["z"], "hands")
    with pytest.raises(InputError, match="'left' or 'right', got: up"):
        TriHandMotionControllerRetargeter(TriHandMotionControllerConfig(list("abcdefg"), "up"), "hand")
