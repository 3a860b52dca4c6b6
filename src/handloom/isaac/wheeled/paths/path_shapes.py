"""Courses to drive: square, circle and figure eight, timed within limits."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from handloom.arrays import Array
from handloom.isaac.wheeled.arguments import positive_number
from handloom.isaac.wheeled.paths.path_tracker import DrivePath

Heading = Literal["tangent", "fixed"]

# Geometry is integrated on this many points, which closes a course to a micrometre.
POINTS = 20_001


@dataclass(frozen=True, kw_only=True)
class PathLimits:
    """Limits for driving a course."""

    speed: float
    """[m/s]."""
    acceleration: float
    """[m/s^2]."""
    turn_rate: float
    """[rad/s]."""
    turn_acceleration: float
    """[rad/s^2]."""
    bend_rate: float = math.inf
    """Rate of change of the curvature, for cars, whose steering takes time [1/m/s]."""
    sample: float = 0.01
    """Time between samples [s]."""

    def __post_init__(self) -> None:
        """Reject limits that allow no motion."""
        for name in ("speed", "acceleration", "turn_rate", "turn_acceleration", "sample"):
            positive_number(getattr(self, name), name)


def square_path(side: float, limits: PathLimits, *, heading: Heading = "tangent") -> DrivePath:
    """Return a square driven counter-clockwise, with a stop in each corner.

    Args:
        side: Length of a side [m].
        limits: How fast.
        heading: ``tangent`` turns on the spot in each corner; ``fixed`` never turns and moves sideways where needed.
    """
    side = positive_number(side, "side")
    corners = side * np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    timetable = _Timetable(limits.sample)
    for leg in range(4):
        start, end = corners[leg], corners[leg + 1]
        course = leg * math.pi / 2.0
        yaw = course if heading == "tangent" else 0.0
        timetable.drive(start, end, yaw, limits)
        if heading == "tangent":
            timetable.turn(end, yaw, yaw + math.pi / 2.0, limits)
    return timetable.path("square")


def rounded_square_path(side: float, corner_radius: float, limits: PathLimits, *, ramp: float) -> DrivePath:
    """Return a square for a car: the corners are arcs, entered and left on clothoids.

    Args:
        side: Length of the straight part of a side [m].
        corner_radius: Radius of the arcs [m].
        limits: How fast.
        ramp: Length over which the curvature grows from zero to that of the arc [m].
    """
    side, radius = positive_number(side, "side"), positive_number(corner_radius, "corner_radius")
    ramp = min(positive_number(ramp, "ramp"), 0.999 * radius * math.pi / 2.0)
    # The heading change in a corner is (ramp + arc) / radius = pi / 2.
    arc = radius * math.pi / 2.0 - ramp
    ends = np.cumsum([0.0, side / 2, ramp, arc, ramp, side, ramp, arc, ramp, side / 2])
    bends = np.array([0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0]) / radius
    length = 2.0 * float(ends[-1])
    s = np.linspace(0.0, length, POINTS)
    curvature = np.interp(s % ends[-1], ends, bends)
    yaw = _integral(curvature, s)
    xy = np.stack([_integral(np.cos(yaw), s), _integral(np.sin(yaw), s)], axis=1)
    return _timed("square", s, xy, yaw, curvature, limits, "tangent")


def circle_path(radius: float, limits: PathLimits, *, heading: Heading = "tangent") -> DrivePath:
    """Return one counter-clockwise lap of a circle that starts at the origin along x."""
    radius = positive_number(radius, "radius")
    angle = np.linspace(0.0, 2.0 * math.pi, POINTS)
    xy = radius * np.stack([np.sin(angle), 1.0 - np.cos(angle)], axis=1)
    return _timed("circle", radius * angle, xy, angle, np.full(POINTS, 1.0 / radius), limits, heading)


def figure8_path(length: float, width: float, limits: PathLimits, *, heading: Heading = "tangent") -> DrivePath:
    """Return a lemniscate of Gerono, ``x = length / 2 sin t, y = width / 2 sin 2t``, from its crossing."""
    a, b = positive_number(length, "length") / 2.0, positive_number(width, "width") / 2.0
    t = np.linspace(0.0, 2.0 * math.pi, POINTS)
    xy = np.stack([a * np.sin(t), b * np.sin(2 * t)], axis=1)
    dx, dy = a * np.cos(t), 2 * b * np.cos(2 * t)
    ddx, ddy = -a * np.sin(t), -4 * b * np.sin(2 * t)
    speed = np.hypot(dx, dy)
    curvature = (dx * ddy - dy * ddx) / speed**3
    return _timed("figure8", _integral(speed, t), xy, np.unwrap(np.arctan2(dy, dx)), curvature, limits, heading)


class _Timetable:
    """Collects segments that begin and end at rest."""

    def __init__(self, sample: float) -> None:
        self._sample = sample
        self._rows: list[Array] = []
        self._now = 0.0

    def drive(self, start: Array, end: Array, yaw: float, limits: PathLimits) -> None:
        way = end - start
        distance = float(np.hypot(*way))
        times, done, speed = _rest_to_rest(distance, limits.speed, limits.acceleration, self._sample)
        xy = start + np.outer(done / distance, way)
        course = math.atan2(way[1], way[0]) - yaw
        zero = np.zeros(len(times))
        self._add(times, xy, zero + yaw, np.stack([speed * math.cos(course), speed * math.sin(course), zero], axis=1))

    def turn(self, place: Array, start: float, end: float, limits: PathLimits) -> None:
        times, done, rate = _rest_to_rest(end - start, limits.turn_rate, limits.turn_acceleration, self._sample)
        zero = np.zeros(len(times))
        self._add(times, zero[:, None] + place, start + done, np.stack([zero, zero, rate], axis=1))

    def _add(self, times: Array, xy: Array, yaw: Array, twists: Array) -> None:
        rows = np.concatenate([(self._now + times)[:, None], xy, yaw[:, None], twists], axis=1)
        self._rows.append(rows[1:] if self._rows else rows)
        self._now = float(rows[-1, 0])

    def path(self, name: str) -> DrivePath:
        rows = np.concatenate(self._rows)
        return DrivePath(name=name, times=rows[:, 0], poses=rows[:, 1:4], twists=rows[:, 4:7])


def _rest_to_rest(distance: float, speed: float, acceleration: float, sample: float) -> tuple[Array, Array, Array]:
    """Return times, distance and speed of the fastest motion from rest to rest under both limits."""
    peak = min(speed, math.sqrt(distance * acceleration))
    ramp = peak / acceleration
    total = distance / peak + ramp
    times = np.linspace(0.0, total, max(2, math.ceil(total / sample) + 1))
    left = total - times
    speeds = np.minimum(peak, acceleration * np.minimum(times, left))
    up, down = 0.5 * acceleration * times**2, distance - 0.5 * acceleration * left**2
    done = np.where(times < ramp, up, np.where(left < ramp, down, peak * (times - ramp / 2.0)))
    return times, done, speeds


def _timed(
    name: str, s: Array, xy: Array, yaw: Array, curvature: Array, limits: PathLimits, heading: Heading
) -> DrivePath:
    """Time a curve given by arc length from rest to rest, slowly enough for its sharpest bend."""
    bend = float(np.max(np.abs(curvature)))
    bend_growth = float(np.max(np.abs(np.diff(curvature) / np.diff(s))))
    speed = min(limits.speed, limits.bend_rate / max(bend_growth, 1e-9))
    if heading == "tangent":
        speed = min(speed, limits.turn_rate / bend)
    times, done, speeds = _rest_to_rest(float(s[-1]), speed, limits.acceleration, limits.sample)
    x, y, course, bends = (np.interp(done, s, column) for column in (xy[:, 0], xy[:, 1], yaw, curvature))
    facing = course if heading == "tangent" else np.full_like(course, course[0])
    rate = speeds * bends if heading == "tangent" else np.zeros_like(course)
    twists = np.stack([speeds * np.cos(course - facing), speeds * np.sin(course - facing), rate], axis=1)
    return DrivePath(name=name, times=times, poses=np.stack([x, y, facing], axis=1), twists=twists)


def _integral(values: Array, over: Array) -> Array:
    """Return the running integral by the trapezoidal rule, starting at 0."""
    steps = 0.5 * (values[1:] + values[:-1]) * np.diff(over)
    return np.concatenate([[0.0], np.cumsum(steps)])
