"""Standard group types for controllers, hands, heads, pedals and robots."""

import warnings
from collections.abc import Sequence
from enum import IntEnum
from functools import cache
from typing import Any

from handloom.errors import suggest
from handloom.retarget.graph.groups import TensorGroupType
from handloom.retarget.graph.types import BoolType, DLDataType, FloatType, NDArrayType


def slot_index(enum_name: str, group_type: TensorGroupType, *, prefix: str = "") -> Any:
    """Return an ``IntEnum`` with one member per slot, named after it, without ``prefix``, in capitals."""
    names = [slot.name.removeprefix(prefix).upper() for slot in group_type.types]
    return IntEnum(enum_name, {name: index for index, name in enumerate(names)})


@cache
def ControllerInput() -> TensorGroupType:  # noqa: N802 - published name
    """Return the type of one controller, 14 slots.

    Poses are in the frame of the device's session (OpenXR: x right, y up, z backward) [m] with quaternions
    xyzw. The grip pose is the palm, the aim pose points along -z. Clicks are 0 or 1, the stick is in -1..1 (right and
    up are positive), squeeze and trigger are in 0..1.
    """
    return TensorGroupType(
        "controller",
        [
            NDArrayType("controller_grip_position", (3,)),
            NDArrayType("controller_grip_orientation", (4,)),
            BoolType("controller_grip_is_valid"),
            NDArrayType("controller_aim_position", (3,)),
            NDArrayType("controller_aim_orientation", (4,)),
            BoolType("controller_aim_is_valid"),
            FloatType("controller_primary_click"),
            FloatType("controller_secondary_click"),
            FloatType("controller_thumbstick_x"),
            FloatType("controller_thumbstick_y"),
            FloatType("controller_thumbstick_click"),
            FloatType("controller_menu_click"),
            FloatType("controller_squeeze_value"),
            FloatType("controller_trigger_value"),
        ],
    )


ControllerInputIndex = slot_index("ControllerInputIndex", ControllerInput(), prefix="controller_")


_FINGERS = ("INDEX", "MIDDLE", "RING", "LITTLE")
_BONES = ("METACARPAL", "PROXIMAL", "INTERMEDIATE", "DISTAL", "TIP")
HAND_JOINT_NAMES = (
    "PALM",
    "WRIST",
    *(f"THUMB_{bone}" for bone in _BONES if bone != "INTERMEDIATE"),
    *(f"{finger}_{bone}" for finger in _FINGERS for bone in _BONES),
)
"""Joints of a hand in the order of OpenXR."""

HandJointIndex: Any = IntEnum("HandJointIndex", {name: index for index, name in enumerate(HAND_JOINT_NAMES)})

NUM_HAND_JOINTS = len(HAND_JOINT_NAMES)
"""26."""


@cache
def HandInput() -> TensorGroupType:  # noqa: N802 - published name
    """Return the type of one hand: positions (26, 3) [m], orientations (26, 4) xyzw, radii (26,) [m], valid (26,)."""
    return TensorGroupType(
        "hand",
        [
            NDArrayType("hand_joint_positions", (NUM_HAND_JOINTS, 3)),
            NDArrayType("hand_joint_orientations", (NUM_HAND_JOINTS, 4)),
            NDArrayType("hand_joint_radii", (NUM_HAND_JOINTS,)),
            NDArrayType("hand_joint_valid", (NUM_HAND_JOINTS,), DLDataType.UINT, 8),
        ],
    )


HandInputIndex = slot_index("HandInputIndex", HandInput(), prefix="hand_")


@cache
def HeadInput() -> TensorGroupType:  # noqa: N802 - published name
    """Return the type of a head: position (3,) [m], orientation (4,) xyzw, is_valid, is_tracked."""
    return TensorGroupType(
        "head",
        [
            NDArrayType("head_position", (3,)),
            NDArrayType("head_orientation", (4,)),
            BoolType("head_is_valid"),
            BoolType("head_is_tracked"),
        ],
    )


