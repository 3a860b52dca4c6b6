"""What a robot did over an episode, as arrays; the columns of a dataset are made of it."""

from dataclasses import dataclass

import numpy as np

from handloom.arrays import Array
from handloom.errors import InputError


@dataclass(frozen=True, kw_only=True)
class ArmSeries:
    """One arm over T frames."""

    name: str
    """``left``, ``right``, or empty for the only arm of a robot."""
    joint_names: tuple[str, ...]
    """Names of the J joints, without the robot's prefix."""
    joint_position: Array
    """Measured (T, J) [m or rad]."""
    joint_command: Array
    """Target given to the drives in each frame (T, J) [m or rad]."""
    gripper_position: Array
    """Measured opening (T,) [m], or as the robot's description defines it."""
    gripper_openness: Array
    """Opening asked for in each frame (T,): 1 open, 0 closed."""
    T_armbase_ee: Array
    """Pose of the end effector in the arm's base (T, 4, 4)."""
    T_armbase_tcp: Array
    """Pose of the tool centre point in the arm's base (T, 4, 4)."""
    T_robot_armbase: Array
    """Pose of the arm's base in the robot (4, 4)."""

    def __post_init__(self) -> None:
        """Refuse series of different lengths."""
        frames, joints = len(self.joint_position), len(self.joint_names)
        shapes = {
            "joint_position": (frames, joints),
            "joint_command": (frames, joints),
            "gripper_position": (frames,),
            "gripper_openness": (frames,),
            "T_armbase_ee": (frames, 4, 4),
            "T_armbase_tcp": (frames, 4, 4),
            "T_robot_armbase": (4, 4),
        }
        for name, shape in shapes.items():
            if np.shape(getattr(self, name)) != shape:
                got = np.shape(getattr(self, name))
                raise InputError(f"arm {self.name!r}: {name} must have the shape {shape}, got {got}")


@dataclass(frozen=True, kw_only=True)
class RobotSeries:
    """One robot over T frames."""

    arms: tuple[ArmSeries, ...]
    """Its arms; left before right."""
    T_world_robot: Array
    """Pose of the robot in the world (T, 4, 4)."""

    def __post_init__(self) -> None:
        """Refuse a robot without arms, or arms of different lengths."""
        lengths = {len(arm.joint_position) for arm in self.arms}
        if len(lengths) != 1 or np.shape(self.T_world_robot) != (*lengths, 4, 4):
            raise InputError(
                f"a robot needs arms and a base of one length; got {sorted(lengths)} and {np.shape(self.T_world_robot)}"
            )
        if len({arm.name for arm in self.arms}) != len(self.arms):
            raise InputError("two arms have the same name")
