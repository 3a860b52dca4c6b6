"""Show a held object to a scanner."""

from typing import ClassVar

import numpy as np

from handloom.motion.planning import Move
from handloom.skills.ahead import hand_facing, right_ahead_up
from handloom.skills.candidates import choose
from handloom.skills.configs.places import ScanConfig
from handloom.skills.skill import Skill, command_at
from handloom.spatial import make_pose
from handloom.values import Check

DRAWS = 16
"""Poses that are tested; published: 1."""
SHIFT = np.array([[-0.02, 0.15, -0.16], [0.02, 0.2, -0.14]])
"""Lowest and highest shift of the hand, right, ahead, up [m]; published values."""


class Scan(Skill[ScanConfig]):
    """The published scan: forward and down, with the hand pointing to the right and the object still in it."""

    Config: ClassVar = ScanConfig
    max_plan_failures: ClassVar = 10

    def simple_generate_manip_cmds(self) -> None:
        """Draw poses, choose one the arm can reach, and write its command."""
        config = self.config
        shifts = right_ahead_up(self.rng.uniform(SHIFT[0], SHIFT[1], (DRAWS, 3)))
        R = hand_facing(self.controller.arm.spec, (1, 0, 0), (0, 1, 1))
        poses = make_pose(R, self.controller.commanded_pose[:3, 3] + shifts)
        self.controller.ignored = config.ignore_substring
        chosen = choose(self, [Move(T_base_tool=poses)])
        if chosen is not None:
            self.manip_list = [
                self.stay("update_specific", ignore_substring=config.ignore_substring),
                command_at(poses[chosen.index], "close_gripper", **chosen.params(0)),
            ]

    def checks(self) -> tuple[Check, ...]:
        """Return: the object is still held, and nothing is flung about."""
        config, arm = self.config, self.controller.arm
        name = config.objects[0]
        held = Check(name="grasped", arguments={"robot": arm.robot_name, "arm": arm.name, "object": name})
        return (held, Check(name="calm", arguments={"object": name})) if config.process_valid else (held,)
