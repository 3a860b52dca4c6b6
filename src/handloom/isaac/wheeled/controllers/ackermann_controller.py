"""Ackermann steering: converts a steering angle and a speed to two wheel angles and four wheel speeds, and back."""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.isaac.controller import BaseController
from handloom.isaac.wheeled.arguments import finite_number, finite_result, finite_vector, limit, positive_number
from handloom.values import ArticulationAction

# Below this angle the published controller drives straight (0.9 degrees).
STRAIGHT_STEER = 0.0157
# Within these dead bands a ramp leaves the speed [m/s] and the steering angle [rad] (0.1 degrees) unchanged.
SPEED_DEAD_BAND = 1e-4
STEER_DEAD_BAND = 0.00174533


class AckermannController(BaseController):
    """Computes the angles of the two steered wheels and the speeds of all four wheels of a car, with ramps.

    The instantaneous centre of rotation lies on the fixed axle, at ``R = wheel_base / tan(steer)`` to the left.
    ``invert_steering`` is for cars steered at the rear: the wheels turn the other way, and a positive angle still
    turns the car left. ``speed`` is the speed of the middle of the fixed axle.

    ``kinematics="published"`` (the default) reproduces ported code, including four peculiarities: steering below
    0.0157 rad drives straight, rear steering swaps the angles of the inner and the outer wheel, closer than half a
    track width to the centre the inner wheel's angle flips its sign, and a negative rate or acceleration without a
    limit moves away from the target. ``kinematics="rigid_body"`` has none of them: each wheel points along, and rolls
    at, the velocity of its own hub, and signs of rates do not matter.
    """

    def __init__(
        self,
        name: str,
        wheel_base: float,
        track_width: float,
        front_wheel_radius: float = 0.0,
        back_wheel_radius: float = 0.0,
        max_wheel_velocity: float = 0.0,
        invert_steering: bool = False,
        max_wheel_rotation_angle: float = 6.28,
        max_acceleration: float = 0.0,
        max_steering_angle_velocity: float = 0.0,
        *,
        kinematics: Literal["published", "rigid_body"] = "published",
        keep_heading: bool = False,
    ) -> None:
        """Store the geometry and the limits; their signs are ignored, and a limit of 0 means no limit.

        Args:
            name: Name of the controller.
            wheel_base: Distance between the axles, nonzero [m].
            track_width: Distance between left and right wheels [m].
            front_wheel_radius: Radius of the front wheels [m]; 0 takes the other radius.
            back_wheel_radius: Radius of the rear wheels [m]; 0 takes the other radius.
            max_wheel_velocity: Limit of each wheel [rad/s].
            invert_steering: Whether the rear axle steers.
            max_wheel_rotation_angle: Limit of the steering angle and of each steered wheel [rad].
            max_acceleration: Limit of the acceleration in a command [m/s^2].
            max_steering_angle_velocity: Limit of the steering rate in a command [rad/s].
            kinematics: See the class.
            keep_heading: Scale all wheels together at ``max_wheel_velocity``, instead of clipping each one.

        Raises:
            InputError: Both wheel radii or the wheel base are 0, or a value is not finite.
        """
        super().__init__(name)
        self.wheel_base = positive_number(abs(finite_number(wheel_base, "wheel_base")), "wheel_base")
        self.track_width = abs(finite_number(track_width, "track_width"))
        front = abs(finite_number(front_wheel_radius, "front_wheel_radius"))
        back = abs(finite_number(back_wheel_radius, "back_wheel_radius"))
        if front == 0.0 and back == 0.0:
            raise InputError("give front_wheel_radius or back_wheel_radius; both are 0")
        self.front_wheel_radius, self.back_wheel_radius = front or back, back or front
        self.max_wheel_velocity = _unlimited_if_zero(max_wheel_velocity, "max_wheel_velocity")
        self.max_wheel_rotation_angle = _unlimited_if_zero(max_wheel_rotation_angle, "max_wheel_rotation_angle")
        self.max_acceleration = _unlimited_if_zero(max_acceleration, "max_acceleration")
        self.max_steering_angle_velocity = _unlimited_if_zero(
            max_steering_angle_velocity, "max_steering_angle_velocity"
        )
        if kinematics not in {"published", "rigid_body"}:
            raise InputError(f"kinematics must be 'published' or 'rigid_body', got {kinematics!r}")
        self.invert_steering = bool(invert_steering)
        self.kinematics = kinematics
        self.keep_heading = keep_heading
        self._speed = 0.0
        self._steer = 0.0

    @np.errstate(all="ignore")  # finite_result rejects overflow.
    def forward(self, command: Sequence[float] | Array) -> ArticulationAction:
        """Return wheel angles and speeds, and store the state of the ramps.

        Args:
            command: ``[steer, steer_rate, speed, acceleration, dt]`` in rad, rad/s, m/s, m/s^2, s. A rate or an
                acceleration of 0 means immediately.

        Returns:
            ``joint_positions`` (left, right) of the steered wheels [rad] and ``joint_velocities`` (front left, front
            right, rear left, rear right) [rad/s]: they address different joints, see ``WheeledRobot``.

        Raises:
            InputError: The command is not five finite numbers, or has a ramp without a time step. The ramps are
                unchanged.
        """
        names = ("steer [rad]", "steer_rate [rad/s]", "speed [m/s]", "acceleration [m/s^2]", "dt [s]")
        steer, rate, speed, acceleration, dt = finite_vector(command, names, "Ackermann command").tolist()
        rate = self._limited_rate(rate, self.max_steering_angle_velocity)
        acceleration = self._limited_rate(acceleration, self.max_acceleration)
        dt = abs(dt)
        if dt == 0.0 and (rate != 0.0 or acceleration != 0.0):
            raise InputError("a steering rate or an acceleration needs a time step dt > 0, got dt = 0")
        largest = self.max_wheel_velocity * max(self.front_wheel_radius, self.back_wheel_radius)
        speed = _ramped(self._speed, _clip(speed, largest), acceleration, dt, SPEED_DEAD_BAND)
        steer = _ramped(self._steer, _clip(steer, self.max_wheel_rotation_angle), rate, dt, STEER_DEAD_BAND)
        angles, wheels = self._wheels(steer, speed)
        action = ArticulationAction(
            joint_positions=finite_result(
                np.clip(angles, -self.max_wheel_rotation_angle, self.max_wheel_rotation_angle), "a wheel angle"
            ),
            joint_velocities=finite_result(self._limited(wheels), "the wheel speed of an Ackermann drive"),
        )
        self._speed, self._steer = speed, steer
        return action

    @np.errstate(all="ignore")  # finite_result rejects overflow.
    def body_twist(self, wheel_angles: Sequence[float] | Array, wheel_velocities: Sequence[float] | Array) -> Array:
        """Return the twist (3,) = (v [m/s], 0, w [rad/s]) of the middle of the fixed axle.

        Least squares over all four wheels: each hub moves along its wheel at the rim speed, and not sideways.

        Args:
            wheel_angles: Steered wheels (left, right) [rad].
            wheel_velocities: Wheels (front left, front right, rear left, rear right) [rad/s].
        """
        left, right = finite_vector(wheel_angles, ("left", "right"), "wheel angles")
        names = ("front left", "front right", "rear left", "rear right")
        spin = finite_vector(wheel_velocities, names, "wheel velocities")
        angles = np.array([0.0, 0.0, left, right] if self.invert_steering else [left, right, 0.0, 0.0])
        cos, sin = np.cos(angles), np.sin(angles)
        x, y = self._hubs.T
        # The hub of a wheel at (x, y) moves at (v - w y, w x).
        along = np.stack([cos, sin * x - cos * y], axis=1)
        across = np.stack([-sin, cos * x + sin * y], axis=1)
        rows = finite_result(np.concatenate([along, across]), "the geometry of an Ackermann drive")
        rim = finite_result(spin * self._radii, "the rim speed of an Ackermann drive")
        v, w = np.linalg.lstsq(rows, np.concatenate([rim, np.zeros(4)]), rcond=None)[0]
        return finite_result(np.array([v, 0.0, w]), "the twist of an Ackermann drive")

    def reset(self) -> None:
        """Restart the ramps from rest, steering straight."""
        self._speed = 0.0
        self._steer = 0.0

    @property
    def _radii(self) -> Array:
        return np.array([self.front_wheel_radius] * 2 + [self.back_wheel_radius] * 2)

    @property
    def _hubs(self) -> Array:
        """Hubs (4, 2) relative to the middle of the fixed axle [m]: front left, front right, rear left, rear right."""
        half, base = self.track_width / 2.0, self.wheel_base
        front, rear = (0.0, -base) if self.invert_steering else (base, 0.0)
        return np.array([[front, half], [front, -half], [rear, half], [rear, -half]])

    def _wheels(self, steer: float, speed: float) -> tuple[Array, Array]:
        return self._published(steer, speed) if self.kinematics == "published" else self._rigid(steer, speed)

    def _published(self, steer: float, speed: float) -> tuple[Array, Array]:
        if abs(steer) < STRAIGHT_STEER:
            return np.zeros(2), speed / self._radii
        base, half = self.wheel_base, self.track_width / 2.0
        centre = (-1.0 if self.invert_steering else 1.0) * base / math.tan(steer)
        angles = np.arctan(base / np.array([centre - half, centre + half]))
        side = math.copysign(half, steer)
        lateral = np.array([abs(centre) - side, abs(centre) + side])
        steered = np.hypot(lateral, base)
        front, rear = (lateral, steered) if self.invert_steering else (steered, lateral)
        wheels = np.float64(speed) / abs(centre) * np.concatenate([front, rear]) / self._radii
        return angles, wheels

    def _rigid(self, steer: float, speed: float) -> tuple[Array, Array]:
        yaw_rate = speed * math.tan(steer) / self.wheel_base
        # The angles must not depend on the speed, so they come from the motion at 1 m/s.
        x, y = self._hubs.T
        curvature = math.tan(steer) / self.wheel_base
        angles = np.arctan2(curvature * x, 1.0 - curvature * y)
        # A wheel that would have to turn beyond 90 degrees is turned by 180 degrees less and rolls backwards instead.
        angles = np.arctan(np.tan(angles))
        wheels = ((speed - yaw_rate * y) * np.cos(angles) + yaw_rate * x * np.sin(angles)) / self._radii
        return angles[2:] if self.invert_steering else angles[:2], wheels

    def _limited_rate(self, rate: float, bound: float) -> float:
        """Return a rate clamped to its limit; the published controller keeps its sign if there is no limit."""
        return rate if self.kinematics == "published" and bound == math.inf else min(abs(rate), bound)

    def _limited(self, wheels: Array) -> Array:
        if not self.keep_heading:
            return np.clip(wheels, -self.max_wheel_velocity, self.max_wheel_velocity)
        fastest = float(np.max(np.abs(wheels)))
        return wheels * (self.max_wheel_velocity / fastest) if fastest > self.max_wheel_velocity else wheels


def _unlimited_if_zero(value: float, what: str) -> float:
    return limit(abs(value) if isinstance(value, int | float) else value, what) or math.inf


def _clip(value: float, bound: float) -> float:
    return max(-bound, min(bound, value))


def _ramped(present: float, target: float, rate: float, dt: float, dead_band: float) -> float:
    """Return the next value towards ``target``: the target itself for rate 0, unchanged within the dead band.

    A negative rate moves away from it indefinitely.
    """
    if rate == 0.0:
        return target
    gap = target - present
    if abs(gap) <= dead_band:
        return present
    return target if abs(gap) <= rate * dt else present + (rate * dt if gap > 0.0 else -rate * dt)
