"""The view volume of a camera, for the backends that rasterise."""

from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.values import CameraSpec


class Frustum(NamedTuple):
    """Distances along the view axis, and the window on the near plane [m]."""

    near: float
    far: float
    center: float
    """Horizontal middle of the window."""
    width: float
    """Half of its width."""
    bottom: float
    top: float

    def depth(self, reversed_z: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return planar depth [m] of a buffer of reversed z, near 1 and far 0; infinite at 0."""
        z = reversed_z.astype(float)
        meters = self.near * self.far / (z * (self.far - self.near) + self.near)
        return np.where(z > 0, meters, np.inf).astype(np.float32)


def frustum_of(model: mujoco.MjModel, camera: CameraSpec) -> Frustum:
    """Return the view volume of a camera with any principal point and pixel aspect; near and far are the model's."""
    near = float(model.vis.map.znear * model.stat.extent)
    return Frustum(
        near=near,
        far=float(model.vis.map.zfar * model.stat.extent),
        center=near * (camera.width / 2 - camera.cx) / camera.fx,
        width=near * camera.width / 2 / camera.fx,
        bottom=-near * (camera.height - camera.cy) / camera.fy,
        top=near * camera.cy / camera.fy,
    )
