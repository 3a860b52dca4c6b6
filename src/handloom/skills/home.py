"""Move to the home position."""

from typing import ClassVar

from handloom.arrays import Array
from handloom.skills.configs.motions import HomeConfig
from handloom.skills.joint_line import JointLine


class Home(JointLine[HomeConfig]):
    """The published home: the robot's home position without its noise."""

    Config: ClassVar = HomeConfig

    def joint_goal(self) -> Array:
        """Return the home position."""
        return self.controller.arm.spec.home.copy()

    def steps(self) -> int:
        """Return ``move_steps``."""
        return self.config.move_steps

    def tolerance(self) -> float:
        """Return ``t_eps``."""
        return self.config.t_eps

    def gripper(self) -> int:
        """Return the gripper state of the config, or the present one."""
        given = self.config.gripper_state
        return self.controller.gripper_state if given is None else given
