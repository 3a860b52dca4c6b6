"""Controllers of wheeled robots: body speeds to wheel commands and back, paths, path tracking, odometry."""

from handloom.isaac.wheeled.controllers.ackermann_controller import AckermannController
from handloom.isaac.wheeled.controllers.differential_controller import DifferentialController
from handloom.isaac.wheeled.controllers.holonomic_controller import HolonomicController, HolonomicLayout
from handloom.isaac.wheeled.controllers.holonomic_robot_setup import HolonomicParams, HolonomicRobotSetup
from handloom.isaac.wheeled.controllers.wheel_base_pose_controller import WheelBasePoseController
from handloom.isaac.wheeled.laps.base_driver import BaseDriver
from handloom.isaac.wheeled.laps.courses import COURSES, course, turning_radius
from handloom.isaac.wheeled.laps.lap import LapRecord, drive_lap, floor_world
from handloom.isaac.wheeled.paths.path_shapes import (
    PathLimits,
    circle_path,
    figure8_path,
    rounded_square_path,
    square_path,
)
from handloom.isaac.wheeled.paths.path_tracker import DrivePath, PathTracker
from handloom.isaac.wheeled.paths.quintic_path import QuinticPolynomial, quintic_polynomials_planner
from handloom.isaac.wheeled.paths.stanley import BicycleState, calc_target_index, pid_control, stanley_control
from handloom.isaac.wheeled.planar_odometry import PlanarOdometry, PlanarPose, normalize_angle, yaw_from_quat
from handloom.isaac.wheeled.wheeled_robot import WheeledRobot

__all__ = [
    "COURSES",
    "AckermannController",
    "BaseDriver",
    "BicycleState",
    "DifferentialController",
    "DrivePath",
    "HolonomicController",
    "HolonomicLayout",
    "HolonomicParams",
    "HolonomicRobotSetup",
    "LapRecord",
    "PathLimits",
    "PathTracker",
    "PlanarOdometry",
    "PlanarPose",
    "QuinticPolynomial",
    "WheelBasePoseController",
    "WheeledRobot",
    "calc_target_index",
    "circle_path",
    "course",
    "drive_lap",
    "figure8_path",
    "floor_world",
    "normalize_angle",
    "pid_control",
    "quintic_polynomials_planner",
    "rounded_square_path",
    "square_path",
    "stanley_control",
    "turning_radius",
    "yaw_from_quat",
]
