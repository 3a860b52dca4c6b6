"""Stand still for a while."""

from typing import ClassVar

from handloom.skills.configs.motions import WaitConfig
from handloom.skills.skill import Skill, gripper_function, hand_check
from handloom.values import Check


class Wait(Skill[WaitConfig]):
    """The published wait: hold the pose, and judge the drift of the hand."""

    Config: ClassVar = WaitConfig

    def simple_generate_manip_cmds(self) -> None:
        """Repeat the present pose."""
        config = self.config
        self._T_base_tool = self.controller.tool_pose()
        self.manip_list = [self.stay("update_specific", ignore_substring=config.ignore_substring)]
        self.manip_list += [self.stay(gripper_function(config.gripper_state))] * config.wait_steps

    def is_subtask_done(self, t_eps: float = 1e-3, o_eps: float = 5e-3) -> bool:
        """Return True: every command is one frame, whatever the hand does; its drift is judged at the end."""
        return True

    def checks(self) -> tuple[Check, ...]:
        """Return: the hand drifted less than the threshold."""
        threshold = self.config.success_threshold
        return (hand_check(self.controller.arm, self._T_base_tool, distance=threshold),)
