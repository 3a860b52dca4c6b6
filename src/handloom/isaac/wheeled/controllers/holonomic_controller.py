"""Omni and mecanum wheels: positions and drive directions, conversion of body twist to wheel speeds and back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.isaac.controller import BaseController
from handloom.isaac.wheeled.arguments import (
    finite_array,
    finite_number,
    finite_result,
    finite_vector,
    float_array,
    limit,
)
from handloom.spatial import quat_from_axis_angle, quat_multiply, quat_normalize, quat_rotate
from handloom.values import ArticulationAction

# The smallest normal number: prevents a division by zero when dividing by the largest entry.
TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, kw_only=True)
class HolonomicLayout:
    """Wheels with rollers, relative to the centre of the base; built by ``HolonomicLayout.of``.

    Wheel i pushes along ``d_i = Rot(up, angle_i) R(q_i) wheel_axis``: the axle, rotated by the roller angle. By that
    published convention a positive speed at 90 degrees moves the hub along ``up x axle``; a joint that follows
    the right-hand rule rolls the other way, so its model has a negative angle (-90 for an omni wheel).
    """

    radius: Array
    """Wheel radii (n,) [m]."""
    positions: Array
    """Wheel centres in the base (n, 3) [m]."""
    directions: Array
    """Unit vectors (n, 3) along which the wheels push."""
    grip: Array
    """|sin| of the roller angles (n,): the fraction of the rim speed that acts along the direction."""

    @classmethod
    @np.errstate(all="ignore")  # Overflow is rejected when the layout is used.
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
            wheel_orientations: Wheel frames (n, 4), wxyz, of any norm but zero.
            mecanum_angles: One roller angle or one per wheel [deg].
            wheel_axis: Axle in the wheel frame (3,).
            up_axis: Up in the base (3,).

        Raises:
            InputError: A shape does not fit, a radius is not > 0, an axis or quaternion is zero, or a value is not
                finite.
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
        raise InputError(f"{what} has length zero and thus no direction")
    return scaled / norm


# Singular values below this fraction of the largest count as zero: a direction the wheels cannot drive.
RANK_TOLERANCE = 1e-9


class HolonomicController(BaseController):
    """Computes the wheel speeds of a robot whose wheels carry rollers, so that it can move in every direction.

    ``kinematics="published"`` (the default) gives the results that ported code expects: the wheel speeds ``x`` with the
    smallest ``x' P x``, ``P = diag(r) / |r|``, among those with ``A x = (vx, vy, w)``, where ``A`` sums the drive
    vectors ``r_i d_i`` and their moments ``r_i d_i x p_i``. The closed-form solution is the exact minimum; the test
    values published for the original are those at which its iterative solver stopped, 0.03 % away. That problem sums
    the drive vectors of the wheels. It does not require each wheel to follow the body: a robot with three omni wheels
    at distance d moves at 2/3 of the commanded speed and turns at -1 / (3 d^2) times the commanded rate, unless
    ``linear_gain`` and ``angular_gain`` compensate.

    ``kinematics="rigid_body"`` does require it: ``x_i = d_i . (v + w z x p_i) / (r_i |sin angle_i|)``. A robot on the
    floor then moves as commanded, without gains.

    If the wheels cannot produce a motion (e.g. all are parallel), both return the least-squares solution with the
    smallest wheel speeds; ``unreachable`` returns the missing part.
    """

    def __init__(
        self,
        name: str,
        wheel_radius: ArrayLike,
        wheel_positions: ArrayLike,
        wheel_orientations: ArrayLike,
        mecanum_angles: ArrayLike,
        wheel_axis: ArrayLike = (1.0, 0.0, 0.0),
        up_axis: ArrayLike = (0.0, 0.0, 1.0),
        max_linear_speed: float = 1e20,
        max_angular_speed: float = 1e20,
        max_wheel_speed: float = 1e20,
        linear_gain: float = 1.0,
        angular_gain: float = 1.0,
        *,
        kinematics: Literal["published", "rigid_body"] = "published",
        keep_heading: bool = False,
    ) -> None:
        """Store the layout and solve once for the wheel speeds of unit commands.

        Args:
            name: Name of the controller.
            wheel_radius: One radius or one per wheel, > 0 [m].
            wheel_positions: Wheel centres in the base (n, 3) [m]; z is ignored.
            wheel_orientations: Wheel frames in the base (n, 4), wxyz.
            mecanum_angles: Roller angle against the axle, one or one per wheel [deg]; 90 for omni wheels.
            wheel_axis: Axle in the wheel frame (3,).
            up_axis: Up in the base (3,).
            max_linear_speed: Limit of the norm of (vx, vy) [m/s].
            max_angular_speed: Limit of |w| [rad/s].
            max_wheel_speed: Limit of the fastest wheel [rad/s]; all wheels are scaled together.
            linear_gain: Factor on (vx, vy).
            angular_gain: Factor on w.
            kinematics: See the class.
            keep_heading: Scale (vx, vy) and w by one factor when either meets its limit.

        Raises:
            InputError: A shape does not fit, a radius is not > 0, a limit is negative, or a value is not finite.
        """
        super().__init__(name)
        self.layout = HolonomicLayout.of(
            wheel_radius=wheel_radius,
            wheel_positions=wheel_positions,
            wheel_orientations=wheel_orientations,
            mecanum_angles=mecanum_angles,
            wheel_axis=wheel_axis,
            up_axis=up_axis,
        )
        self.max_linear_speed = limit(max_linear_speed, "max_linear_speed")
        self.max_angular_speed = limit(max_angular_speed, "max_angular_speed")
        self.max_wheel_speed = limit(max_wheel_speed, "max_wheel_speed")
        self.linear_gain = finite_number(linear_gain, "linear_gain")
        self.angular_gain = finite_number(angular_gain, "angular_gain")
        self.keep_heading = keep_heading
        if kinematics not in {"published", "rigid_body"}:
            raise InputError(f"kinematics must be 'published' or 'rigid_body', got {kinematics!r}")
        self.kinematics = kinematics
        self.build_base()

    def build_base(self) -> None:
        """Solve for the wheel speeds of unit commands; call again after replacing ``layout`` or ``kinematics``."""
        solve = _least_effort if self.kinematics == "published" else _rolling_inverse
        self._wheels_of_twist = solve(self.layout)

    @np.errstate(all="ignore")  # Overflow is rejected by finite_result.
    def forward(self, command: Sequence[float] | Array) -> ArticulationAction:
        """Return the wheel speeds for a body twist.

        Args:
            command: ``[vx, vy, w]``: forward and left speed [m/s], yaw rate [rad/s].

        Returns:
            An action with ``joint_velocities`` (n,) [rad/s], in the order of the wheels given.

        Raises:
            InputError: Not three finite numbers.
        """
        vx, vy, w = finite_vector(command, ("vx [m/s]", "vy [m/s]", "w [rad/s]"), "holonomic command")
        twist = self._limited(np.array([vx, vy]) * self.linear_gain, w * self.angular_gain)
        wheels = self._wheels_of_twist @ twist
        fastest = float(np.max(np.abs(wheels)))
        if fastest > self.max_wheel_speed:
            wheels = wheels * (self.max_wheel_speed / fastest)
        return ArticulationAction(joint_velocities=finite_result(wheels, "the wheel speed of a holonomic drive"))

    @np.errstate(all="ignore")  # Overflow is rejected by finite_result.
    def body_twist(self, wheel_velocities: Sequence[float] | Array) -> Array:
        """Return the twist (3,) = (vx, vy [m/s], w [rad/s]) that best fits wheel speeds (n,) [rad/s] without slip.

        This is the motion of the body on the floor, the least-squares solution over all wheels, regardless of the
        ``kinematics`` used for the command.
        """
        wheels = finite_array(wheel_velocities, (len(self.layout.radius),), "wheel velocities")
        hub_speeds = self.layout.radius * self.layout.grip * wheels
        twist = _scaled_pinv(self.layout.rolling, column_scale=self._twist_scale) @ hub_speeds
        return finite_result(twist, "the twist of a holonomic drive")

    @np.errstate(all="ignore")  # Overflow is rejected by finite_result.
    def unreachable(self, command: Sequence[float] | Array) -> Array:
        """Return the part (3,) of a twist ``[vx, vy, w]`` that these wheels cannot produce; zeros if none."""
        twist = finite_vector(command, ("vx [m/s]", "vy [m/s]", "w [rad/s]"), "holonomic command")
        rolling = self.layout.rolling
        reached = _scaled_pinv(rolling, column_scale=self._twist_scale) @ (rolling @ twist)
        return finite_result(twist - reached, "the missing part of a twist")

    def reset(self) -> None:
        """Do nothing: this controller has no memory. Present because every controller has it."""

    @property
    def _twist_scale(self) -> Array:
        return np.array([1.0, 1.0, 1.0 / _arm(self.layout)])

    def _limited(self, linear: Array, angular: float) -> Array:
        speed = float(finite_result(np.hypot(linear[0], linear[1]), "the speed of a holonomic drive"))
        linear_share = self.max_linear_speed / speed if speed > self.max_linear_speed else 1.0
        angular_share = self.max_angular_speed / abs(angular) if abs(angular) > self.max_angular_speed else 1.0
        if self.keep_heading:
            linear_share = angular_share = min(linear_share, angular_share)
        return np.array([linear[0] * linear_share, linear[1] * linear_share, angular * angular_share])


def _arm(layout: HolonomicLayout) -> float:
    """Return the largest wheel distance from the centre [m], to weigh turning against moving; 1 if zero."""
    return float(np.max(np.hypot(layout.positions[:, 0], layout.positions[:, 1]))) or 1.0


@np.errstate(all="ignore")  # Overflow is rejected by finite_result.
def _scaled_pinv(matrix: Array, *, column_scale: Array) -> Array:
    """Return the pseudo-inverse after scaling columns, so that metres and radians do not decide the rank."""
    scaled = finite_result(matrix * column_scale, "a wheel layout")
    return column_scale[:, None] * np.linalg.pinv(scaled, rcond=RANK_TOLERANCE)


@np.errstate(all="ignore")  # Overflow is rejected by finite_result.
def _least_effort(layout: HolonomicLayout) -> Array:
    """Return the matrix (n, 3) from (vx, vy, w) to the x that minimises x' P x under A x = (vx, vy, w).

    With y = sqrt(P) x the problem is the minimum norm solution of (A P^-1/2) y = b, a pseudo-inverse.
    Only the ratio of the radii matters in P, so their norm cancels.
    """
    root = np.sqrt(layout.radius / np.max(layout.radius))
    # The moment row has the unit of the others after division by a length; an exact solution does not change.
    row_scale = np.array([1.0, 1.0, 1.0 / _arm(layout)]) / np.max(layout.radius)
    scaled = finite_result(row_scale[:, None] * layout.sums / root, "a wheel layout")
    inverse = np.linalg.pinv(scaled, rcond=RANK_TOLERANCE) * row_scale
    return finite_result(inverse / root[:, None], "a wheel layout")


@np.errstate(all="ignore")  # Overflow is rejected by finite_result.
def _rolling_inverse(layout: HolonomicLayout) -> Array:
    """Return the matrix (n, 3) from a body twist to the wheel speeds that roll without slip."""
    if np.any(layout.grip < RANK_TOLERANCE):
        raise InputError(
            "a roller angle of 0 or 180 degrees lets the wheel spin without pushing; use 90 for omni wheels"
        )
    return finite_result(layout.rolling / (layout.radius * layout.grip)[:, None], "a wheel layout")
