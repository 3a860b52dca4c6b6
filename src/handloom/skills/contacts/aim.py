"""Point a held scanner at an object."""

from typing import ClassVar

import numpy as np

from handloom.arrays import Array
from handloom.judging.checks import scanner_view
from handloom.motion.planning import Move
from handloom.scene import Scene
from handloom.scene.measures import world_box
from handloom.skills.arms.candidates import choose
from handloom.skills.configs.contacts import AimConfig
from handloom.skills.contacts.point_poses import facing_along
from handloom.skills.skill import Skill, command_at
from handloom.spatial import invert_pose, make_pose
from handloom.values import Check

SEEN = 0.1
"""Time for which it must have been seen [s]."""
MARGIN = 0.03
"""Extra distance from the window allowed for the object [m]."""
STEEPS = (0.0, 0.5, 1.0, 1.5)
"""Downward angles of the scanner's view [rad]."""
LOOKS = 3
"""Largest number of attempts to point it."""
AROUND = 8
"""From how many sides."""


def seen_term(config: AimConfig) -> Check:
    """Return the term that the object is in the scanner's view."""
    scanner, name = config.objects[:2]
    far = config.view_distance[1] + MARGIN
    return Check(name="in_view", arguments={"object": name, "scanner": scanner, "distance": far})


class Aim(Skill[AimConfig]):
    """The hand brings the window of the scanner in front of the object, from whichever side it can reach."""

    Config: ClassVar = AimConfig
    _looks: int = 1

    @staticmethod
    def deeds(scene: Scene, config: AimConfig) -> tuple[Check, ...]:
        """Return its effect on the world: the object was seen for a tenth of a second by a held scanner."""
        term = seen_term(config)
        seen = Check(name=term.name, arguments=term.arguments, seconds=SEEN)
        return (seen, Check(name="in_hand", arguments={"object": config.objects[0]}))

    def simple_generate_manip_cmds(self) -> None:
        """Choose the scanner's viewpoint, and write the commands."""
        config, controller = self.config, self.controller
        poses = self._poses()
        controller.ignored = config.ignore_substring
        chosen = choose(self, [Move(T_base_tool=poses)])
        if chosen is None:
            return
        there = command_at(poses[chosen.index], "close_gripper", **chosen.params(0))
        self.manip_list = [
            self.stay("update_pose_cost_metric"),
            self.stay("update_specific", ignore_substring=config.ignore_substring),
            there,
            *[command_at(poses[chosen.index], "close_gripper")] * self.frames(config.hold_steps),
        ]

    def is_done(self) -> bool:
        """Return whether nothing is left to do; a scanner that has swung in the hand on the way is pointed again."""
        if not super().is_done():
            return False
        if self.is_success() or self._looks >= LOOKS:
            return True
        self._looks += 1
        self.simple_generate_manip_cmds()
        return not self.manip_list

    def checks(self) -> tuple[Check, ...]:
        """Return the terms: the object is in view, and the scanner is in the hand."""
        arm = self.controller.arm
        held = {"robot": arm.robot_name, "arm": arm.name, "object": self.config.objects[0]}
        return (seen_term(self.config), Check(name="grasped", arguments=held))

    def _poses(self) -> Array:
        """Return poses T_base_tool (n, 4, 4) from which the scanner sees the object, smallest rotation first."""
        config, controller = self.config, self.controller
        scanner, name = config.objects[:2]
        window, view = scanner_view(self.scene, scanner)
        T_base_world = invert_pose(controller.arm.T_world_base)
        T_base_scanner = T_base_world @ self.scene.object_pose(scanner)
        T_scanner_tool = invert_pose(T_base_scanner) @ controller.tool_pose()
        middle = world_box(self.scene, name).mean(axis=0)
        target = T_base_world[:3, :3] @ middle + T_base_world[:3, 3]
        found: list[tuple[float, Array]] = []
        for steep in STEEPS:
            for side in np.arange(AROUND) * 2.0 * np.pi / AROUND:
                level = np.array([np.cos(side), np.sin(side), 0.0])
                way = T_base_world[:3, :3] @ (np.cos(steep) * level - np.sin(steep) * np.array([0.0, 0.0, 1.0]))
                for R in facing_along(T_base_scanner[:3, :3], view, way, 0.0):
                    distance = float(self.rng.uniform(*config.view_distance))
                    T = make_pose(R, target - distance * way - R @ window) @ T_scanner_tool
                    found.append((-float(np.sum(R * T_base_scanner[:3, :3])), T))
        return np.stack([found[k][1] for k in np.argsort([cost for cost, _ in found], kind="stable")])
