"""Open or close the gripper where it is."""

from typing import ClassVar

from handloom.skills.configs.motions import GripperActionConfig
from handloom.skills.skill import Skill, gripper_function
from handloom.values import Check


class GripperAction(Skill[GripperActionConfig]):
    """The published gripper action: the same command for some frames; it cannot fail."""

    Config: ClassVar = GripperActionConfig

    def simple_generate_manip_cmds(self) -> None:
        """Repeat the gripper command at the present pose."""
        config = self.config
        commands = [self.stay(gripper_function(config.gripper_state))] * config.wait_steps
        # An open hand holds nothing any more, so plans must not carry the object on.
        self.manip_list = [*commands, self.stay("detach_obj")] if config.gripper_state > 0 else commands

    def checks(self) -> tuple[Check, ...]:
        """Return no terms: there is nothing that could go wrong."""
        return ()
