"""Robots as data: configurations, descriptions and the zoo."""

import importlib
from typing import Any

from handloom.robots.drive_config import DriveConfig
from handloom.robots.load import (
    TARGET_CLASSES,
    load_robot,
    published_robot,
    robot_names,
)
from handloom.robots.robot_config import CameraMount, ExtraDepth, Keypoints, PhysicsOptions, RobotConfig
from handloom.robots.robot_description import Arm, RobotDescription
from handloom.robots.tool_poses import constrained_rows, tool_poses_of_grasps

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
    "constrained_rows",
    "load_robot",
    "published_robot",
    "robot_names",
    "tool_poses_of_grasps",
]


def __getattr__(name: str) -> Any:
    """Return a name that has moved: the robot wrappers now live in the Isaac shell."""
    return importlib.import_module("handloom.compat.moved").moved_name(__name__, name)
