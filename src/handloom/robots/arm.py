"""One arm of a robot, with every name resolved to the model's own."""

from dataclasses import dataclass

import numpy as np

from handloom.arrays import Array
from handloom.robots.robot_config import Axis, ExtraDepth, Keypoints
from handloom.robots.suction_config import SuctionConfig

AXES: dict[Axis, tuple[float, float, float]] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


@dataclass(frozen=True, kw_only=True, eq=False)
class Arm:
    """An arm, its gripper and its tool frames. Body, joint, actuator and site names are those of the model."""

    name: str
    """"left" or "right"; the arm of a single-arm robot is "left"."""
    joint_names: tuple[str, ...]
    """Joints from base to wrist."""
    gripper_joint_names: tuple[str, ...]
    """Drive joints of the gripper."""
    gripper_actuators: tuple[str, ...]
    """Actuators of the drive joints, in the same order."""
    base_body: str
    tool_body: str
    """Body of the end-effector frame, the frame grasp poses are converted to."""
    tcp_site: str
    """Site at the tool centre, with the axes of the end-effector frame."""
    grasp_site: str
    """Site at the tool centre, with GraspNet axes (x approach, y closing)."""
    ee_axis: Axis
    """Axis of the end-effector frame that points to the tool centre."""
    tcp_offset: float
    """Distance from the end-effector frame to the tool centre along ``ee_axis`` [m]."""
    R_ee_graspnet: Array
    """Rotation (3, 3) from GraspNet axes to the end-effector frame."""
    home: Array
    """Joint positions at home, one per joint [rad]."""
    home_std: Array
    """Standard deviation of the noise on ``home`` [rad]."""
    speed_limit: Array
    """Largest speed of each joint [rad/s]; infinite where it is not known."""
    acceleration_limit: Array
    """Largest acceleration of each joint [rad/s^2]; infinite where it is not known."""
    gripper_speed_limit: Array
    """Largest speed of each drive joint of the gripper [m/s or rad/s]; infinite where it is not known."""
    gripper_home: Array
    """Positions of the drive joints at home [m or rad]."""
    gripper_open: Array
    """Actuator targets that open the gripper fully [m or rad]."""
    gripper_closed: Array
    """Actuator targets that close the gripper [m or rad]."""
    gripper_min_width: float
    """[m]"""
    gripper_max_width: float
    """[m]"""
    pad_geoms: tuple[str, ...]
    """The two geoms between which the opening is measured."""
    finger_bodies: tuple[str, ...]
    """Bodies whose contact with an object is a grasp."""
    forbidden_bodies: tuple[str, ...]
    """Bodies that must touch nothing."""
    keypoints: Keypoints
    """Gripper points in the end-effector frame [m]."""
    extra_depth: ExtraDepth | None = None
    suction: SuctionConfig | None = None
    """The cups of a gripper that holds by suction, their bodies by the names of the model; None: it has fingers."""

    @property
    def approach(self) -> Array:
        """Unit vector (3,) of ``ee_axis`` in the end-effector frame."""
        return np.array(AXES[self.ee_axis])

    @property
    def T_tool_tcp(self) -> Array:  # noqa: N802 - frame notation
        """Pose (4, 4) of the tool centre in the end-effector frame."""
        T = np.eye(4)
        T[:3, 3] = self.approach * self.tcp_offset
        return T
