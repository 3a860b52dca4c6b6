"""Smooth paths between two planar states: one quintic polynomial in time for x, one for y."""

import math

import numpy as np

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.isaac.wheeled.arguments import finite_number, limit, positive_number

# Durations tried: 5 s, 10 s, ... 95 s, as the published planner does.
DURATION_STEP = 5.0
DURATION_END = 100.0
# A time step below DURATION_END / MAX_SAMPLES would only exhaust memory.
MAX_SAMPLES = 1_000_000


class QuinticPolynomial:
    """``p(t) = a0 + a1 t + ... + a5 t^5`` with given position, speed and acceleration at both ends.

    With h the end state minus the quadratic a0 + a1 t + a2 t^2 at T, in position, speed and acceleration::

        a3 = ( 10 h0 - 4 h1 T + h2 T^2 / 2) / T^3
        a4 = (-15 h0 + 7 h1 T - h2 T^2) / T^4
        a5 = (  6 h0 - 3 h1 T + h2 T^2 / 2) / T^5

    Args:
        xs: Position at t = 0.
        vxs: Speed at t = 0.
        axs: Acceleration at t = 0.
        xe: Position at t = time.
        vxe: Speed at t = time.
        axe: Acceleration at t = time.
        time: T > 0 [s].
    """

    def __init__(self, xs: float, vxs: float, axs: float, xe: float, vxe: float, axe: float, time: float) -> None:
        a2, T = axs / 2.0, positive_number(time, "time")
        h0 = xe - (xs + vxs * T + a2 * T * T)
        h1 = (vxe - (vxs + axs * T)) * T
        h2 = (axe - axs) * T * T
        a3 = (10.0 * h0 - 4.0 * h1 + 0.5 * h2) / T**3
        a4 = (-15.0 * h0 + 7.0 * h1 - h2) / T**4
        a5 = (6.0 * h0 - 3.0 * h1 + 0.5 * h2) / T**5
        self.coefficients = np.array([xs, vxs, a2, a3, a4, a5])
        """(6,) a0 to a5."""

    def calc_point(self, t: float) -> float:
        """Return the position at a time [s]."""
        return float(self.derivative(np.asarray(t)))

    def calc_first_derivative(self, t: float) -> float:
        """Return the speed at a time [s]."""
        return float(self.derivative(np.asarray(t), 1))

    def calc_second_derivative(self, t: float) -> float:
        """Return the acceleration at a time [s]."""
        return float(self.derivative(np.asarray(t), 2))

    def calc_third_derivative(self, t: float) -> float:
        """Return the jerk at a time [s]."""
        return float(self.derivative(np.asarray(t), 3))

    def derivative(self, times: Array, order: int = 0) -> Array:
        """Return the ``order``-th derivative at ``times`` (n,); order 0 is the position."""
        slope = np.polynomial.polynomial.polyder(self.coefficients, order)
        return np.asarray(np.polynomial.polynomial.polyval(times, slope), np.float64)


def quintic_polynomials_planner(
    sx: float,
    sy: float,
    syaw: float,
    sv: float,
    sa: float,
    gx: float,
    gy: float,
    gyaw: float,
    gv: float,
    ga: float,
    max_accel: float,
    max_jerk: float,
    dt: float,
) -> tuple[Array, Array, Array, Array, Array, Array, Array]:
    """Plan from a start to a goal, in the shortest of 5, 10, ... 95 s that satisfies both limits.

    Args:
        sx: Start x [m].
        sy: Start y [m].
        syaw: Start heading [rad].
        sv: Start speed [m/s].
        sa: Start acceleration [m/s^2].
        gx: Goal x [m].
        gy: Goal y [m].
        gyaw: Goal heading [rad].
        gv: Goal speed [m/s].
        ga: Goal acceleration [m/s^2].
        max_accel: Limit of the acceleration [m/s^2].
        max_jerk: Limit of the jerk [m/s^3].
        dt: Time between samples [s].

    Returns:
        ``time, x, y, yaw, v, a, j``, each (n,). ``a`` and ``j`` are magnitudes, negative where ``v`` or ``a``
        decreases. At standstill the heading is that of the nearer end.

    Raises:
        InputError: A value is not finite, dt <= 0, or no duration satisfies the limits.
    """
    names = ("sx", "sy", "syaw", "sv", "sa", "gx", "gy", "gyaw", "gv", "ga")
    values = (sx, sy, syaw, sv, sa, gx, gy, gyaw, gv, ga)
    sx, sy, syaw, sv, sa, gx, gy, gyaw, gv, ga = (
        finite_number(value, name) for name, value in zip(names, values, strict=True)
    )
    max_accel, max_jerk = limit(max_accel, "max_accel"), limit(max_jerk, "max_jerk")
    dt = positive_number(dt, "dt")
    if dt * MAX_SAMPLES < DURATION_END:
        raise InputError(f"dt = {dt} s needs more than {MAX_SAMPLES} samples; use a longer time step")
    start = [(sx, sv * math.cos(syaw), sa * math.cos(syaw)), (sy, sv * math.sin(syaw), sa * math.sin(syaw))]
    goal = [(gx, gv * math.cos(gyaw), ga * math.cos(gyaw)), (gy, gv * math.sin(gyaw), ga * math.sin(gyaw))]
    least = math.inf
    for duration in np.arange(DURATION_STEP, DURATION_END, DURATION_STEP).tolist():
        with np.errstate(over="ignore", invalid="ignore"):
            plan = _sampled(start, goal, (syaw, gyaw), duration, dt)
        a, j = np.max(np.abs(plan[5])), np.max(np.abs(plan[6]))
        if a <= max_accel and j <= max_jerk and all(np.all(np.isfinite(row)) for row in plan):
            return plan
        least = min(least, float(a))
    raise InputError(
        f"no path of up to {DURATION_END - DURATION_STEP:.0f} s satisfies max_accel {max_accel} m/s^2 and max_jerk "
        f"{max_jerk} m/s^3; the gentlest one tried needs {least:.4g} m/s^2: raise the limits or move the goal closer"
    )


def _sampled(
    start: list[tuple[float, float, float]],
    goal: list[tuple[float, float, float]],
    yaws: tuple[float, float],
    duration: float,
    dt: float,
) -> tuple[Array, Array, Array, Array, Array, Array, Array]:
    times = np.arange(0.0, duration + dt, dt)
    x, y = (QuinticPolynomial(*s, *g, duration) for s, g in zip(start, goal, strict=True))
    vx, vy = x.derivative(times, 1), y.derivative(times, 1)
    v = np.hypot(vx, vy)
    a = np.hypot(x.derivative(times, 2), y.derivative(times, 2))
    j = np.hypot(x.derivative(times, 3), y.derivative(times, 3))
    a[1:] = np.where(np.diff(v) < 0.0, -a[1:], a[1:])
    j[1:] = np.where(np.diff(a) < 0.0, -j[1:], j[1:])
    resting = np.where(times < duration / 2.0, yaws[0], yaws[1])
    yaw = np.where(v > 0.0, np.arctan2(vy, vx), resting)
    return times, x.derivative(times), y.derivative(times), yaw, v, a, j
