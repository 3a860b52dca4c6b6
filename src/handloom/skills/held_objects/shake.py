"""Shake a held object: back and forth along one direction."""

from itertools import product
from typing import ClassVar

import numpy as np

from handloom.arrays import Array
from handloom.motion.planning import Move
from handloom.scene import Scene
from handloom.scene.named_points import quarter_turns
from handloom.skills.arms.candidates import choose
from handloom.skills.configs.contacts import ShakeConfig
from handloom.skills.skill import Skill, command_at
from handloom.spatial import invert_pose, make_pose, matrix_from_rotvec
from handloom.values import Check

SPEED = 0.06
"""Minimum speed of a stroke [m/s]."""
LASTS = 0.1
"""Time for which a stroke must have that speed [s]."""
RISES = (1.0, 0.6, 0.3, 1.5, 0.0)
"""Fractions of the lift that are tried for the middle of the shake."""
ASIDE = (0.0, 0.05, -0.05, 0.1, -0.1)
"""Distances ahead of the hand at which the middle of the shake is tried [m]."""
TURNS = (0.0, 0.4, -0.4, 0.8, -0.8)
"""Rotations of the hand about the vertical for it [rad]."""


def directions(scene: Scene, config: ShakeConfig) -> tuple[Array, ...]:
    """Return the strokes of a shake, each as a unit vector (3,) in the world."""
    angle = quarter_turns(scene)
    right, away = np.array([np.cos(angle), np.sin(angle), 0.0]), np.array([-np.sin(angle), np.cos(angle), 0.0])
    way = {"up": np.array([0.0, 0.0, 1.0]), "side": right, "ahead": away}[config.along]
    return tuple(way if k % 2 == 0 else -way for k in range(2 * config.times))


class Shake(Skill[ShakeConfig]):
    """The hand lifts the held object and moves it back and forth, as often as required, without turning it."""

    Config: ClassVar = ShakeConfig

    @staticmethod
    def deeds(scene: Scene, config: ShakeConfig) -> tuple[Check, ...]:
        """Return its effect on the world: every stroke was made, in order, in a hand, and the object is still held."""
        name = config.objects[0]
        strokes = (
            Check(name="swings", arguments=_stroke(name, way, k), seconds=LASTS)
            for k, way in enumerate(directions(scene, config))
        )
        return (*strokes, Check(name="in_hand", arguments={"object": name}))

    def simple_generate_manip_cmds(self) -> None:
        """Choose the place of the shake, and write the commands."""
        config, controller = self.config, self.controller
        start, R = controller.commanded_pose, invert_pose(controller.arm.T_world_base)[:3, :3]
        ways = directions(self.scene, config)
        half = 0.5 * config.amplitude * (R @ ways[0])
        up = R @ np.array([0.0, 0.0, 1.0])
        ahead = np.array([1.0, 0.0, 0.0])
        first, last = [], []
        for turn, aside, rise in product(TURNS, ASIDE, RISES):
            middle = start[:3, 3] + rise * config.lift * up + aside * ahead
            R_base_tool = matrix_from_rotvec(turn * up) @ start[:3, :3]
            first.append(make_pose(R_base_tool, middle - half))
            last.append(make_pose(R_base_tool, middle + half))
        controller.ignored = config.ignore_substring
        moves = [Move(T_base_tool=np.stack(first)), Move(T_base_tool=np.stack(last), straight=True)]
        chosen = choose(self, moves)
        if chosen is None:
            return
        ends = (first[chosen.index], last[chosen.index])
        self.manip_list = [
            self.stay("update_pose_cost_metric"),
            self.stay("update_specific", ignore_substring=config.ignore_substring),
            command_at(ends[0], "close_gripper", **chosen.params(0)),
        ]
        stroke = chosen.paths[1]
        for k in range(len(ways)):
            path = {} if stroke is None else {"path": stroke if k % 2 == 0 else stroke[::-1]}
            self.manip_list.append(
                command_at(ends[(k + 1) % 2], "close_gripper", straight=True, pace=config.pace, **path)
            )

    def checks(self) -> tuple[Check, ...]:
        """Return the terms: the object is still held; the judge checks the strokes."""
        arm, name = self.controller.arm, self.config.objects[0]
        return (Check(name="grasped", arguments={"robot": arm.robot_name, "arm": arm.name, "object": name}),)


def _stroke(name: str, way: Array, number: int) -> dict[str, object]:
    return {"object": name, "way": [round(part, 9) for part in way.tolist()], "speed": SPEED, "stroke": number}
