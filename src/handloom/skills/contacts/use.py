"""Use a held object: bring a point of it onto a target, as often and with as much force as required."""

from itertools import product
from typing import Any, ClassVar

import numpy as np

from handloom.arrays import Array
from handloom.judging.point_terms import used_on
from handloom.motion.planning import Move
from handloom.scene import Scene
from handloom.scene.measures import local_box, world_box
from handloom.scene.named_points import named_point, point_of
from handloom.skills.arms.candidates import choose
from handloom.skills.configs.contacts import UseConfig
from handloom.skills.placing.descent import drop_height
from handloom.skills.skill import Skill, command_at
from handloom.spatial import invert_pose, make_pose, matrix_from_rotvec
from handloom.values import Check, FunnelStage

TURNS = 16
"""Rotations of the held object about the vertical that are tried."""
ONCE = 1e-3
"""Fraction of a skill's frames that amounts to at least one frame."""
LEAST_LEAN = 10.0
"""Largest tilt of an object held by an arm of five joints [deg], regardless of the ``tilt`` key."""
NEAR = 0.03
"""Largest distance between the contact and the specified point, if that is not a corner [m]."""


def used_terms(scene: Scene, config: UseConfig) -> tuple[Check, ...]:
    """Return the terms that must have held in turn: a touch, and no contact between two touches."""
    name, target = config.objects[:2]
    pair = {"object": name, "target": target}
    touch = {**pair, "point": config.point, "target_point": config.target_point, "force": config.force}
    touch["within"] = NEAR
    once, terms = 1.0 / scene.instance.fps, []
    for stroke in range(config.times):
        if stroke:
            apart = {**pair, "stroke": 2 * stroke - 1, "apart": True}
            terms.append(Check(name=used_on.__name__, arguments=apart, seconds=once))
        terms.append(Check(name=used_on.__name__, arguments={**touch, "stroke": 2 * stroke}, seconds=once))
    return tuple(terms)


