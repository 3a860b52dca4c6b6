"""Pictures of robots show the robot, and frames where the model has them."""

import mujoco
import numpy as np
import pytest

from handloom.robots import load_robot, robot_names
from handloom.robots.checks import RobotAtHome
from handloom.robots.robot_portrait import portrait, robot_frames


@pytest.mark.parametrize("name", robot_names())
def test_a_portrait_shows_the_robot_in_the_middle(name):
    picture = portrait(load_robot(name), width=96, height=96)
    assert picture.shape == (96, 96, 3)
    middle, corner = picture[24:72, 24:72], picture[:8, :8]
    assert middle.std() > 3 * corner.std()


def test_frames_change_the_picture_and_stand_at_their_bodies():
    robot = load_robot("fr3")
    plain, drawn = (portrait(robot, width=96, height=96, frames=frames) for frames in (False, True))
    assert np.abs(plain.astype(int) - drawn).max() > 60
    home = RobotAtHome.build(robot)
    mujoco.mj_kinematics(home.model, home.data)
    frames = {frame.label: frame.T_world_frame for frame in robot_frames(robot, home.data, length=0.1)}
    assert set(frames) == {"base", "EE", "TCP", "GraspNet"}
    np.testing.assert_allclose(frames["TCP"], frames["EE"] @ robot.arms[0].T_tool_tcp, atol=1e-9)
    np.testing.assert_allclose(frames["GraspNet"][:3, 0], frames["EE"][:3, 2], atol=1e-9)
