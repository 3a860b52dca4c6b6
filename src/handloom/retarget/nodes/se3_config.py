"""Settings of the pose retargeters, and the pose they start from."""

import math
from dataclasses import dataclass
from pathlib import Path

from handloom.errors import InputError, suggest
from handloom.retarget.graph.tensor_group import OptionalTensorGroup
from handloom.retarget.graph.tensor_group_type import TensorGroupType
from handloom.retarget.inputs.controller_input import ControllerInput
from handloom.retarget.inputs.hand_input import HandInput, HandInputIndex, HandJointIndex
from handloom.retarget.nodes.controller_pose import controller_pose
from handloom.retarget.quaternions import Quat, Vec3, multiply, rotation_about, toward, usable_pose

SE3_DEVICES = ("hand_left", "hand_right", "controller_left", "controller_right")


@dataclass(frozen=True, kw_only=True)
class Se3RetargeterConfig:
    """Settings of ``Se3AbsRetargeter`` and ``Se3RelRetargeter``."""

    input_device: str = "hand_right"
    """Port of the device: ``hand_left``, ``hand_right``, ``controller_left`` or ``controller_right``."""
    zero_out_xy_rotation: bool = True
    """Keep only the rotation about z."""
    use_wrist_rotation: bool = False
    """Hands: rotate with the wrist instead of the middle between thumb tip and index tip."""
    use_wrist_position: bool = True
    """Hands: move with the wrist instead of the middle between thumb tip and index tip."""
    target_offset_x: float = 0.0
    """Offset along x of the hand [m]."""
    target_offset_y: float = 0.0
    """Offset along y of the hand [m]."""
    target_offset_z: float = 0.0
    """Offset along z of the hand [m]."""
    target_offset_roll: float = 90.0
    """Offset rotation, intrinsic x [deg]."""
    target_offset_pitch: float = 0.0
    """Offset rotation, then intrinsic y [deg]."""
    target_offset_yaw: float = 0.0
    """Offset rotation, then intrinsic z [deg]."""
    delta_pos_scale_factor: float = 10.0
    """Relative only: factor on position deltas."""
    delta_rot_scale_factor: float = 10.0
    """Relative only: factor on rotation deltas."""
    alpha_pos: float = 0.5
    """Relative only: weight of the newest position delta in the running mean."""
    alpha_rot: float = 0.5
    """Relative only: weight of the newest rotation delta in the running mean."""
    parameter_config_path: str | Path | None = None
    """JSON file of the tunable parameters."""

    def __post_init__(self) -> None:
        """Refuse devices that carry no pose."""
        if self.input_device not in SE3_DEVICES:
            raise InputError(f"no input_device {self.input_device!r}; {suggest(self.input_device, SE3_DEVICES)}")

    @property
    def device_type(self) -> TensorGroupType:
        """The type of the device's port."""
        return HandInput() if self.input_device.startswith("hand") else ControllerInput()


def quat_from_intrinsic_xyz_deg(angles: Vec3) -> Quat:
    """Return the rotation Rx Ry Rz of three angles [deg]."""
    roll, pitch, yaw = (math.radians(angle) for angle in angles)
    about_xy = multiply(rotation_about((1.0, 0.0, 0.0), roll), rotation_about((0.0, 1.0, 0.0), pitch))
    return multiply(about_xy, rotation_about((0.0, 0.0, 1.0), yaw))


def device_pose(group: OptionalTensorGroup, *, wrist_rotation: bool, wrist_position: bool) -> tuple[Vec3, Quat] | None:
    """Return position [m] and unit quaternion of a controller's grip or of a hand, or None if there is none.

    A hand without usable thumb and index tips falls back to its wrist.
    """
    if len(group) == len(ControllerInput()):
        return controller_pose(group)
    if group.is_none:
        return None
    wrist = _joint(group, HandJointIndex.WRIST)
    if wrist is None or (wrist_rotation and wrist_position):
        return wrist
    thumb, index = _joint(group, HandJointIndex.THUMB_TIP), _joint(group, HandJointIndex.INDEX_TIP)
    if thumb is None or index is None:
        return wrist
    (ax, ay, az), (bx, by, bz) = thumb[0], index[0]
    middle = ((ax + bx) / 2.0, (ay + by) / 2.0, (az + bz) / 2.0)
    return (
        wrist[0] if wrist_position else middle,
        wrist[1] if wrist_rotation else toward(thumb[1], index[1], 0.5),
    )


def _joint(group: OptionalTensorGroup, joint: int) -> tuple[Vec3, Quat] | None:
    if not group[HandInputIndex.JOINT_VALID][joint]:
        return None
    return usable_pose(group[HandInputIndex.JOINT_POSITIONS][joint], group[HandInputIndex.JOINT_ORIENTATIONS][joint])
