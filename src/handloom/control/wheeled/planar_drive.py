"""Drive a base that joints carry over the floor."""

import math

import numpy as np

from handloom.arrays import Array
from handloom.control.wheeled.angles import yaw_from_quat
from handloom.control.wheeled.encoders import Encoders
from handloom.control.wheeled.planar_odometry import PlanarPose
from handloom.control.wheeled.wheeled_robot import WheeledRobot
from handloom.robots import DriveConfig
from handloom.values import ArticulationAction


class PlanarDrive:
    """Joints x, y and yaw between the floor and the base; nothing can slip."""

    def __init__(self, drive: DriveConfig, robot: WheeledRobot) -> None:
        self._drive = drive
        self._robot = robot
        # Where the base is when its joints are at zero: the frame in which x and y are counted.
        x, y, yaw = robot.get_wheel_positions()
        position, quat = robot.get_world_pose()
        self._yaw_zero = yaw_from_quat(quat) - float(yaw)
        self._zero = position[:2] - _rotation(self._yaw_zero) @ [x, y]

    def action(self, twist: Array, dt: float, /) -> ArticulationAction:
        """Return the wheel commands for a body twist (3,)."""
        drive = self._drive
        speed = float(np.hypot(twist[0], twist[1]))
        share = min(
            1.0,
            (drive.max_linear_speed or math.inf) / max(speed, 1e-12),
            (drive.max_angular_speed or math.inf) / max(abs(float(twist[2])), 1e-12),
        )
        yaw = float(self._robot.get_wheel_positions()[2])
        moving = _rotation(yaw) @ twist[:2]
        return ArticulationAction(joint_velocities=share * np.array([*moving, twist[2]]))

    def aim(self, twist: Array, /) -> float:
        """Choose the steering for the next commands; return how long it takes at most [s]."""
        return 0.0

    def twist(self, speeds: Array, encoders: Encoders, /) -> Array:
        """Return the body twist (3,) of wheels at these speeds and encoder readings."""
        return np.array([*(_rotation(float(encoders.wheels[2])).T @ speeds[:2]), speeds[2]])

    def joints_at(self, pose: PlanarPose) -> Array:
        """Return the joint positions (3,) that put the base at a pose in world."""
        x, y = _rotation(self._yaw_zero).T @ (np.array([pose.x, pose.y]) - self._zero)
        return np.array([x, y, pose.yaw - self._yaw_zero])


def _rotation(angle: float) -> Array:
    cos, sin = math.cos(angle), math.sin(angle)
    return np.array([[cos, -sin], [sin, cos]])
