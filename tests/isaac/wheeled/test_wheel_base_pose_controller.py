import numpy as np
import pytest

from handloom.errors import InputError
from handloom.isaac.wheeled import (
    DifferentialController,
    HolonomicController,
    PlanarPose,
    WheelBasePoseController,
)

DIFFERENTIAL = DifferentialController("wheels", 0.03, 0.1125)
OMNI = HolonomicController(
    "wheels",
    0.1,
    [[0.3, 0.2, 0], [0.3, -0.2, 0], [-0.3, 0.2, 0], [-0.3, -0.2, 0]],
    [[1, 0, 0, 0]] * 4,
    [45, 135, 135, 45],
    [0, -1, 0],
    kinematics="rigid_body",
)


def quat(yaw: float) -> list[float]:
    return [np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)]


@pytest.mark.parametrize(("wheels", "holonomic"), [(DIFFERENTIAL, False), (OMNI, True)])
def test_the_base_turns_then_drives_then_stops(wheels: DifferentialController, holonomic: bool) -> None:
    pose = WheelBasePoseController("pose", wheels, is_holonomic=holonomic)

    def twist(position: list[float], yaw: float, goal: list[float]) -> list[float]:
        return wheels.body_twist(pose.forward(position, quat(yaw), goal).joint_velocities).tolist()

    assert twist([0, 0, 0], 0.0, [1, 1, 0]) == pytest.approx([0, 0, 0.5])
    assert twist([0, 0, 0], 0.0, [1, -1, 0]) == pytest.approx([0, 0, -0.5])
    assert twist([0, 0, 0], np.pi / 4, [1, 1, 0]) == pytest.approx([0.2, 0, 0])
    assert twist([0.98, 1.0, 5.0], 2.0, [1, 1]) == pytest.approx([0, 0, 0])


def test_the_closed_loop_arrives_from_anywhere() -> None:
    controller = WheelBasePoseController("pose", DIFFERENTIAL)
    for x, y, yaw in np.random.default_rng(0).uniform([-1, -1, -3], [1, 1, 3], (10, 3)):
        pose = PlanarPose(x=x, y=y, yaw=yaw)
        for _ in range(600):
            action = controller.forward([pose.x, pose.y], quat(pose.yaw), [0.5, 0.2])
            pose = pose.moved(DIFFERENTIAL.body_twist(action.joint_velocities), 0.05)
        assert np.hypot(pose.x - 0.5, pose.y - 0.2) < 0.04


def test_the_zero_quaternion_counts_as_yaw_zero_and_bad_values_are_refused() -> None:
    controller = WheelBasePoseController("pose", DIFFERENTIAL)
    ahead = controller.forward([0, 0], [0, 0, 0, 0], [1, 0]).joint_velocities
    assert DIFFERENTIAL.body_twist(ahead) == pytest.approx([0.2, 0, 0])
    with pytest.raises(InputError, match="goal_position"):
        controller.forward([0, 0], quat(0), [np.nan, 0])
    with pytest.raises(InputError, match=r"start_position needs \[x, y\]"):
        controller.forward([0], quat(0), [1, 0])
