"""Bring a held object next to another and turn it."""

from typing import ClassVar

import numpy as np

from handloom.arrays import Array
from handloom.motion.planning import Move
from handloom.skills.candidates import choose
from handloom.skills.configs.places import ApproachRotateConfig, RotationGoal
from handloom.skills.draws import between
from handloom.skills.held_object import HeldObject, joint_moves
from handloom.skills.held_parts import HeldParts
from handloom.skills.skill import Skill, command_at
from handloom.spatial import make_pose, matrix_from_euler_deg, matrix_from_rotvec
from handloom.values import Check

DRAWS = 16
"""Orientations that are tested when the config gives a range; published: 1."""


class ApproachRotate(Skill[ApproachRotateConfig]):
    """The published approach: the object's reference point goes beside another object, at its present height."""

    Config: ClassVar = ApproachRotateConfig

    def simple_generate_manip_cmds(self) -> None:
        """Choose a pose of the object that the arm can bring it to, and write the commands."""
        config = self.config
        self._held = HeldObject.of(self, config.objects[0], config.obj_axis_offset)
        self._goal = self._held.T_world_point
        R = self._orientations(config.rotate)
        goals = make_pose(R, np.broadcast_to(self._place(), (len(R), 3)))
        hands = self._held.hand_poses(goals)
        parts = HeldParts.given(config.hold_vec_weight)
        self.controller.ignored = config.ignore_substring
        chosen = choose(self, [Move(T_base_tool=hands)], holds=[parts])
        if chosen is None:
            return
        self._goal = goals[chosen.index]
        self.manip_list = [
            self.stay("update_specific", ignore_substring=config.ignore_substring),
            self.stay("update_pose_cost_metric", hold_vec_weight=config.hold_vec_weight),
            command_at(hands[chosen.index], "close_gripper", **chosen.params(0)),
            command_at(hands[chosen.index], "update_pose_cost_metric"),
        ]
        path = chosen.paths[0]
        if config.dummy_forward is not None and path is not None:
            commands, q = joint_moves(self, path[-1], config.dummy_forward)
            self.manip_list += commands
            self._goal = self._held.point_at(self.controller.chain.T_base_tool(q))

    def checks(self) -> tuple[Check, ...]:
        """Return: the object is in the hand, next to the other, turned as wanted."""
        config = self.config
        angle = None if config.rotate is None else config.rotate.success_threshold
        return self._held.checks(self, self._goal, distance=config.success_threshold, angle=angle)

    def _place(self) -> Array:
        """Return where the reference point goes (3,) in the world [m]."""
        config = self.config
        sign, axis = (1.0 if config.approach_axis[0] == "+" else -1.0), "xy".index(config.approach_axis[1])
        along = matrix_from_euler_deg(np.array([0.0, 0.0, config.obj_yaw_offset])) @ (sign * np.eye(3)[axis])
        place = self.scene.object_pose(config.objects[1])[:3, 3] - config.distance * along
        place[2] = self._held.T_world_point[2, 3] + config.z_offset
        return place

    def _orientations(self, rotate: RotationGoal | None) -> Array:
        """Return orientations (n, 3, 3) of the object in the world."""
        now = self._held.T_world_point[:3, :3]
        if rotate is None or (rotate.type == "random" and rotate.rotate_obj_euler is None):
            return now[None]
        if rotate.type == "towards":
            other = rotate.objects[0] if rotate.objects else self.config.objects[1]
            away = self.scene.object_pose(other)[:3, 3] - self._held.T_world_base[:3, 3]
            return upright_towards(now, float(np.arctan2(away[1], away[0])))[None]
        low, high = np.array(rotate.rotate_obj_euler, float)
        return matrix_from_euler_deg(between(self.rng, low, high, (1 if np.array_equal(low, high) else DRAWS, 3)))


def upright_towards(R: Array, yaw: float) -> Array:
    """Return an orientation (3, 3) with the axis of the object that is nearest to up exactly up, and heading ``yaw``.

    Its x axis points that way [rad], or its y axis when x is the one that is up. For published objects, whose y axis
    is up, this is Euler [90, 0, yaw].
    """
    up = int(np.argmax(np.abs(R[2])))
    front = 1 if up == 0 else 0
    columns = np.zeros((3, 3))
    columns[:, up] = [0.0, 0.0, np.sign(R[2, up])]
    columns[:, front] = matrix_from_rotvec(np.array([0.0, 0.0, yaw]))[:, 0]
    third = 3 - up - front
    after, before = columns[:, (third + 1) % 3], columns[:, (third + 2) % 3]
    columns[:, third] = np.cross(after, before)
    return columns
