import numpy as np
import pytest

from handloom.errors import InputError
from handloom.isaac.wheeled import DifferentialController


def wheels(*args: float, command: list[float], **options: object) -> np.ndarray:
    return DifferentialController("test", *args, **options).forward(command).joint_velocities  # type: ignore[arg-type]


def test_published_vectors_are_reproduced() -> None:
    assert wheels(0.03, 0.1125, command=[0.3, 1.0]).tolist() == pytest.approx([8.125, 11.875], abs=1e-12)
    assert wheels(0.03, 0.1125, command=[-0.3, 1.0]).tolist() == pytest.approx([-11.875, -8.125], abs=1e-12)
    assert wheels(0.03, 0.1125, command=[0.3, 1.0], max_wheel_speed=9).tolist() == pytest.approx([8.125, 9.0])
    assert np.round(wheels(0.14, 0.413, command=[1.0, 0.5]), 6).tolist() == [6.405357, 7.880357]
    assert np.round(wheels(0.14, 0.413, command=[0.5, -0.3]), 6).tolist() == [4.013929, 3.128929]


def test_body_twist_is_the_inverse_of_forward() -> None:
    controller = DifferentialController("test", 0.14, 0.413)
    for command in np.random.default_rng(0).uniform(-3, 3, (50, 2)):
        twist = controller.body_twist(controller.forward(command).joint_velocities)
        assert twist.tolist() == pytest.approx([command[0], 0.0, command[1]], abs=1e-12)


def test_limits_clip_speed_and_rate_on_their_own() -> None:
    controller = DifferentialController("test", 0.1, 0.5, max_linear_speed=1.0, max_angular_speed=2.0)
    assert controller.body_twist(controller.forward([5.0, 1.0]).joint_velocities).tolist() == pytest.approx([1, 0, 1])
    assert controller.body_twist(controller.forward([0.5, -9.0]).joint_velocities).tolist() == pytest.approx(
        [0.5, 0, -2]
    )


@pytest.mark.parametrize("limits", [{"max_linear_speed": 0.5}, {"max_angular_speed": 0.3}, {"max_wheel_speed": 2.0}])
def test_keep_heading_drives_the_same_circle_more_slowly(limits: dict[str, float]) -> None:
    clipped = DifferentialController("test", 0.1, 0.5, **limits)
    kept = DifferentialController("test", 0.1, 0.5, **limits, keep_heading=True)
    command = np.array([1.0, 0.8])
    twist = kept.body_twist(kept.forward(command).joint_velocities)
    assert twist[2] / twist[0] == pytest.approx(command[1] / command[0])
    assert abs(twist[0]) < command[0]
    bent = clipped.body_twist(clipped.forward(command).joint_velocities)
    assert bent[2] / bent[0] != pytest.approx(command[1] / command[0])
    assert np.max(np.abs(kept.forward(command).joint_velocities)) <= limits.get("max_wheel_speed", np.inf) + 1e-12


@pytest.mark.parametrize("command", [[], [1.0], [1.0, 2.0, 3.0], [np.nan, 0.0], [0.0, np.inf], "ab", [None, 1.0]])
def test_bad_commands_are_refused(command: object) -> None:
    with pytest.raises(InputError):
        DifferentialController("test", 0.03, 0.1).forward(command)  # type: ignore[arg-type]


def test_bad_geometry_is_refused_with_the_name_of_the_argument() -> None:
    with pytest.raises(ValueError, match=r"wheel_radius must be > 0, got 0\.0"):
        DifferentialController("test", 0.0, 0.1)
    with pytest.raises(InputError, match="wheel_base must be finite, got nan"):
        DifferentialController("test", 0.1, float("nan"))
    with pytest.raises(InputError, match=r"max_wheel_speed must be >= 0 .*, got -1\.0"):
        DifferentialController("test", 0.1, 0.1, max_wheel_speed=-1)
