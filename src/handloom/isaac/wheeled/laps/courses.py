"""The courses of ``handloom drive``, scaled to the size and the limits of a robot."""

import math
from collections.abc import Callable

from handloom.errors import unknown_name
from handloom.isaac.wheeled.paths.path_shapes import (
    Heading,
    PathLimits,
    circle_path,
    figure8_path,
    rounded_square_path,
    square_path,
)
from handloom.isaac.wheeled.paths.path_tracker import DrivePath
from handloom.robots import DriveConfig

# Fraction of a limit that a course uses; the rest is reserved for corrections.
MARGIN = 0.75
# Limits assumed if a robot states none: m/s, m/s^2, rad/s.
SPEED, ACCELERATION, TURN_RATE = 0.5, 0.5, 1.0
# Largest curvature of a figure eight of length 1 that is twice as long as wide.
FIGURE8_BEND = 9.6


def course(name: str, drive: DriveConfig, *, size: float | None = None) -> DrivePath:
    """Return a course that a robot can drive.

    Args:
        name: ``square``, ``circle`` or ``figure8``.
        drive: Drive of the robot.
        size: Side, diameter or half the length of the figure eight [m]; None: five times the wheel distance. A car gets
            corners and bends no tighter than 1.1 times its turning circle.

    Raises:
        NotFoundError: No such course.
    """
    if name not in COURSES:
        raise unknown_name("course", name, COURSES)
    extent = max(drive.track_width, drive.wheel_base, 0.16)
    return COURSES[name](drive, 5.0 * extent if size is None else size)


def turning_radius(drive: DriveConfig) -> float:
    """Return the smallest turning radius of the middle of the fixed axle [m], set by the inner steered wheel."""
    if drive.kind != "ackermann" or not drive.max_steering_angle:
        return 0.0
    return drive.wheel_base / math.tan(drive.max_steering_angle) + drive.track_width / 2.0


def course_limits(drive: DriveConfig) -> PathLimits:
    """Return the limits of the motion with which a robot drives a course."""
    turn_rate = MARGIN * (drive.max_angular_speed or TURN_RATE)
    steers = drive.kind == "ackermann" and drive.max_steering_speed > 0.0
    return PathLimits(
        speed=MARGIN * (drive.max_linear_speed or SPEED),
        acceleration=MARGIN * (drive.max_acceleration or ACCELERATION),
        turn_rate=turn_rate,
        turn_acceleration=2.0 * turn_rate,
        bend_rate=MARGIN * drive.max_steering_speed / drive.wheel_base if steers else math.inf,
    )


def _square(drive: DriveConfig, size: float) -> DrivePath:
    limits = course_limits(drive)
    if drive.kind == "ackermann":
        radius = max(1.1 * turning_radius(drive), 0.1 * size)
        return rounded_square_path(size, radius, limits, ramp=radius)
    return square_path(size, limits, heading=_heading(drive))


def _circle(drive: DriveConfig, size: float) -> DrivePath:
    return circle_path(max(size / 2.0, 1.1 * turning_radius(drive)), course_limits(drive))


def _figure8(drive: DriveConfig, size: float) -> DrivePath:
    length = max(2.0 * size, 1.1 * FIGURE8_BEND * turning_radius(drive))
    return figure8_path(length, length / 2.0, course_limits(drive), heading=_heading(drive))


def _heading(drive: DriveConfig) -> Heading:
    """A holonomic base keeps a constant heading. Legged robots walk in the direction that they face."""
    return "fixed" if drive.kind in {"holonomic", "planar"} else "tangent"


# Name on the command line > function that makes the course.
COURSES: dict[str, Callable[[DriveConfig, float], DrivePath]] = {
    "square": _square,
    "circle": _circle,
    "figure8": _figure8,
}