class Use(Skill[UseConfig]):
    """The held object is moved above the target, straight down until its point touches, and up again."""

    Config: ClassVar = UseConfig

    @staticmethod
    def deeds(scene: Scene, config: UseConfig) -> tuple[Check, ...]:
        """Return its effect on the world: the point touched the target that often, and the object is still held."""
        return (*used_terms(scene, config), Check(name="in_hand", arguments={"object": config.objects[0]}))

    def simple_generate_manip_cmds(self) -> None:
        """Choose the approach of the held object to the target, and write the commands."""
        config, controller = self.config, self.controller
        name, target = config.objects[:2]
        T_base_world = invert_pose(controller.arm.T_world_base)
        T_tool_object = invert_pose(controller.tool_pose()) @ T_base_world @ self.scene.object_pose(name)
        above = self._above(self._touching_point())
        drops = np.array([drop_height(self.scene, name, T) for T in above])
        fits = drops > 0.0
        if not fits.any():
            self.fail(FunnelStage.PLAN, "goal_in_collision", f"{name} does not fit over {target} in any turn")
            return
        above, drops = above[fits], drops[fits]
        touch = above.copy()
        touch[:, 2, 3] -= drops + config.depth
        before, down = (T_base_world @ T @ invert_pose(T_tool_object) for T in (above, touch))
        before, down = self._attainable(before, down, T_base_world, T_tool_object)
        if len(down) == 0:
            detail = f"no way to hold {name} over {target} suits the joints of this arm"
            self.fail(FunnelStage.REACH, "goal_unreachable", detail)
            return
        controller.ignored = config.ignore_substring
        meets = controller.obstacles_of(target)
        moves = [Move(T_base_tool=before), Move(T_base_tool=down, straight=True, ignore=(*meets, *self._below(target)))]
        chosen = choose(self, moves)
        if chosen is None:
            return
        before, down = before[chosen.index], down[chosen.index]
        own, without = config.ignore_substring, (*config.ignore_substring, *moves[1].ignore)
        stroke = chosen.paths[1]
        there, back = ({}, {}) if stroke is None else ({"path": stroke}, {"path": stroke[::-1]})
        self.manip_list = [
            self.stay("update_pose_cost_metric"),
            self.stay("update_specific", ignore_substring=own),
            command_at(before, "close_gripper", **chosen.params(0)),
            command_at(before, "update_specific", ignore_substring=without),
        ]
        for _ in range(config.times):
            self.manip_list += [
                command_at(down, "close_gripper", straight=True, pace=config.pace, **there),
                *[command_at(down, "close_gripper")] * self.frames(config.hold_steps),
                command_at(before, "close_gripper", straight=True, **back),
            ]
        self.manip_list.append(command_at(before, "update_specific", ignore_substring=own))

    def checks(self) -> tuple[Check, ...]:
        """Return the terms: the point touched the target at some time, and the object is still held."""
        arm, config = self.controller.arm, self.config
        held = {"robot": arm.robot_name, "arm": arm.name, "object": config.objects[0]}
        touch = used_terms(self.scene, config)[0]
        return (
            Check(name=touch.name, arguments=touch.arguments, share=ONCE),
            Check(name="grasped", arguments=held),
        )

    def _attainable(self, before: Array, down: Array, T_base_world: Array, T_tool_object: Array) -> tuple[Array, Array]:
        """Replace poses that an arm of five joints cannot take: same point and tilt of the tool, other rotation."""
        point = T_tool_object[:3, :3] @ self._touching_point() + T_tool_object[:3, 3]
        upright = self.controller.tool_pose()[:3, :3].T @ T_base_world[:3, 2]
        lean = float(np.deg2rad(max(self.config.tilt, LEAST_LEAN)))
        taken, found = self.controller.attainable(down, point_tool=point, axis_tool=upright, angle=lean)
        raised = taken.copy()
        raised[:, :3, 3] += before[:, :3, 3] - down[:, :3, 3]
        return raised[found], taken[found]

    def _touching_point(self) -> Array:
        """Return the contact point of the held object (3,), in its own frame [m]."""
        config, name = self.config, self.config.objects[0]
        if config.point is not None:
            known: Any = point_of(self.scene.assets[name], name, config.point)
            return np.asarray(known.position, float)
        box, T = local_box(self.scene, name)
        down = T[2, :3]
        return np.where(down > 0.0, box[0], box[1]) * (np.abs(down) > 0.5) + box.mean(axis=0) * (np.abs(down) <= 0.5)

    def _above(self, point: Array) -> Array:
        """Return poses T_world_object (n, 4, 4), clear of the target with the point above it, smallest rotation first.

        Args:
            point: The contact point (3,), in the object's own frame [m].
        """
        config, (name, target) = self.config, self.config.objects[:2]
        now, box = self.scene.object_pose(name), world_box(self.scene, target)
        spot = np.array([*box.mean(axis=0)[:2], box[1, 2]])
        if config.target_point is not None:
            spot = named_point(self.scene, target, config.target_point)
        own = world_box(self.scene, name)
        rise = float((now[:3, :3] @ point + now[:3, 3])[2] - own[0, 2])
        z = max(spot[2], box[1, 2]) + config.lift + max(rise, 0.0)
        lean = np.deg2rad(config.tilt)
        leans = [np.zeros(3), *(lean * np.array([np.cos(a), np.sin(a), 0.0]) for a in np.arange(4) * 0.5 * np.pi)]
        turns = sorted(np.arange(TURNS) * 2.0 * np.pi / TURNS - np.pi, key=lambda turn: abs(float(turn)))
        poses = []
        for tilt, turn in product(leans if lean > 0.0 else leans[:1], turns):
            R = matrix_from_rotvec(tilt) @ matrix_from_rotvec(np.array([0.0, 0.0, float(turn)])) @ now[:3, :3]
            poses.append(make_pose(R, np.array([spot[0], spot[1], z]) - R @ point))
        return np.stack(poses)

    def _below(self, target: str) -> tuple[str, ...]:
        """Return the planner's names of the supports of a thin target, to which the tool also comes close."""
        low = world_box(self.scene, target)[0, 2]
        found: list[str] = []
        for other in self.scene.instance.objects:
            if other.name in self.config.objects or not other.fixed or not other.solid:
                continue
            box = world_box(self.scene, other.name)
            if abs(float(box[1, 2]) - float(low)) < NEAR:
                found += self.controller.obstacles_of(other.name)
        return tuple(found)
