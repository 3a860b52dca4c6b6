import numpy as np
import pytest

from handloom.control.wheeled import LapRecord
from handloom.control.wheeled.track_picture import DRIVEN, RECKONED, REFERENCE, track_plan, track_view
from handloom.robots import load_robot


def lap(shift: float) -> LapRecord:
    t = np.linspace(0.0, 2 * np.pi, 200)
    circle = np.stack([np.cos(t), np.sin(t), t + np.pi / 2], axis=1)
    return LapRecord(
        times=t, reference=circle, driven=circle * np.array([1.1, 1.1, 1]), odometry=circle + np.array([shift, 0, 0])
    )


def test_the_plan_shows_reference_truth_and_odometry_where_they_are() -> None:
    drawn = track_plan(lap(0.3), "test", size=480)
    picture = drawn.astype(int)
    for color in (REFERENCE, DRIVEN, RECKONED):
        assert np.sum(np.all(np.abs(picture[100:] - color) < 12, axis=2)) > 300
    assert np.array_equal(drawn, track_plan(lap(0.3), "test", size=480))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["jetbot", "kaya", "leatherback", "nova_carter"])
def test_the_view_shows_robots_on_their_track(name: str) -> None:
    picture = track_view(load_robot(name), lap(0.0), size=160)
    assert picture.shape == (160, 160, 3)
    assert picture.std() > 5
