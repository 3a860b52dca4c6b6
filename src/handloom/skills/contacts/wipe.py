"""Wipe a surface with a held object: press it down and move it back and forth."""

from itertools import product
from typing import ClassVar

import numpy as np

from handloom.arrays import Array
from handloom.judging.world_terms import wipes
from handloom.motion.planning import Move
from handloom.scene import Scene
from handloom.scene.fixtures import FIXTURES
from handloom.scene.measures import world_box
from handloom.scene.named_points import named_point
from handloom.skills.arms.candidates import choose
from handloom.skills.configs.contacts import WipeConfig
from handloom.skills.placing.descent import drop_height
from handloom.skills.placing.spots import reach_of
from handloom.skills.skill import Skill, command_at
from handloom.spatial import invert_pose, make_pose, matrix_from_rotvec
from handloom.values import Check, FunnelStage

WIPED = 0.5
"""Required duration of wiping [s]."""
TURNS = 8
"""Rotations of the held object about the vertical that are tried."""
WAYS = 4
"""Directions of the strokes that are tried."""
NEARER = (0.0, 0.3, 0.5)
"""Shifts of the middle of the strokes towards the arm, as fractions of the target's half width, in order of trial."""
SHORTEST = 0.02
"""Shortest stroke [m]."""
SOMETIME = 1e-3
"""Fraction of a skill's frames that amounts to at least one frame."""


def wipe_term(scene: Scene, config: WipeConfig) -> Check:
    """Return the term that the held object rubs on the target."""
    name, target = config.objects[:2]
    return Check(name=wipes.__name__, arguments={"object": name, "target": target, "part": config.point})


class Wipe(Skill[WipeConfig]):
    """The held object is lowered onto the target, pressed down, moved back and forth, and lifted again."""

    Config: ClassVar = WipeConfig

    @staticmethod
    def deeds(scene: Scene, config: WipeConfig) -> tuple[Check, ...]:
        """Return its effect on the world: the target was rubbed for half a second, and the object is still held."""
        term = wipe_term(scene, config)
        rubbed = Check(name=term.name, arguments=term.arguments, seconds=WIPED)
        return (rubbed, Check(name="in_hand", arguments={"object": config.objects[0]}))

    def simple_generate_manip_cmds(self) -> None:
        """Choose the place and direction of the strokes, and write the commands."""
        config, controller = self.config, self.controller
        name, target = config.objects[:2]
        T_base_world = invert_pose(controller.arm.T_world_base)
        T_tool_object = invert_pose(controller.tool_pose()) @ T_base_world @ self.scene.object_pose(name)
        above, ends = self._poses()
        # Strokes with the same place and rotation differ only in direction.
        drops = np.repeat([drop_height(self.scene, name, T) for T in above[::WAYS]], WAYS)
        fits = drops > 0.0
        if not fits.any():
            self.fail(FunnelStage.PLAN, "goal_in_collision", f"{name} does not fit over {target} in any turn")
            return
        above, ends, drops = above[fits], ends[fits], drops[fits]
        on = np.stack([above.copy(), above.copy()], axis=1)
        on[:, :, 2, 3] -= (drops + config.press)[:, None]
        on[:, :, :2, 3] += ends
        T_object_tool = invert_pose(T_tool_object)
        before, first, last = (T_base_world @ T @ T_object_tool for T in (above, on[:, 0], on[:, 1]))
        controller.ignored = config.ignore_substring
        # The wiped target, and the support of a thin mat, are touched on purpose.
        fixed = [obj.name for obj in self.scene.instance.objects if obj.category in FIXTURES and obj.solid]
        meets = tuple(solid for other in (target, *fixed) for solid in controller.obstacles_of(other))
        moves = [Move(T_base_tool=before)]
        moves += [Move(T_base_tool=T, straight=True, ignore=meets) for T in (first, last)]
        chosen = choose(self, moves)
        if chosen is None:
            return
        before, first, last = (T[chosen.index] for T in (before, first, last))
        own, without, stroke = config.ignore_substring, (*config.ignore_substring, *meets), chosen.paths[2]
        self.manip_list = [
            self.stay("update_pose_cost_metric"),
            self.stay("update_specific", ignore_substring=own),
            command_at(before, "close_gripper", **chosen.params(0)),
            command_at(before, "update_specific", ignore_substring=without),
            command_at(first, "close_gripper", straight=True, pace=config.pace, **chosen.params(1)),
        ]
        for k in range(2 * config.times):
            path = {} if stroke is None else {"path": stroke if k % 2 == 0 else stroke[::-1]}
            goal = last if k % 2 == 0 else first
            self.manip_list.append(command_at(goal, "close_gripper", straight=True, pace=config.pace, **path))
        self.manip_list.append(command_at(before, "close_gripper", straight=True))
        self.manip_list.append(command_at(before, "update_specific", ignore_substring=own))

    def checks(self) -> tuple[Check, ...]:
        """Return the terms: the object rubbed at some time, and is still held."""
        arm, term = self.controller.arm, wipe_term(self.scene, self.config)
        held = {"robot": arm.robot_name, "arm": arm.name, "object": self.config.objects[0]}
        return (Check(name=term.name, arguments=term.arguments, share=SOMETIME), Check(name="grasped", arguments=held))

    def _poses(self) -> tuple[Array, Array]:
        """Return T_world_object (n, 4, 4) above the target, and the offsets of both ends of a stroke (n, 2, 2).

        Furniture is wiped below the current position of the held object, other targets around their middle.
        """
        config, (name, target) = self.config, self.config.objects[:2]
        now, box, own = self.scene.object_pose(name), world_box(self.scene, target), world_box(self.scene, name)
        large = next(obj for obj in self.scene.instance.objects if obj.name == target).category in FIXTURES
        spot = own.mean(axis=0)[:2] if large else box.mean(axis=0)[:2]
        if config.target_point is not None:
            spot = named_point(self.scene, target, config.target_point)[:2]
        # On a distant target, the side nearest to the arm will do.
        toward = self.controller.arm.T_world_base[:2, 3] - spot
        room = 0.5 * float(np.min((box[1] - box[0])[:2]))
        toward = room * toward / max(float(np.linalg.norm(toward)), 1e-9)
        poses, ends = [], []
        turns = sorted(np.arange(TURNS) * 2.0 * np.pi / TURNS - np.pi, key=lambda turn: abs(float(turn)))
        for near, turn in product(NEARER if not large and config.target_point is None else NEARER[:1], turns):
            R = matrix_from_rotvec(np.array([0.0, 0.0, float(turn)])) @ now[:3, :3]
            low, high = reach_of(self.scene, name, R[None])[0]
            middle = spot + near * toward - 0.5 * (low + high)[:2]
            z = box[1, 2] - low[2] + config.lift
            for way in np.arange(WAYS) * np.pi / WAYS:
                along = np.array([np.cos(way), np.sin(way)])
                room = (box[1] - box[0])[:2] - (high - low)[:2]
                span = float(np.min(np.maximum(room, 0.0) / np.maximum(np.abs(along), 1e-6)))
                half = 0.5 * float(np.clip(min(config.length, span), SHORTEST, config.length))
                poses.append(make_pose(R, np.array([*middle, z])))
                ends.append(np.stack([-half * along, half * along]))
        return np.stack(poses), np.stack(ends)
