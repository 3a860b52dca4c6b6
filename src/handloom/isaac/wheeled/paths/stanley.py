"""Stanley path tracking: steer the front axle of a bicycle model back onto a path and along it."""

import math
from collections.abc import Sequence

import numpy as np

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.isaac.wheeled.arguments import finite_array, finite_number, positive_number
from handloom.isaac.wheeled.planar_odometry import normalize_angle

# 5 degrees, as published.
DEFAULT_MAX_STEERING = math.radians(5.0)


class BicycleState:
    """Pose and speed of the rear axle of a kinematic bicycle; ``update`` advances it in place."""

    def __init__(
        self,
        wheel_base: float,
        x: float = 0.0,
        y: float = 0.0,
        yaw: float = 0.0,
        v: float = 0.0,
        max_steering_angle: float = DEFAULT_MAX_STEERING,
        *,
        Ks: float | None = None,
    ) -> None:
        """Put the bicycle somewhere.

        Args:
            wheel_base: Distance between the axles, > 0 [m].
            x: Position [m].
            y: Position [m].
            yaw: Heading [rad].
            v: Speed [m/s].
            max_steering_angle: Steering is clipped to this on either side [rad].
            Ks: The same as ``max_steer``, under its older published name.

        Raises:
            InputError: A value is not finite, or the wheel base is not > 0.
        """
        self.wheel_base = positive_number(wheel_base, "wheel_base")
        self.x = finite_number(x, "x")
        self.y = finite_number(y, "y")
        self.yaw = finite_number(yaw, "yaw")
        self.v = finite_number(v, "v")
        most = max_steering_angle if Ks is None else Ks
        self.max_steering_angle = abs(finite_number(most, "max_steering_angle"))
        self.w = 0.0

    @property
    def Ks(self) -> float:  # noqa: N802 - published name
        """Largest steering angle [rad], under its older published name."""
        return self.max_steering_angle

    @Ks.setter
    def Ks(self, most: float) -> None:  # noqa: N802 - published name
        self.max_steering_angle = abs(finite_number(most, "Ks"))

    def update(self, acceleration: float, delta: float, dt: float) -> None:
        """Advance by one explicit Euler step.

        Args:
            acceleration: Acceleration along the heading [m/s^2].
            delta: Steering angle [rad]; clipped.
            dt: Time step [s].

        Raises:
            InputError: A value is not finite; the state is unchanged.
        """
        a, step = finite_number(acceleration, "acceleration"), finite_number(dt, "dt")
        steer = max(-self.max_steering_angle, min(self.max_steering_angle, finite_number(delta, "delta")))
        x = finite_number(self.x + self.v * math.cos(self.yaw) * step, "the new x")
        y = finite_number(self.y + self.v * math.sin(self.yaw) * step, "the new y")
        w = finite_number(self.v / self.wheel_base * math.tan(steer), "the new yaw rate")
        yaw = normalize_angle(self.yaw + w * step)
        v = finite_number(self.v + a * step, "the new speed")
        self.x, self.y, self.w, self.yaw, self.v = x, y, w, yaw, v


Numbers = Sequence[float] | Array


def pid_control(target: float, current: float, Kp: float = 0.1) -> float:
    """Return the acceleration ``Kp (target - current)`` [m/s^2]; proportional only, as published."""
    return finite_number(
        finite_number(Kp, "Kp") * (finite_number(target, "target") - finite_number(current, "current")), "acceleration"
    )


def stanley_control(
    state: BicycleState,
    cx: Numbers,
    cy: Numbers,
    cyaw: Numbers,
    last_target_idx: int,
    p: float = 0.0,
    i: float = 0.0,
    d: float = 0.0,
    k: float = 0.5,
) -> tuple[float, int]:
    """Return the steering angle that brings the front axle back to the path.

    ``delta = wrap(path yaw - yaw) + atan2(k e, v)``, with e the distance of the front axle to the right of
    the path.

    Args:
        state: State of the car.
        cx: Path x (n,) [m].
        cy: Path y (n,) [m].
        cyaw: Path headings (n,) [rad].
        last_target_idx: Previous index on the path; the path is never followed backwards.
        p: No effect, as published; the gain of the published node is passed here.
        i: Without effect.
        d: Without effect.
        k: Gain for the cross-track distance [1/s].

    Returns:
        The steering angle [rad], not clipped, and the index of the nearest path point.

    Raises:
        InputError: The paths have different lengths, are empty or not finite, or the index is outside the path.
    """
    del p, i, d
    path_yaw = finite_array(cyaw, (-1,), "cyaw")
    if not 0 <= int(last_target_idx) < len(path_yaw):
        raise InputError(f"last_target_idx must lie in 0 ... {len(path_yaw) - 1}, got {last_target_idx}")
    nearest, error = calc_target_index(state, cx, cy)
    if len(path_yaw) != np.size(cx):
        raise InputError(f"cx and cyaw must have the same length, got {np.size(cx)} and {len(path_yaw)}")
    index = max(nearest, int(last_target_idx))
    heading = normalize_angle(float(path_yaw[index]) - state.yaw)
    crossing = math.atan2(finite_number(k, "k") * normalize_angle(error), state.v)
    return heading + crossing, index


def calc_target_index(state: BicycleState, cx: Numbers, cy: Numbers) -> tuple[int, float]:
    """Return the path point nearest to the front axle and the distance [m] of the axle to the right of it.

    Args:
        state: State of the car.
        cx: Path x (n,) [m].
        cy: Path y (n,) [m].
    """
    path_x = finite_array(cx, (-1,), "cx")
    path_y = finite_array(cy, (len(path_x),), "cy")
    front_x = state.x + state.wheel_base * math.cos(state.yaw)
    front_y = state.y + state.wheel_base * math.sin(state.yaw)
    with np.errstate(over="ignore"):
        index = int(np.argmin(np.hypot(front_x - path_x, front_y - path_y)))
        dx, dy = front_x - path_x[index], front_y - path_y[index]
        # The unit vector to the right of the car is (sin yaw, -cos yaw).
        error = float(dx * math.sin(state.yaw) - dy * math.cos(state.yaw))
    return index, finite_number(error, "the distance to the path")
