"""Check at the start of a long task whether a joint can be moved later."""

from typing import ClassVar

from handloom.objects.keypoints import Action
from handloom.skills.articulated_objects.articulated import ArticulatedSkill
from handloom.skills.configs.articulated import ArtPreplanConfig
from handloom.skills.skill import hand_check
from handloom.values import Check


class ArtPreplan(ArticulatedSkill[ArtPreplanConfig]):
    """The published preplan: check at the start of a long task whether a joint can be moved, without moving it."""

    Config: ClassVar = ArtPreplanConfig

    def _doing(self) -> Action:
        """Return the action of the later skill; published settings name it."""
        setting = self.config.planner_setting
        return "close" if setting is not None and str(setting.task_name).startswith("Close") else self.action

    def simple_generate_manip_cmds(self) -> None:
        """Solve as the later skill will, and hold still for one frame."""
        self._pose = self.controller.commanded_pose
        if self._prepare():
            self.manip_list = [self.stay("update_specific", ignore_substring=self.config.ignore_substring)]

    def checks(self) -> tuple[Check, ...]:
        """Return at once: the hand has not moved."""
        return (hand_check(self.controller.arm, self._pose, distance=5e-3, angle=0.087, either=True),)
