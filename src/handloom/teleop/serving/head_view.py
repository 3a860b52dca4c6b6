"""The scene as seen by the eyes of a headset: the operator's view, moved and rotated with the head."""

from dataclasses import dataclass, replace

import numpy as np

from handloom.arrays import Array
from handloom.spatial import make_pose, matrix_from_quat, pos_quat_from_pose
from handloom.values import CameraSpec

WIDE = 1.7
"""Width of an eye's view at a distance of one [1]: 81 degrees, most of a headset's view."""
R_HEAD_CAMERA = np.diag([1.0, -1.0, -1.0])
"""A head has y up and looks along -z; a camera has y down and looks along z."""


@dataclass(frozen=True, kw_only=True)
class HeadPose:
    """Head pose in the frame in which its view was centred: right, up and back for the viewer."""

    seq: int
    """Number by which the page identifies the pose."""
    position: tuple[float, ...]
    """(3,) [m]."""
    orientation: tuple[float, ...]
    """xyzw (4,)."""

    @property
    def T_level_head(self) -> Array:  # noqa: N802 - frame notation
        """The pose (4, 4)."""
        x, y, z, w = self.orientation
        return make_pose(matrix_from_quat(np.array([w, x, y, z])), np.array(self.position))


def level_frame(camera: CameraSpec) -> Array:
    """Return the frame (4, 4), in the camera's parent, of a level head at the camera that looks the same way.

    Its axes are right, up and back. A headset measures which way is down, so only the heading is the camera's.
    """
    ahead = matrix_from_quat(np.array(camera.quat))[:, 2].copy()
    ahead[2] = 0.0
    length = float(np.linalg.norm(ahead))
    ahead = ahead / length if length > 1e-6 else np.array([1.0, 0.0, 0.0])
    up = np.array([0.0, 0.0, 1.0])
    return make_pose(np.column_stack([np.cross(ahead, up), up, -ahead]), np.array(camera.position))


def eye_of(camera: CameraSpec, head: HeadPose, *, aside: float, name: str) -> CameraSpec:
    """Return the camera of an eye.

    Args:
        camera: The view at which the head was centred.
        head: Current head pose.
        aside: Distance of the eye to the right of the middle of the head [m].
        name: Name of the eye's view.
    """
    T = level_frame(camera) @ head.T_level_head @ make_pose(R_HEAD_CAMERA, np.array([aside, 0.0, 0.0]))
    position, quat = pos_quat_from_pose(T)
    focal = camera.width / WIDE
    return replace(camera, name=name, position=tuple(position.tolist()), quat=tuple(quat.tolist()), fx=focal, fy=focal)
