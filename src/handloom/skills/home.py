"""Move to the home position."""

from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from handloom.skills.configs.motions import HomeConfig
from handloom.skills.joint_line import JointLine

Array = NDArray[np.float64]


class Home(JointLine):
    """The published home: the robot's home position without its noise."""

    Config: ClassVar = HomeConfig

    def joint_goal(self) -> Array:
        """Return the home position."""
        return self.controller.arm.arm.home.copy()

    def steps(self) -> int:
        """Return ``move_steps``."""
        return cast(HomeConfig, self.config).move_steps

    def tolerance(self) -> float:
        """Return ``t_eps``."""
        return cast(HomeConfig, self.config).t_eps

    def gripper(self) -> int:
        """Return the gripper state of the config, or the present one."""
        given = cast(HomeConfig, self.config).gripper_state
        return self.controller.gripper_state if given is None else given
