"""Robots drive courses in physics."""

from pathlib import Path

import numpy as np
import pytest

from handloom.isaac.wheeled import BaseDriver, DrivePath, LapRecord, PathTracker, course, drive_lap, floor_world
from handloom.robots import load_robot

FORKLIFT = str(Path(__file__).with_name("forklift"))
# Largest distance to the course [m]; headings stay within 0.1 rad everywhere.
BOUNDS = {
    "jetbot": 0.01,
    "nova_carter": 0.05,
    "kaya": 0.05,
    "leatherback": 0.05,
    "lift2": 0.05,
    "split_aloha": 0.05,
    FORKLIFT: 0.05,
}
FAST = [("jetbot", "figure8", 0.2), ("kaya", "circle", 0.4), ("kaya", "square", 0.3), ("leatherback", "circle", 1.0)]
ALL = [(robot, name, None) for robot in BOUNDS for name in ("square", "circle", "figure8")]


def lap(robot: str, name: str, size: float | None, **options: str) -> LapRecord:
    description = load_robot(robot)
    driver = BaseDriver(description, floor_world(description), prefix="robot/")
    return drive_lap(driver, course(name, driver.drive, size=size), PathTracker(slides=driver.slides), **options)


@pytest.mark.parametrize(
    ("robot", "name", "size"), [*FAST, *(pytest.param(*case, marks=pytest.mark.slow) for case in ALL)]
)
def test_a_lap_keeps_to_its_course(robot: str, name: str, size: float | None) -> None:
    record = lap(robot, name, size)
    assert np.max(record.position_errors) < BOUNDS[robot]
    assert np.max(record.heading_errors) < 0.1
    # Dead reckoning over a lap stays within one per cent of the way and 0.02 rad: the wheels really roll.
    way = np.sum(np.hypot(*np.diff(record.driven[:, :2], axis=0).T))
    assert record.drift[0] < 0.01 * way
    assert record.drift[1] < 0.02


def test_rear_steering_follows_a_circle() -> None:
    record = lap(FORKLIFT, "circle", 3.6)
    assert np.max(record.position_errors) < 0.05
    assert np.max(record.heading_errors) < 0.1


@pytest.mark.parametrize("robot", ["leatherback", "jetbot"])
def test_a_course_is_driven_backwards_too(robot: str) -> None:
    description = load_robot(robot)
    driver = BaseDriver(description, floor_world(description), prefix="robot/")
    ahead = course("circle", driver.drive, size=0.3)
    back = DrivePath(name="back", times=ahead.times, poses=ahead.poses[::-1], twists=-ahead.twists[::-1])
    record = drive_lap(driver, back, PathTracker(slides=False))
    assert np.max(record.position_errors) < BOUNDS[robot]
    assert np.max(record.heading_errors) < 0.1


def test_dead_reckoning_alone_brings_the_robot_home() -> None:
    record = lap("jetbot", "square", 0.2, feedback="odometry")
    assert np.max(record.position_errors) < 0.01


def test_a_course_beyond_the_speed_limit_is_driven_with_the_right_shape() -> None:
    # The path asks for four times what the wheels may do: the robot falls behind, but stays on the circle.
    description = load_robot("jetbot", overrides={"drive": {**_drive("jetbot"), "max_wheel_speed": 2.0}})
    driver = BaseDriver(description, floor_world(description), prefix="robot/")
    free = load_robot("jetbot").config.drive
    assert free is not None
    record = drive_lap(driver, course("circle", free, size=0.4), PathTracker(slides=False), feedback="none")
    radius = np.hypot(record.driven[:, 0], record.driven[:, 1] - 0.2)
    assert np.max(np.abs(radius - 0.2)) < 0.01
    assert np.max(record.position_errors) > 0.1


def _drive(name: str) -> dict[str, object]:
    drive = load_robot(name).config.drive
    assert drive is not None
    return drive.model_dump()
