"""Carry a held object over to another without turning it."""

from typing import ClassVar

import numpy as np

from handloom.skills.configs.places import MoveConfig
from handloom.skills.skill import Skill, command_at, hand_check
from handloom.spatial import invert_pose
from handloom.values import Check


class MoveSkill(Skill[MoveConfig]):
    """The published move: level, orientation unchanged, one way point per shift."""

    Config: ClassVar = MoveConfig

    def simple_generate_manip_cmds(self) -> None:
        """Write one command per way point."""
        config = self.config
        T_base_world = invert_pose(self.controller.arm.T_world_base)
        held, goal = (self.scene.object_pose(name)[:3, 3] for name in config.objects[:2])
        shift = T_base_world[:3, :3] @ ((goal - held) * [1.0, 1.0, 0.0])
        self._goal = start = self.controller.commanded_pose
        self.manip_list = [
            self.stay("update_specific", ignore_substring=config.ignore_substring),
            self.stay("update_pose_cost_metric", hold_vec_weight=config.hold_vec_weight),
        ]
        for delta in config.delta_trans:
            self._goal = start.copy()
            self._goal[:3, 3] += shift + np.asarray(delta, float)
            self.manip_list.append(command_at(self._goal, "close_gripper"))
        self.manip_list.append(command_at(self._goal, "update_pose_cost_metric"))

    def checks(self) -> tuple[Check, ...]:
        """Return: the hand is at the last way point, and the held object by the other."""
        config = self.config
        limit = config.success_threshold
        terms = [hand_check(self.controller.arm, self._goal, distance=limit)]
        held, goal = config.objects[:2]
        if held != goal:
            terms.append(Check(name="near", arguments={"object": held, "target": goal, "distance": limit}))
        return tuple(terms)
