"""One tracked hand: 26 joints in OpenXR order."""

from enum import IntEnum
from functools import cache
from typing import Any

from handloom.retarget.graph.ndarray_type import DLDataType, NDArrayType
from handloom.retarget.graph.tensor_group_type import TensorGroupType
from handloom.retarget.inputs.slot_index import slot_index

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
        "hand_input",
        [
            NDArrayType("hand_joint_positions", (NUM_HAND_JOINTS, 3)),
            NDArrayType("hand_joint_orientations", (NUM_HAND_JOINTS, 4)),
            NDArrayType("hand_joint_radii", (NUM_HAND_JOINTS,)),
            NDArrayType("hand_joint_valid", (NUM_HAND_JOINTS,), DLDataType.UINT, 8),
        ],
    )


HandInputIndex = slot_index("HandInputIndex", HandInput(), prefix="hand_")
