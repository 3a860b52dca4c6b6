"""Set single joints."""

from typing import ClassVar

import numpy as np

from handloom.arrays import Array
from handloom.errors import ConfigError
from handloom.skills.configs.motions import JointCtrlConfig
from handloom.skills.joint_line import JointLine


class JointCtrl(JointLine[JointCtrlConfig]):
    """The published joint control; joint limits replace its clamps for one kind of arm."""

    Config: ClassVar = JointCtrlConfig

    def joint_goal(self) -> Array:
        """Return the present joints with those of ``ctrl_list`` set or turned."""
        goal = set_joints(self.controller.target, self.config.ctrl_list, self.config.name)
        return np.clip(goal, self.controller.chain.lower, self.controller.chain.upper)

    def steps(self) -> int:
        """Return ``num_steps``."""
        return self.config.num_steps

    def tolerance(self) -> float:
        """Return ``success_threshold_js``."""
        return self.config.success_threshold_js

    def gripper(self) -> int:
        """Return ``gripper_state``."""
        return self.config.gripper_state


def set_joints(joints: Array, ctrl_list: tuple[tuple[int, float, str], ...], skill: str) -> Array:
    """Return joints (n,) [rad] with some set (``abs``) or turned (``delta``) by angles [deg]."""
    goal = joints.copy()
    for joint, degrees, mode in ctrl_list:
        if not 0 <= joint < len(goal):
            raise ConfigError(f"{skill}: ctrl_list names joint {joint}; this arm has joints 0 to {len(goal) - 1}")
        goal[joint] = np.deg2rad(degrees) + (goal[joint] if mode == "delta" else 0.0)
    return goal
