"""Controllers of wheeled robots: body speeds to wheel commands and back, paths, path tracking, odometry."""

from handloom.control.wheeled.ackermann_controller import AckermannController
from handloom.control.wheeled.angles import normalize_angle, yaw_from_quat
from handloom.control.wheeled.bicycle_state import BicycleState
from handloom.control.wheeled.differential_controller import DifferentialController
from handloom.control.wheeled.holonomic_controller import HolonomicController
from handloom.control.wheeled.holonomic_layout import HolonomicLayout
from handloom.control.wheeled.planar_odometry import PlanarOdometry, PlanarPose
from handloom.control.wheeled.quintic_path import QuinticPolynomial, quintic_polynomials_planner
from handloom.control.wheeled.stanley import calc_target_index, pid_control, stanley_control
from handloom.control.wheeled.wheel_base_pose_controller import WheelBasePoseController

__all__ = [
    "AckermannController",
    "BicycleState",
    "DifferentialController",
    "HolonomicController",
    "HolonomicLayout",
    "PlanarOdometry",
    "PlanarPose",
    "QuinticPolynomial",
    "WheelBasePoseController",
    "calc_target_index",
    "normalize_angle",
    "pid_control",
    "quintic_polynomials_planner",
    "stanley_control",
    "yaw_from_quat",
]
