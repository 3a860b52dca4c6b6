"""Published samples of devices, as plain values: returned by trackers and read by source nodes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handloom.retarget import NUM_BODY_JOINTS, NUM_HAND_JOINTS

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class SchemaPoint:
    """A point [m]."""

    x: float = 0.0
    y: float = 0.0
    z: float = 0.0


@dataclass(frozen=True)
class SchemaQuaternion:
    """A rotation."""

    x: float = 0.0
    y: float = 0.0
    z: float = 0.0
    w: float = 0.0


@dataclass(frozen=True)
class SchemaPose:
    """A place."""

    position: SchemaPoint = SchemaPoint()
    orientation: SchemaQuaternion = SchemaQuaternion()


@dataclass(frozen=True)
class SchemaHeadPose:
    """A sample of the head."""

    pose: SchemaPose = SchemaPose()
    is_valid: bool = False
    is_tracked: bool = False


@dataclass(frozen=True)
class SchemaControllerPose:
    """The grip or aim pose of a controller."""

    pose: SchemaPose = SchemaPose()
    is_valid: bool = False


@dataclass(frozen=True)
class SchemaControllerInputState:
    """Buttons and sticks of a controller."""

    primary_click: bool = False
    secondary_click: bool = False
    thumbstick_click: bool = False
    menu_click: bool = False
    thumbstick_x: float = 0.0
    thumbstick_y: float = 0.0
    squeeze_value: float = 0.0
    trigger_value: float = 0.0


@dataclass(frozen=True)
class SchemaControllerSnapshot:
    """A sample of a controller."""

    grip_pose: SchemaControllerPose = SchemaControllerPose()
    aim_pose: SchemaControllerPose = SchemaControllerPose()
    inputs: SchemaControllerInputState = SchemaControllerInputState()


@dataclass(frozen=True)
class SchemaJointPose:
    """One joint of a hand or a body."""

    pose: SchemaPose = SchemaPose()
    is_valid: bool = False
    radius: float = 0.0


class SchemaHandJoints:
    """The joints of a hand.

    Args:
        poses: One pose per joint, in the published order.
    """

    def __init__(self, poses: Sequence[SchemaJointPose] = ()) -> None:
        joints = list(poses) or [SchemaJointPose()] * NUM_HAND_JOINTS
        self._joints = joints
        self.positions: Floats = np.array([astuple(j.pose.position) for j in joints], dtype=np.float32)
        """(26, 3) [m]."""
        self.orientations: Floats = np.array([astuple(j.pose.orientation) for j in joints], dtype=np.float32)
        """xyzw (26, 4)."""
        self.radii: Floats = np.array([j.radius for j in joints], dtype=np.float32)
        """(26,) [m]."""
        self.is_valid = np.array([j.is_valid for j in joints], dtype=np.uint8)
        """(26,)."""

    def poses(self, index: int) -> SchemaJointPose:
        """Return one joint."""
        return self._joints[index]


class SchemaBodyJoints(SchemaHandJoints):
    """The joints of a body (24)."""

    def __init__(self, poses: Sequence[SchemaJointPose] = ()) -> None:
        super().__init__(list(poses) or [SchemaJointPose()] * NUM_BODY_JOINTS)

    joints = SchemaHandJoints.poses


@dataclass(frozen=True)
class SchemaHandPose:
    """A sample of a hand."""

    joints: SchemaHandJoints = field(default_factory=SchemaHandJoints)


@dataclass(frozen=True)
class SchemaFullBodyPose:
    """A sample of a body."""

    joints: SchemaBodyJoints = field(default_factory=SchemaBodyJoints)
    all_joint_poses_tracked: bool = False


@dataclass(frozen=True)
class SchemaPedals:
    """A sample of a rudder with two toe pedals."""

    left_pedal: float = 0.0
    right_pedal: float = 0.0
    rudder: float = 0.0


@dataclass(frozen=True)
class SchemaJointState:
    """One joint of a leader arm."""

    name: str
    position: float = 0.0
    velocity: float = 0.0
    effort: float = 0.0
    valid: bool = True


@dataclass(frozen=True)
class SchemaJointStateOutput:
    """A sample of a leader arm."""

    joints: Sequence[SchemaJointState] = ()
    device_id: str = ""
    has_velocity: bool = False
    has_effort: bool = False
    ee_pose: SchemaPose | None = None
    ee_pose_valid: bool = False


@dataclass(frozen=True)
class SchemaTrackedT:
    """Wrapper around a sample in earlier revisions; None if the device is absent."""

    data: Any = None


def astuple(value: Any) -> tuple[float, ...]:
    """Return the fields of a point or a rotation in order."""
    return tuple(vars(value).values())
