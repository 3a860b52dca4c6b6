"""Reading a pose out of a controller group."""

from handloom.errors import InputError, suggest
from handloom.retarget.graph.tensor_group import OptionalTensorGroup
from handloom.retarget.quaternions import Quat, Vec3, usable_pose

# (position, orientation, is_valid) in ControllerInput.
POSE_SLOTS = {"grip": (0, 1, 2), "aim": (3, 4, 5)}


def checked_pose_name(pose: str) -> str:
    """Return ``grip`` or ``aim``, or refuse anything else."""
    if pose not in POSE_SLOTS:
        raise InputError(f"a controller has no pose {pose!r}; {suggest(pose, POSE_SLOTS)}")
    return pose


def controller_pose(group: OptionalTensorGroup, pose: str = "grip") -> tuple[Vec3, Quat] | None:
    """Return position [m] and unit quaternion (w, x, y, z), or None if this frame carries no pose.

    A frame carries none if the controller is absent, its pose is flagged invalid, the position is not finite
    or the quaternion is shorter than 1e-6.
    """
    position, orientation, is_valid = POSE_SLOTS[pose]
    if group.is_none or not group[is_valid]:
        return None
    return usable_pose(group[position], group[orientation])
