"""Robots as data: configuration, description, the zoo."""

from handloom.robots.drive_config import DriveConfig
from handloom.robots.grasp_poses import constrained_rows, tool_poses_of_grasps
from handloom.robots.load import (
    TARGET_CLASSES,
    load_robot,
    make_robot,
    published_robot,
    register_robot,
    robot_class,
    robot_names,
)
from handloom.robots.robot_config import CameraMount, ExtraDepth, Keypoints, PhysicsOptions, RobotConfig
from handloom.robots.robot_description import Arm, RobotDescription
from handloom.robots.template_robot import TemplateRobot

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
    "TemplateRobot",
    "constrained_rows",
    "load_robot",
    "make_robot",
    "published_robot",
    "register_robot",
    "robot_class",
    "robot_names",
    "tool_poses_of_grasps",
]
