import numpy as np
import pytest

from handloom.isaac.policy import driver_for
from handloom.isaac.wheeled import LapRecord, PlanarPose, floor_world
from handloom.isaac.wheeled.laps.track_picture import DRIVEN, RECKONED, REFERENCE, track_plan, track_view
from handloom.robots import load_robot


def lap(shift: float, robot: str = "jetbot", seconds: float = 6.0) -> LapRecord:
    """A circle that nobody drove: the robot is put along it."""
    t = np.linspace(0.0, 2 * np.pi, 200)
    circle = np.stack([np.cos(t), np.sin(t), t + np.pi / 2], axis=1)
    driven = circle * np.array([1.1, 1.1, 1])
    driver = driver_for(load_robot(robot), floor_world(load_robot(robot)), prefix="robot/")
    states = []
    for x, y, yaw in driven:
        driver.place(PlanarPose(x=x, y=y, yaw=yaw))
        states.append(driver.world.data.qpos.copy())
    return LapRecord(
        times=seconds * t / t[-1],
        reference=circle,
        driven=driven,
        odometry=circle + np.array([shift, 0, 0]),
        qpos=np.array(states),
    )


def test_the_plan_shows_reference_truth_and_odometry_where_they_are() -> None:
    drawn = track_plan(lap(0.3), "test", size=480)
    picture = drawn.astype(int)
    for color in (REFERENCE, DRIVEN, RECKONED):
        assert np.sum(np.all(np.abs(picture[100:] - color) < 12, axis=2)) > 300
    assert np.array_equal(drawn, track_plan(lap(0.3), "test", size=480))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["go2", "h1", "jetbot", "kaya", "leatherback", "nova_carter"])
def test_the_view_shows_robots_on_their_track(name: str) -> None:
    picture = track_view(load_robot(name), lap(0.0, name), size=160)
    assert picture.shape == (160, 160, 3)
    assert picture.std() > 5
