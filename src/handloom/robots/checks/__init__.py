"""Checks of `handloom robot check`."""

from handloom.robots.checks.check_robot import check_robot
from handloom.robots.checks.grip_trial import GripResult, GripTrial
from handloom.robots.checks.gripper_checks import measured_opening, pad_gap
from handloom.robots.checks.robot_at_home import CheckReport, CheckRow, RobotAtHome, place_at_home

__all__ = [
    "CheckReport",
    "CheckRow",
    "GripResult",
    "GripTrial",
    "RobotAtHome",
    "check_robot",
    "measured_opening",
    "pad_gap",
    "place_at_home",
]
