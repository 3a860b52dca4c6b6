"""Stanley path tracking: steer the front axle back onto a path and along it."""

import math
from collections.abc import Sequence

import numpy as np

from handloom.arrays import Array
from handloom.control.wheeled.angles import normalize_angle
from handloom.control.wheeled.arguments import finite_array, finite_number
from handloom.control.wheeled.bicycle_state import BicycleState
from handloom.errors import InputError

Numbers = Sequence[float] | Array


def pid_control(target: float, current: float, kp: float = 0.1) -> float:
    """Return the acceleration ``kp (target - current)`` [m/s^2]; proportional only, as published."""
    return finite_number(
        finite_number(kp, "kp") * (finite_number(target, "target") - finite_number(current, "current")), "acceleration"
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
        state: Where the car is.
        cx: Path x (n,) [m].
        cy: Path y (n,) [m].
        cyaw: Path headings (n,) [rad].
        last_target_idx: Where on the path it was; the path is never followed backwards.
        p: Without effect, as published; the gain of the published node arrives here.
        i: Without effect.
        d: Without effect.
        k: Gain of the distance [1/s].

    Returns:
        The steering angle [rad], not clipped, and the index of the nearest path point.

    Raises:
        InputError: Paths of different lengths, empty or not finite; an index outside the path.
    """
    del p, i, d
    path_yaw = finite_array(cyaw, (-1,), "cyaw")
    if not 0 <= int(last_target_idx) < len(path_yaw):
        raise InputError(f"last_target_idx must lie in 0 ... {len(path_yaw) - 1}, got {last_target_idx}")
    nearest, error = calc_target_index(state, cx, cy)
    if len(path_yaw) != np.size(cx):
        raise InputError(f"cx and cyaw must have one length, got {np.size(cx)} and {len(path_yaw)}")
    index = max(nearest, int(last_target_idx))
    heading = normalize_angle(float(path_yaw[index]) - state.yaw)
    crossing = math.atan2(finite_number(k, "k") * normalize_angle(error), state.v)
    return heading + crossing, index


def calc_target_index(state: BicycleState, cx: Numbers, cy: Numbers) -> tuple[int, float]:
    """Return the path point nearest to the front axle and the distance [m] of the axle to the right of it.

    Args:
        state: Where the car is.
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
