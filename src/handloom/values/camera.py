"""A pinhole camera: mount, intrinsics, and the lens, exposure, white balance and sensor of a real one."""

import os
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.spatial import pose_from_pos_quat, quat_from_matrix

Gain = Annotated[float, Field(ge=0.05, le=20.0)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Coefficient = Annotated[float, Field(ge=-1.0, le=1.0)]


@dataclass(frozen=True, kw_only=True)
class Optics:
    """One lens and sensor; plain numbers, so that a replayed image is identical bit for bit."""

    distortion: tuple[Coefficient, Coefficient, Coefficient, Coefficient, Coefficient] = (0.0, 0.0, 0.0, 0.0, 0.0)
    """Brown-Conrady coefficients k1, k2, p1, p2, k3, as in OpenCV."""
    vignetting: Share = 0.0
    """Fraction of light lost in the corners of the image."""
    exposure: Gain = 1.0
    """Factor on linear light."""
    exposure_drift: Share = 0.0
    """Largest relative change of the exposure over time."""
    white_balance: tuple[Gain, Gain] = (1.0, 1.0)
    """Factors on linear red and blue."""
    white_drift: Share = 0.0
    """Largest relative change of these factors over time."""
    drift_seconds: Annotated[float, Field(gt=0.0, le=1e6)] = 4.0
    """Period of both drifts [s]."""
    phase: float = 0.0
    """Phases of the drifts at the start [rad]."""
    noise: Share = 0.0
    """Standard deviation of sensor noise as a fraction of full brightness; scales with the square root of intensity."""
    jpeg: Annotated[int, Field(ge=0, le=100)] = 0
    """Quality of JPEG compression; 0: no compression."""
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] = 0
    """Seed of the noise; every frame of an episode gets its own noise."""

    @property
    def distorts(self) -> bool:
        """Whether straight lines are bent."""
        return any(self.distortion)


R_GIVEN_OPENCV: dict[str, Array] = {
    "opencv": np.eye(3),
    "usd": np.diag([1.0, -1.0, -1.0]),
    "gl": np.diag([1.0, -1.0, -1.0]),
    "ros": np.eye(3),
    "world": np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]]),
}
"""Columns are the OpenCV axes (right, down, forward), in the camera axes of a file.

usd and gl look along -z with y up; ros, the optical frame, looks along z with y down as OpenCV does; world looks along
x with z up. These are the meanings of Isaac Sim's ``camera_axes``.
"""

PIXELS = "HANDLOOM_MAX_PIXELS"
"""Environment variable that replaces the limit on the pixels of an image, and of all cameras of a task together."""
MOST_PIXELS = 4096 * 4096
"""The default bound. Drawing takes about 35 bytes per pixel, so this is 0.6 GB per worker."""


def most_pixels() -> int:
    """Return the most pixels of an image, and of all cameras of a task together."""
    given = os.environ.get(PIXELS, "")
    if not given:
        return MOST_PIXELS
    if not (given.isascii() and given.isdecimal() and int(given[:12]) > 0):
        raise InputError(f"{PIXELS} must be a whole number of pixels, such as {MOST_PIXELS}, got {given!r}")
    return int(given[:12])


@dataclass(frozen=True, kw_only=True)
class CameraSpec:
    """A camera with OpenCV axes: x right, y down, z forward; pixel centres lie at +0.5. Ideal unless it has optics.

    Plain numbers only, so that it can be written to JSON and read back exactly.
    """

    name: str
    """Name in the dataset, e.g. ``head``."""
    width: Annotated[int, Field(le=8192)]
    """Image width [px]."""
    height: Annotated[int, Field(le=8192)]
    """Image height [px]."""
    fx: float
    """Focal length in x [px]."""
    fy: float
    """Focal length in y [px]."""
    cx: float
    """Principal point in x [px], from the left edge of the image."""
    cy: float
    """Principal point in y [px], from the top edge of the image."""
    parent: str | None = None
    """Body that carries the camera; None fixes it in the world."""
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Origin of the camera in its parent [m]."""
    quat: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    """Orientation of the camera in its parent, wxyz."""
    near: float = 0.005
    """Near clipping distance [m]."""
    optics: Annotated[Optics | None, Field(exclude_if=lambda given: given is None)] = None
    """Lens and sensor; None: an ideal camera."""

    @classmethod
    def centred(cls, name: str, width: int, height: int, focal: float, **mount: Any) -> "CameraSpec":
        """Return a camera with square pixels and its principal point in the middle.

        Args:
            name: Name in the dataset.
            width: Image width [px].
            height: Image height [px].
            focal: Focal length [px].
            mount: Further fields: ``parent``, ``position``, ``quat`` and so on.
        """
        return cls(name=name, width=width, height=height, fx=focal, fy=focal, cx=width / 2, cy=height / 2, **mount)

    @classmethod
    def looking_at(
        cls, name: str, target: ArrayLike, *, eye: ArrayLike, width: int, height: int, focal: float
    ) -> "CameraSpec":
        """Return an upright camera, fixed in the world, with a given point in the middle of its image.

        Args:
            name: Name in the dataset.
            target: Point looked at (3,) [m]; not straight above or below the eye.
            eye: Position of the camera (3,) [m].
            width: Image width [px].
            height: Image height [px].
            focal: Focal length [px].
        """
        x, y, z = np.asarray(eye, float).tolist()
        forward = np.asarray(target, float) - (x, y, z)
        right = np.cross(forward, (0.0, 0.0, 1.0))
        if not np.linalg.norm(right) > 1e-9:
            raise InputError(f"camera {name!r} looks straight up or down, so the top of its image is undefined")
        forward, right = forward / np.linalg.norm(forward), right / np.linalg.norm(right)
        qw, qx, qy, qz = quat_from_matrix(np.column_stack([right, np.cross(forward, right), forward])).tolist()
        return cls.centred(name, width, height, focal, position=(x, y, z), quat=(qw, qx, qy, qz))

    def __post_init__(self) -> None:
        """Refuse cameras without pixels or field of view."""
        if self.width < 1 or self.height < 1:
            raise InputError(f"camera {self.name!r}: width and height must be >= 1, got {self.width} x {self.height}")
        if not (self.fx > 0 and self.fy > 0):
            raise InputError(f"camera {self.name!r}: focal lengths must be > 0, got fx={self.fx}, fy={self.fy}")

    @property
    def K(self) -> Array:  # noqa: N802 - the name everybody uses
        """Intrinsic matrix (3, 3) [px]."""
        return np.array([[self.fx, 0.0, self.cx], [0.0, self.fy, self.cy], [0.0, 0.0, 1.0]])

    @property
    def T_parent_camera(self) -> Array:  # noqa: N802 - frame notation
        """Pose (4, 4) of the camera in its parent."""
        return pose_from_pos_quat(self.position, self.quat)

    def resized(self, width: int, height: int) -> "CameraSpec":
        """Return the same view with another image size: scaled to cover it, cropped centrally.

        The aspect ratio of pixels is kept, so a 1280x720 camera resized to 224x224 sees the middle square.
        """
        scale = max(width / self.width, height / self.height)
        return replace(
            self,
            width=width,
            height=height,
            fx=self.fx * scale,
            fy=self.fy * scale,
            cx=width / 2 + (self.cx - self.width / 2) * scale,
            cy=height / 2 + (self.cy - self.height / 2) * scale,
        )
