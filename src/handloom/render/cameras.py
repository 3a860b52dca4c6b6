"""Cameras: intrinsics and poses of specs and of MJCF cameras; points to pixels and back. OpenCV axes throughout."""

import math
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from handloom.arrays import Array
from handloom.errors import unknown_name
from handloom.spatial import invert_pose, make_pose, quat_multiply, relative_pose, transform_points
from handloom.values import CameraSpec


class Frustum(NamedTuple):
    """Distances along the view axis, and the window on the near plane [m]."""

    near: float
    far: float
    center: float
    """Horizontal centre of the window."""
    width: float
    """Half its width."""
    bottom: float
    top: float

    def depth(self, reversed_z: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the planar depth [m] of a reversed z buffer (near 1, far 0); infinite at 0."""
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


# MuJoCo and USD cameras look along -z with y up; half a turn about x gives x right, y down, z forward.
QUAT_GL_CV = (0.0, 1.0, 0.0, 0.0)
DEFAULT_WIDTH, DEFAULT_HEIGHT = 640, 480
# Each round divides the error by more than 5 for our lenses; after 12 it is less than a thousandth of a pixel.
UNDISTORT_ROUNDS = 12


def spec_of_mjcf_camera(
    model: mujoco.MjModel, name: str, *, width: int | None = None, height: int | None = None
) -> CameraSpec:
    """Return a camera of the model as a spec.

    Args:
        model: The model.
        name: Name of the camera in the model.
        width: Image width [px]; by default the camera's ``resolution``, or 640 if it has none.
        height: Image height [px]; by default the camera's ``resolution``, or 480.

    Raises:
        NotFoundError: The model has no camera of that name.
    """
    camera = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_CAMERA, name)
    if camera < 0:
        raise unknown_name("camera", name, [model.camera(k).name for k in range(model.ncam)])
    own_width, own_height = (int(v) for v in model.cam_resolution[camera])
    has_own = own_width > 1 and own_height > 1
    width = width or (own_width if has_own else DEFAULT_WIDTH)
    height = height or (own_height if has_own else DEFAULT_HEIGHT)
    fx = fy = height / 2 / math.tan(math.radians(float(model.cam_fovy[camera])) / 2)
    cx, cy = width / 2, height / 2
    sensor_width, sensor_height = (float(v) for v in model.cam_sensorsize[camera])
    if sensor_width > 0 and sensor_height > 0:
        focal_x, focal_y, offset_x, offset_y = (float(v) for v in model.cam_intrinsic[camera])
        fx, fy = focal_x * width / sensor_width, focal_y * height / sensor_height
        cx = width / 2 + offset_x * width / sensor_width
        cy = height / 2 + offset_y * height / sensor_height
    body = int(model.cam_bodyid[camera])
    x, y, z = model.cam_pos[camera]
    qw, qx, qy, qz = quat_multiply(model.cam_quat[camera], QUAT_GL_CV)
    return CameraSpec(
        name=name,
        width=width,
        height=height,
        fx=fx,
        fy=fy,
        cx=cx,
        cy=cy,
        parent=model.body(body).name if body > 0 else None,
        position=(float(x), float(y), float(z)),
        quat=(float(qw), float(qx), float(qy), float(qz)),
    )


def camera_body(model: mujoco.MjModel, camera: CameraSpec) -> int:
    """Return the id of the body that carries a camera; 0 is the world."""
    if camera.parent is None:
        return 0
    body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, camera.parent)
    if body < 0:
        raise unknown_name(
            f"body (parent of camera {camera.name!r})", camera.parent, [model.body(k).name for k in range(model.nbody)]
        )
    return body


def body_pose(data: mujoco.MjData, body: int) -> Array:
    """Return T_world_body (4, 4)."""
    return make_pose(data.xmat[body].reshape(3, 3), data.xpos[body])


def camera_pose(model: mujoco.MjModel, data: mujoco.MjData, camera: CameraSpec | str) -> Array:
    """Return T_world_camera (4, 4), OpenCV axes, of a spec or of a named camera of the model."""
    spec = spec_of_mjcf_camera(model, camera) if isinstance(camera, str) else camera
    return body_pose(data, camera_body(model, spec)) @ spec.T_parent_camera


def camera_pose_in(model: mujoco.MjModel, data: mujoco.MjData, camera: CameraSpec | str, body: str) -> Array:
    """Return T_body_camera (4, 4): extrinsics in the frame of a body, such as the robot's or an arm's base."""
    frame = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, body)
    if frame < 0:
        raise unknown_name("body", body, [model.body(k).name for k in range(model.nbody)])
    return relative_pose(body_pose(data, frame), camera_pose(model, data, camera))


def project(camera: CameraSpec, T_world_camera: ArrayLike, points: ArrayLike) -> tuple[Array, Array]:
    """Project world points (n, 3) [m]; return pixels (n, 2) and planar depths (n,) [m].

    A point that is not in front of the camera has a depth <= 0 and NaN pixels.
    """
    p = transform_points(invert_pose(T_world_camera), np.asarray(points, float))
    depth = p[:, 2]
    z = np.where(depth > 0, depth, np.nan)
    x, y = p[:, 0] / z, p[:, 1] / z
    if camera.optics is not None and camera.optics.distorts:
        x, y = distorted(camera.optics.distortion, x, y)
    return np.column_stack([camera.cx + camera.fx * x, camera.cy + camera.fy * y]), depth


def distorted(coefficients: tuple[float, ...], x: Array, y: Array) -> tuple[Array, Array]:
    """Return where a lens shows the directions (x, y, 1), by the Brown-Conrady model."""
    k1, k2, p1, p2, k3 = coefficients
    r2 = x * x + y * y
    radial = 1.0 + r2 * (k1 + r2 * (k2 + r2 * k3))
    return (
        x * radial + 2.0 * p1 * x * y + p2 * (r2 + 2.0 * x * x),
        y * radial + p1 * (r2 + 2.0 * y * y) + 2.0 * p2 * x * y,
    )


def undistorted(coefficients: tuple[float, ...], x: Array, y: Array) -> tuple[Array, Array]:
    """Return the directions (x, y, 1) that a lens shows at given points, by fixed-point iteration."""
    u, v = x, y
    for _ in range(UNDISTORT_ROUNDS):
        a, b = distorted(coefficients, u, v)
        u, v = u + x - a, v + y - b
    return u, v


def lens_grid(camera: CameraSpec) -> tuple[Array, Array]:
    """Return the directions (x, y, 1) of all pixels: two arrays (h, w)."""
    x = (np.arange(camera.width) + 0.5 - camera.cx) / camera.fx
    y = (np.arange(camera.height) + 0.5 - camera.cy) / camera.fy
    u, v = (np.asarray(grid, np.float64) for grid in np.meshgrid(x, y))
    if camera.optics is not None and camera.optics.distorts:
        return undistorted(camera.optics.distortion, u, v)
    return u, v


def unproject(camera: CameraSpec, T_world_camera: ArrayLike, depth: ArrayLike) -> Array:
    """Return the world points (h, w, 3) [m] of a depth image (h, w) of planar z [m]."""
    z = np.asarray(depth, float)
    x, y = lens_grid(camera)
    with np.errstate(invalid="ignore"):
        points = np.stack([x * z, y * z, z], axis=-1)
        return transform_points(np.asarray(T_world_camera, float), points.reshape(-1, 3)).reshape(points.shape)
