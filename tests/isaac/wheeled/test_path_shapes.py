import numpy as np
import pytest

from handloom.errors import InputError, NotFoundError
from handloom.isaac.wheeled import (
    DrivePath,
    PathLimits,
    circle_path,
    course,
    figure8_path,
    rounded_square_path,
    square_path,
    turning_radius,
)
from handloom.robots import load_robot, robot_names

LIMITS = PathLimits(speed=0.5, acceleration=0.4, turn_rate=1.0, turn_acceleration=2.0)
PATHS = [
    square_path(1.0, LIMITS),
    square_path(1.0, LIMITS, heading="fixed"),
    rounded_square_path(1.0, 0.4, LIMITS, ramp=0.3),
    circle_path(0.5, LIMITS),
    circle_path(0.5, LIMITS, heading="fixed"),
    figure8_path(2.0, 1.0, LIMITS),
    figure8_path(2.0, 1.0, LIMITS, heading="fixed"),
]


@pytest.mark.parametrize("path", PATHS)
def test_courses_close_and_begin_and_end_at_rest(path: DrivePath) -> None:
    assert path.poses[-1, :2] == pytest.approx(path.poses[0, :2], abs=1e-5)
    assert np.cos(path.poses[-1, 2] - path.poses[0, 2]) == pytest.approx(1.0, abs=1e-9)
    assert np.abs(path.twists[[0, -1]]).max() < 1e-9
    pose, twist = path.at(path.duration + 1.0)
    assert pose == pytest.approx(path.poses[-1])
    assert twist.tolist() == [0, 0, 0]


@pytest.mark.parametrize("path", PATHS)
def test_twists_are_the_derivative_of_the_poses(path: DrivePath) -> None:
    t = np.linspace(0.0, path.duration, 400)[1:-1]
    h = path.times[1]
    for time in t:
        before, after = path.at(time - h / 2)[0], path.at(time + h / 2)[0]
        x, y, w = (after - before) / h
        pose, twist = path.at(time)
        c, s = np.cos(pose[2]), np.sin(pose[2])
        assert [c * x + s * y, -s * x + c * y, w] == pytest.approx(twist, abs=0.03)


@pytest.mark.parametrize("path", PATHS)
def test_limits_are_kept(path: DrivePath) -> None:
    speed = np.hypot(path.twists[:, 0], path.twists[:, 1])
    assert speed.max() <= LIMITS.speed + 1e-9
    assert np.abs(path.twists[:, 2]).max() <= LIMITS.turn_rate + 1e-9
    assert np.abs(np.diff(speed) / np.diff(path.times)).max() <= LIMITS.acceleration + 1e-6


def test_the_curvature_of_a_rounded_corner_grows_no_faster_than_allowed() -> None:
    slow = PathLimits(speed=0.5, acceleration=0.4, turn_rate=9.0, turn_acceleration=2.0, bend_rate=1.5)
    path = rounded_square_path(1.0, 0.4, slow, ramp=0.3)
    moving = path.twists[:, 0] > 0.01
    bend = path.twists[moving, 2] / path.twists[moving, 0]
    assert np.abs(np.diff(bend) / np.diff(path.times[moving])).max() <= 1.5 * 1.01
    assert bend.max() == pytest.approx(2.5, rel=1e-3)


@pytest.mark.parametrize("name", [name for name in robot_names() if load_robot(name).config.drive])
@pytest.mark.parametrize("shape", ["square", "circle", "figure8"])
def test_every_driving_robot_gets_a_course_it_can_turn(name: str, shape: str) -> None:
    drive = load_robot(name).config.drive
    assert drive is not None
    path = course(shape, drive)
    moving = np.abs(path.twists[:, 0]) > 0.01
    if drive.kind == "ackermann":
        tightest = np.min(np.abs(path.twists[moving, 0]) / np.maximum(np.abs(path.twists[moving, 2]), 1e-9))
        assert tightest >= 1.05 * turning_radius(drive)


def test_bad_paths_are_refused() -> None:
    with pytest.raises(InputError, match="side must be > 0"):
        square_path(0.0, LIMITS)
    with pytest.raises(InputError, match="speed must be > 0"):
        PathLimits(speed=0.0, acceleration=1.0, turn_rate=1.0, turn_acceleration=1.0)
    with pytest.raises(InputError, match="times must ascend"):
        DrivePath(name="bad", times=np.zeros(3), poses=np.zeros((3, 3)), twists=np.zeros((3, 3)))
    drive = load_robot("jetbot").config.drive
    assert drive is not None
    with pytest.raises(NotFoundError, match="did you mean 'circle'"):
        course("circel", drive)
