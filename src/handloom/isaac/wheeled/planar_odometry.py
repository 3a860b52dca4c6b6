"""Planar poses: angle wrapping, yaw of a quaternion, dead reckoning from body twists."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handloom.arrays import Array
from handloom.isaac.wheeled.arguments import finite_number, finite_vector


def normalize_angle(angle: float) -> float:
    """Return an angle wrapped to [-pi, pi]; odd multiples of pi keep their sign.

    Raises:
        InputError: The angle is not finite.
    """
    given = finite_number(angle, "angle")
    # One exact remainder has no drift, unlike repeated subtraction; it leaves the sign of a tie undefined.
    wrapped = math.remainder(given, 2.0 * math.pi)
    return math.copysign(math.pi, given) if abs(wrapped) == math.pi else wrapped


def yaw_from_quat(quat: Sequence[float] | Array) -> float:
    """Return the rotation about z [rad] of a quaternion wxyz of any norm; the zero quaternion has yaw 0."""
    values = finite_vector(quat, ("w", "x", "y", "z"), "orientation")
    w, x, y, z = (values / (np.max(np.abs(values)) or 1.0)).tolist()
    return math.atan2(2.0 * (w * z + x * y), w * w + x * x - y * y - z * z)


@dataclass(frozen=True, kw_only=True)
class PlanarPose:
    """A pose on the floor."""

    x: float = 0.0
    """[m]."""
    y: float = 0.0
    """[m]."""
    yaw: float = 0.0
    """[rad], wrapped to [-pi, pi]."""

    def moved(self, twist: Sequence[float] | Array, dt: float) -> "PlanarPose":
        """Return the pose after ``dt`` [s] at a constant body twist ``(vx, vy, w)``: an exact arc.

        Raises:
            InputError: A value is not finite.
        """
        vx, vy, w = finite_vector(twist, ("vx [m/s]", "vy [m/s]", "w [rad/s]"), "twist").tolist()
        step = finite_number(dt, "dt")
        # Chord of an arc through `angle`: length times the sinc of half the angle, in the direction of half the angle.
        half = finite_number(w * step / 2.0, "the angle turned")
        chord = step * (math.sin(half) / half if abs(half) > 1e-8 else 1.0)
        cos, sin = math.cos(self.yaw + half), math.sin(self.yaw + half)
        return PlanarPose(
            x=finite_number(self.x + chord * (vx * cos - vy * sin), "the new x"),
            y=finite_number(self.y + chord * (vx * sin + vy * cos), "the new y"),
            yaw=normalize_angle(self.yaw + 2.0 * half),
        )


class PlanarOdometry:
    """The estimated pose of a robot, from the twists its wheels report (``controller.body_twist``)."""

    def __init__(self, start: PlanarPose | None = None) -> None:
        """Start at a pose; None starts at the origin."""
        self._start = start or PlanarPose()
        self.pose = self._start

    def update(self, twist: Sequence[float] | Array, dt: float) -> PlanarPose:
        """Advance by ``dt`` [s] at a body twist ``(vx [m/s], vy [m/s], w [rad/s])`` and return the new pose."""
        self.pose = self.pose.moved(twist, dt)
        return self.pose

    def reset(self, pose: PlanarPose | None = None) -> None:
        """Reset to the start, or to ``pose``."""
        self.pose = pose or self._start
