"""Opening: the hand moves the joint or, for a drawer, holds on while the base drives back."""

from dataclasses import replace
from typing import ClassVar

import numpy as np

from handloom.arrays import Array
from handloom.errors import ConfigError
from handloom.skills.articulated_objects.actuation import KeyFrames
from handloom.skills.articulated_objects.articulated import PACE, ArticulatedSkill
from handloom.skills.configs.articulated import OpenConfig, PlannerSetting
from handloom.skills.mobile_base.base_planner import BasePlanner
from handloom.skills.mobile_base.mobile import SETTLE, base_check, base_of, drive_commands, is_aimed
from handloom.skills.skill import command_at
from handloom.values import Check, Command, FunnelStage


class Open(ArticulatedSkill[OpenConfig]):
    """The published open; the hand releases the part and draws back at the end.

    With ``by_driving`` the hand only grasps and releases the handle: the base drives the length of the drawer's motion.
    """

    Config: ClassVar = OpenConfig

    def _frames(self, goal: Array, setting: PlannerSetting, pivot: float) -> KeyFrames:
        frames = super()._frames(goal, setting, pivot)
        return replace(frames, actuation=[]) if self.config.by_driving else frames

    def _driving(self, T_base_tool: Array) -> list[Command]:
        """Return the commands that drive the base along the joint's axis, by the motion of the joint."""
        if not self.config.by_driving:
            return []
        base, link, name = base_of(self), self._keypoints.link, self.config.objects[0]
        if link.kind != "slide":
            raise ConfigError(
                f"{self.config.name}: by_driving is for drawers; {link.name} of {name} turns about a hinge"
            )
        axis = self.scene.world.body_pose(f"{name}/{link.name}")[:3, :3] @ np.asarray(link.axis)
        here = base.commanded_pose
        self._base_goal = here + self._delta(link) * np.array([axis[0], axis[1], 0.0])
        path = np.stack([here, self._base_goal])
        blocked = BasePlanner(self.scene, base, ignore=[f"{name}/"]).blocked(path)
        if blocked:
            self.fail(FunnelStage.PLAN, "base_blocked", f"the base cannot drive along with the drawer: {blocked}")
        rest = command_at(T_base_tool, "mobile_move", pose=self._base_goal)
        return [*drive_commands(base, T_base_tool, path, pace=PACE), *[rest] * SETTLE]

    def is_subtask_done(self, t_eps: float = 1e-3, o_eps: float = 5e-3) -> bool:
        """Return whether the first command is done; before the base starts, whether its wheels are steered."""
        command = self.manip_list[0]
        if command.function == "mobile_move":
            return is_aimed(base_of(self), command)
        return super().is_subtask_done(t_eps, o_eps)

    def checks(self) -> tuple[Check, ...]:
        """Return the terms of the joint and, with ``by_driving``, of the base's position."""
        driven = (base_check(base_of(self), self._base_goal),) if self.config.by_driving else ()
        return (*super().checks(), *driven)
