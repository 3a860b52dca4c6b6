"""Robots as data: configuration, description, the zoo."""

from handloom.robots.arm import Arm
from handloom.robots.catalog import TARGET_CLASSES, robot_names
from handloom.robots.drive_config import DriveConfig
from handloom.robots.load import load_robot
from handloom.robots.robot_config import CameraMount, ExtraDepth, Keypoints, PhysicsOptions, RobotConfig
from handloom.robots.robot_description import RobotDescription

__all__ = [
    "TARGET_CLASSES",
    "Arm",
    "CameraMount",
    "DriveConfig",
    "ExtraDepth",
    "Keypoints",
    "PhysicsOptions",
    "RobotConfig",
    "RobotDescription",
    "load_robot",
    "robot_names",
]
