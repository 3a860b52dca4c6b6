"""Move the joints home, to given joints, by given joints, or by a pose of the hand."""

from dataclasses import replace
from typing import ClassVar

import numpy as np

from handloom.arrays import Array
from handloom.errors import ConfigError
from handloom.motion.planning import Move
from handloom.skills.configs.motions import HeuristicSkillConfig
from handloom.skills.joint_line import JointLine
from handloom.skills.plan_failure import plan_failure


class HeuristicSkill(JointLine[HeuristicSkillConfig]):
    """The published heuristic skill; ``rel_qpos`` adds to the present joints, which the reference forgets."""

    Config: ClassVar = HeuristicSkillConfig

    def joint_goal(self) -> Array | None:
        """Return the joints that the mode and its value ask for."""
        config = self.config
        if config.mode == "home":
            return self.controller.arm.spec.home.copy()
        if config.mode == "rel_ee":
            return self._moved_hand(self._numbers((4, 4)))
        given = self._numbers(self.controller.target.shape)
        goal = given if config.mode == "abs_qpos" else self.controller.target + given
        return np.clip(goal, self.controller.chain.lower, self.controller.chain.upper)

    def _moved_hand(self, T_base_move: Array) -> Array | None:
        """Return the joints at the end of a plan to the present hand pose moved in the arm base."""
        result = self.controller.plan([Move(T_base_tool=T_base_move @ self.controller.commanded_pose)])
        if result.ok:
            return result.path[-1]
        self.failure = replace(plan_failure(result), skill=self.config.name)
        return None

    def _numbers(self, shape: tuple[int, ...]) -> Array:
        config = self.config
        try:
            values = np.asarray(config.value, float)
        except (TypeError, ValueError):
            values = np.empty(0)
        if values.shape != shape:
            raise ConfigError(f"{config.name}: mode {config.mode} needs a value of shape {shape}, got {config.value!r}")
        return values

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
