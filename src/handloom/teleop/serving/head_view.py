"""The scene from where the eyes of a headset are: the operator's view, moved and turned with the head."""

from dataclasses import dataclass, replace

import numpy as np

from handloom.arrays import Array
from handloom.spatial import make_pose, matrix_from_quat, pos_quat_from_pose
from handloom.values import CameraSpec

WIDE = 1.7
"""Width of what an eye sees at a distance of one [1]: 81 degrees, most of what a headset shows."""
R_HEAD_CAMERA = np.diag([1.0, -1.0, -1.0])
"""A head has y up and looks along -z, a camera has y down and looks along z."""


@dataclass(frozen=True, kw_only=True)
class HeadPose:
    """A head in the frame in which its view was centred: right, up and back as seen by the viewer."""

    seq: int
    """Number by which the page identifies the pose."""
    position: tuple[float, ...]
    """(3,) [m]."""
    orientation: tuple[float, ...]
    """xyzw (4,)."""

    @property
    def T_level_head(self) -> Array:  # noqa: N802 - frame notation
        """Its pose (4, 4)."""
        x, y, z, w = self.orientation
        return make_pose(matrix_from_quat(np.array([w, x, y, z])), np.array(self.position))


def level_frame(camera: CameraSpec) -> Array:
    """Return the frame (4, 4), in the camera's parent, of someone at the camera who looks level the same way.

    Its axes are right, up and back. A headset knows which way is down: only the direction is the camera's.
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
        camera: The view that the head had when it was centred.
        head: Where it is now.
        aside: How far the eye is to the right of the middle of the head [m].
        name: Name of the eye's view.
    """
    T = level_frame(camera) @ head.T_level_head @ make_pose(R_HEAD_CAMERA, np.array([aside, 0.0, 0.0]))
    position, quat = pos_quat_from_pose(T)
    focal = camera.width / WIDE
    return replace(camera, name=name, position=tuple(position.tolist()), quat=tuple(quat.tolist()), fx=focal, fy=focal)
