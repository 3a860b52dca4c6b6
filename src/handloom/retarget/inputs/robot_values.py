"""Groups that are not devices: transforms, joints of a robot, pedals, a single signal, a pose command."""

from collections.abc import Sequence
from functools import cache

from handloom.retarget.graph.ndarray_type import NDArrayType
from handloom.retarget.graph.scalar_types import BoolType, FloatType
from handloom.retarget.graph.tensor_group_type import TensorGroupType
from handloom.retarget.inputs.slot_index import slot_index


@cache
def TransformMatrix() -> TensorGroupType:  # noqa: N802 - published name
    """Return the type of one homogeneous transform (4, 4), float32."""
    return TensorGroupType("transform_matrix", [NDArrayType("matrix", (4, 4))])


@cache
def EePose() -> TensorGroupType:  # noqa: N802 - reads like its neighbours
    """Return the type of an end-effector pose command (7,), float32: position [m], quaternion xyzw."""
    return TensorGroupType("ee_pose", [NDArrayType("pose", (7,))])


@cache
def Generic3AxisPedalInput() -> TensorGroupType:  # noqa: N802 - published name
    """Return the type of a rudder with two toe pedals, three floats."""
    return TensorGroupType(
        "generic_3axis_pedal",
        [FloatType("left_pedal"), FloatType("right_pedal"), FloatType("rudder")],
    )


Generic3AxisPedalInputIndex = slot_index("Generic3AxisPedalInputIndex", Generic3AxisPedalInput())


def RobotHandJoints(name: str, joint_names: Sequence[str]) -> TensorGroupType:  # noqa: N802 - published name
    """Return the type of joint positions, one float per joint [rad or m]."""
    return TensorGroupType(name, [FloatType(joint) for joint in joint_names])


def bool_signal(name: str = "value") -> TensorGroupType:
    """Return the type of one bool."""
    return TensorGroupType(name, [BoolType(name)])


def float_signal(group: str, slot: str) -> TensorGroupType:
    """Return the type of one float."""
    return TensorGroupType(group, [FloatType(slot)])