HeadInputIndex = slot_index("HeadInputIndex", HeadInput(), prefix="head_")


BODY_JOINT_NAMES = (
    "PELVIS",
    "LEFT_HIP",
    "RIGHT_HIP",
    "SPINE1",
    "LEFT_KNEE",
    "RIGHT_KNEE",
    "SPINE2",
    "LEFT_ANKLE",
    "RIGHT_ANKLE",
    "SPINE3",
    "LEFT_FOOT",
    "RIGHT_FOOT",
    "NECK",
    "LEFT_COLLAR",
    "RIGHT_COLLAR",
    "HEAD",
    "LEFT_SHOULDER",
    "RIGHT_SHOULDER",
    "LEFT_ELBOW",
    "RIGHT_ELBOW",
    "LEFT_WRIST",
    "RIGHT_WRIST",
    "LEFT_HAND",
    "RIGHT_HAND",
)
"""Joints of a body in the order of the XR_BD_body_tracking extension."""

BodyJointIndex: Any = IntEnum("BodyJointIndex", {name: index for index, name in enumerate(BODY_JOINT_NAMES)})

NUM_BODY_JOINTS = len(BODY_JOINT_NAMES)
"""24."""


@cache
def FullBodyInput() -> TensorGroupType:  # noqa: N802 - published name
    """Return the type of a body: positions (24, 3) [m], orientations (24, 4) xyzw, valid (24,)."""
    return TensorGroupType(
        "body",
        [
            NDArrayType("body_joint_positions", (NUM_BODY_JOINTS, 3)),
            NDArrayType("body_joint_orientations", (NUM_BODY_JOINTS, 4)),
            NDArrayType("body_joint_valid", (NUM_BODY_JOINTS,), DLDataType.UINT, 8),
        ],
    )


FullBodyInputIndex = slot_index("FullBodyInputIndex", FullBodyInput(), prefix="body_")


@cache
def TransformMatrix() -> TensorGroupType:  # noqa: N802 - published name
    """Return the type of one homogeneous transform (4, 4), float32."""
    return TensorGroupType("transform", [NDArrayType("transform_matrix", (4, 4))])


@cache
def EePose() -> TensorGroupType:  # noqa: N802 - consistent with its neighbours
    """Return the type of an end-effector pose command (7,), float32: position [m], quaternion xyzw."""
    return TensorGroupType("ee_pose", [NDArrayType("pose", (7,))])


@cache
def Generic3AxisPedalInput() -> TensorGroupType:  # noqa: N802 - published name
    """Return the type of a rudder with two toe pedals, three floats."""
    return TensorGroupType(
        "generic_3axis_pedal",
        [FloatType("pedal_left_pedal"), FloatType("pedal_right_pedal"), FloatType("pedal_rudder")],
    )


Generic3AxisPedalInputIndex = slot_index("Generic3AxisPedalInputIndex", Generic3AxisPedalInput(), prefix="pedal_")


def RobotHandJoints(name: str, joint_names: Sequence[str]) -> TensorGroupType:  # noqa: N802 - published name
    """Return the type of joint positions, one float per joint [rad or m]."""
    return TensorGroupType(name, [FloatType(joint) for joint in joint_names])


def bool_signal(name: str = "value") -> TensorGroupType:
    """Return the type of one bool."""
    return TensorGroupType(name, [BoolType(name)])


def float_signal(group: str, slot: str) -> TensorGroupType:
    """Return the type of one float."""
    return TensorGroupType(group, [FloatType(slot)])


_OLD_NAMES = {"HeadPose": "HeadInput", "HeadPoseIndex": "HeadInputIndex"}


def __getattr__(name: str) -> Any:
    if name not in _OLD_NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; {suggest(name, globals())}")
    warnings.warn(f"{name} is now called {_OLD_NAMES[name]}", DeprecationWarning, stacklevel=2)
    return globals()[_OLD_NAMES[name]]
