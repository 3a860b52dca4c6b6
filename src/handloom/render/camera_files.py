"""Cameras from published data: intrinsics from data sheets, mounts in other axis conventions, noise on poses."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from handloom.errors import InputError, unknown_name
from handloom.spatial import quat_from_matrix, quat_from_rotvec, quat_multiply, quat_normalize
from handloom.values import CameraSpec
from handloom.values.camera import R_GIVEN_OPENCV


def opencv_from_axes(quat: ArrayLike, axes: str) -> tuple[float, float, float, float]:
    """Return the orientation of a camera with OpenCV axes, given it with the axes of another convention (wxyz).

    Args:
        quat: Published orientation in the parent, wxyz.
        axes: A key of ``handloom.values.camera.R_GIVEN_OPENCV``.
    """
    if axes not in R_GIVEN_OPENCV:
        raise unknown_name("camera axis convention", axes, R_GIVEN_OPENCV)
    w, x, y, z = quat_multiply(quat_normalize(quat), quat_from_matrix(R_GIVEN_OPENCV[axes])).tolist()
    return (w, x, y, z)


def camera_from_intrinsics(
    name: str,
    *,
    width: int,
    height: int,
    K: ArrayLike,
    parent: str | None = None,
    position: ArrayLike = (0.0, 0.0, 0.0),
    quat: ArrayLike = (1.0, 0.0, 0.0, 0.0),
    axes: str = "opencv",
) -> CameraSpec:
    """Return a camera with a published intrinsic matrix, including an off-centre principal point.

    Args:
        name: Name in the dataset.
        width: Image width [px].
        height: Image height [px].
        K: Intrinsic matrix (3, 3) or the values fx, fy, cx, cy (4,) [px].
        parent: Body that carries the camera.
        position: In the parent (3,) [m].
        quat: In the parent, wxyz, with the axes named by ``axes``.
        axes: Convention of ``quat``: a key of ``handloom.values.camera.R_GIVEN_OPENCV``.
    """
    values = np.asarray(K, float)
    if values.shape == (3, 3):
        fx, fy, cx, cy = values[0, 0], values[1, 1], values[0, 2], values[1, 2]
    elif values.shape == (4,):
        fx, fy, cx, cy = values
    else:
        raise InputError(f"camera {name!r}: intrinsics are (3, 3) or (fx, fy, cx, cy), got shape {values.shape}")
    x, y, z = np.asarray(position, float).tolist()
    return CameraSpec(
        name=name,
        width=width,
        height=height,
        fx=float(fx),
        fy=float(fy),
        cx=float(cx),
        cy=float(cy),
        parent=parent,
        position=(x, y, z),
        quat=opencv_from_axes(quat, axes),
    )


def camera_from_lens(
    name: str, *, width: int, height: int, focal_length: float, pixel_size: float, **mount: object
) -> CameraSpec:
    """Return a camera from a data sheet: focal length and size of a square pixel [m]; centred principal point.

    Further keywords (parent, position, quat, axes) are those of ``camera_from_intrinsics``.
    """
    if not (focal_length > 0 and pixel_size > 0):
        raise InputError(f"camera {name!r}: focal length and pixel size must be > 0, got {focal_length}, {pixel_size}")
    f = focal_length / pixel_size
    K = (f, f, width / 2, height / 2)
    return camera_from_intrinsics(name, width=width, height=height, K=K, **mount)  # pyright: ignore[reportArgumentType]


def with_pose_noise(
    camera: CameraSpec, rng: np.random.Generator, *, position_std: float, angle_std: float
) -> CameraSpec:
    """Return the camera with a perturbed pose: normal noise on position [m] and orientation [rad], per axis."""
    x, y, z = (np.asarray(camera.position) + rng.normal(0.0, position_std, 3)).tolist()
    turn = quat_from_rotvec(rng.normal(0.0, angle_std, 3))
    w, i, j, k = quat_multiply(camera.quat, turn).tolist()
    return replace(camera, position=(x, y, z), quat=(w, i, j, k))
