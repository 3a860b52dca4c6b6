"""Where the roller wheels of a holonomic base stand and which way each one pushes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.control.wheeled.arguments import finite_array, float_array
from handloom.errors import InputError
from handloom.spatial import quat_from_axis_angle, quat_multiply, quat_normalize, quat_rotate

# The smallest normal number: keeps a division by the largest entry from dividing by zero.
TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, kw_only=True)
class HolonomicLayout:
    """Wheels with rollers, seen from the centre of the base; built by ``HolonomicLayout.of``.

    Wheel i pushes along ``d_i = Rot(up, angle_i) R(q_i) wheel_axis``: the axle, turned by the roller angle. By that
    published convention a positive speed at 90 degrees moves the hub along ``up x axle``; a joint that follows
    the right-hand rule rolls the other way, so its model states the angle negative (-90 for an omni wheel).
    """

    radius: Array
    """Wheel radii (n,) [m]."""
    positions: Array
    """Wheel centres in the base (n, 3) [m]."""
    directions: Array
    """Unit vectors (n, 3) along which the wheels push."""
    grip: Array
    """|sin| of the roller angles (n,): the share of the rim speed that acts along the direction."""

    @classmethod
    @np.errstate(all="ignore")  # What overflows is refused when the layout is used.
    def of(
        cls,
        *,
        wheel_radius: ArrayLike,
        wheel_positions: ArrayLike,
        wheel_orientations: ArrayLike,
        mecanum_angles: ArrayLike,
        wheel_axis: ArrayLike,
        up_axis: ArrayLike,
    ) -> "HolonomicLayout":
        """Build a layout from the published arguments.

        Args:
            wheel_radius: One radius or one per wheel, > 0 [m].
            wheel_positions: Wheel centres (n, 3) [m].
            wheel_orientations: Wheel frames (n, 4), wxyz; any length but zero.
            mecanum_angles: One roller angle or one per wheel [deg].
            wheel_axis: Axle in the wheel frame (3,).
            up_axis: Up in the base (3,).

        Raises:
            InputError: A shape that does not fit, a radius that is not > 0, a zero axis or quaternion, not finite.
        """
        positions = finite_array(wheel_positions, (-1, 3), "wheel_positions")
        count = len(positions)
        orientations = finite_array(wheel_orientations, (count, 4), "wheel_orientations")
        orientations = quat_normalize(
            orientations / np.maximum(np.max(np.abs(orientations), axis=1, keepdims=True), TINY)
        )
        radius = _per_wheel(wheel_radius, count, "wheel_radius")
        if np.any(radius <= 0.0):
            raise InputError(f"wheel_radius must be > 0 for every wheel, got {radius.tolist()}")
        angles = np.deg2rad(_per_wheel(mecanum_angles, count, "mecanum_angles"))
        axis = _unit(finite_array(wheel_axis, (3,), "wheel_axis"), "wheel_axis")
        up = _unit(finite_array(up_axis, (3,), "up_axis"), "up_axis")
        turned = quat_multiply(quat_from_axis_angle(up, angles), orientations)
        return cls(
            radius=radius, positions=positions, directions=quat_rotate(turned, axis), grip=np.abs(np.sin(angles))
        )

    @property
    def sums(self) -> Array:
        """Matrix (3, n) of the published equalities: sums of drive vectors in x and y, and of their moments."""
        drive = self.directions[:, :2] * self.radius[:, None]
        moment = drive[:, 0] * self.positions[:, 1] - drive[:, 1] * self.positions[:, 0]
        return np.stack([drive[:, 0], drive[:, 1], moment])

    @property
    def rolling(self) -> Array:
        """Matrix (n, 3) that maps a body twist (vx, vy, w) to the speed each hub needs along its direction [m/s]."""
        d, p = self.directions, self.positions
        return np.stack([d[:, 0], d[:, 1], d[:, 1] * p[:, 0] - d[:, 0] * p[:, 1]], axis=1)


def _per_wheel(values: ArrayLike, count: int, what: str) -> Array:
    """Return one value per wheel (count,), from one value or from one per wheel."""
    array = float_array(values, what)
    if array.size == 1 and array.ndim <= 1:
        array = np.full(count, array.reshape(-1)[0])
    return finite_array(array, (count,), what)


def _unit(vector: Array, what: str) -> Array:
    scaled = vector / (np.max(np.abs(vector)) or 1.0)
    norm = float(np.linalg.norm(scaled))
    if norm == 0.0:
        raise InputError(f"{what} has length zero and gives no direction")
    return scaled / norm
