"""Turn a held object, in place or at a new place."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from handloom.arrays import Array
from handloom.motion.planning import Move
from handloom.skills.arms.arm_controller import CLOSED
from handloom.skills.arms.candidates import choose
from handloom.skills.arms.held_parts import HeldParts
from handloom.skills.configs.places import ApproachRotateConfig, DummyForward, RotateObjConfig, RotationGoal
from handloom.skills.motions.joint_skills import joint_line, set_joints
from handloom.skills.skill import Skill, between, command_at, gripper_function
from handloom.spatial import (
    invert_pose,
    make_pose,
    matrix_from_euler_deg,
    matrix_from_rotvec,
    quat_from_matrix,
    rotvec_from_matrix,
    translation,
)
from handloom.values import Check, Command

AXES = {"x": 0, "y": 1, "z": 2}
DRAWS = 16
"""Tilts that are tested when the config gives a range; published: 1."""
TURN = 0.35
"""Largest rotation between two waypoints [rad]; in between, the object turns about the hand, not about its point."""


@dataclass(frozen=True, kw_only=True, eq=False)
class HeldObject:
    """An object in the hand with a reference point on it."""

    name: str
    point: tuple[float, float, float]
    """Reference point in the object frame [m]."""
    T_world_base: Array
    T_world_point: Array
    """Current pose of the reference point, with the object's axes (4, 4)."""
    T_tool_point: Array

    @classmethod
    def of(cls, skill: Skill, name: str, offsets: Sequence[tuple[str, float]] = ()) -> "HeldObject":
        """Return an object held by the arm of a skill; offsets shift its reference point along its own axes [m]."""
        x, y, z = sum((distance * np.eye(3)[AXES[axis]] for axis, distance in offsets), np.zeros(3)).tolist()
        T_world_base = skill.controller.arm.T_world_base
        T_world_point = skill.scene.object_pose(name) @ translation((x, y, z))
        T_tool_point = invert_pose(T_world_base @ skill.controller.tool_pose()) @ T_world_point
        return cls(
            name=name,
            point=(x, y, z),
            T_world_base=T_world_base,
            T_world_point=T_world_point,
            T_tool_point=T_tool_point,
        )

    def hand_poses(self, T_world_point: Array) -> Array:
        """Return T_base_tool (..., 4, 4) that bring the reference point to poses (..., 4, 4)."""
        return invert_pose(self.T_world_base) @ T_world_point @ invert_pose(self.T_tool_point)

    def point_at(self, T_base_tool: Array) -> Array:
        """Return T_world_point (4, 4) with the hand at a pose."""
        return self.T_world_base @ T_base_tool @ self.T_tool_point

    def checks(
        self, skill: Skill, T_world_point: Array, *, distance: float | None, angle: float | None
    ) -> tuple[Check, ...]:
        """Return the terms: the object is in the hand, with its reference point at a pose within tolerances [m], [rad].

        The published terms check the hand only; these also detect an object that slips in it.
        """
        arm, terms = skill.controller.arm, []
        if skill.controller.gripper_state == CLOSED:
            arguments = {"robot": arm.robot_name, "arm": arm.name, "object": self.name}
            terms.append(Check(name="grasped", arguments=arguments))
        if distance is not None:
            at = {"position": T_world_point[:3, 3].tolist(), "point": list(self.point), "distance": distance}
            terms.append(Check(name="point_at", arguments={"object": self.name, **at}))
        if angle is not None:
            quat = quat_from_matrix(T_world_point[:3, :3]).tolist()
            terms.append(Check(name="turned_to", arguments={"object": self.name, "quat": quat, "angle": angle}))
        return tuple(terms)


def joint_moves(skill: Skill, start: Array, dummy: DummyForward) -> tuple[list[Command], Array]:
    """Return one command per frame of the joint move at the end of a skill, and its final joints (n,).

    Args:
        skill: The calling skill.
        start: Final joints (n,) [rad] of its other moves.
        dummy: The joints to set, in how many frames, with which gripper state.
    """
    chain = skill.controller.chain
    goal = np.clip(set_joints(start, dummy.ctrl_list, skill.config.name), chain.lower, chain.upper)
    speed = skill.controller.limits.velocity
    line = joint_line(start, goal, skill.frames(dummy.num_steps), speed, skill.scene.instance.fps)
    return [skill.stay("dummy_forward", arm_action=q, gripper_state=dummy.gripper_state) for q in line], goal


class RotateObj(Skill[RotateObjConfig]):
    """The published rotation of a held object, evenly about its reference point."""

    Config: ClassVar = RotateObjConfig

    def simple_generate_manip_cmds(self) -> None:
        """Draw tilts, choose one that the arm can follow, and write one command per waypoint."""
        config = self.config
        self._held = HeldObject.of(self, config.objects[0], config.obj_axis_offset)
        self._goal = self._held.T_world_point
        stations = self._stations()
        way = self._way_points(stations)
        self.controller.ignored = config.ignore_substring
        hands = [self._held.hand_poses(T) for T in way]
        moves = [Move(T_base_tool=T, straight=k > 0) for k, T in enumerate(hands)]
        chosen = choose(self, moves)
        if chosen is None:
            return
        self._goal = stations[-1][chosen.index]
        function = gripper_function(config.gripper_state)
        self.manip_list = [self.stay("update_specific", ignore_substring=config.ignore_substring)]
        for k, T in enumerate(hands):
            self.manip_list.append(command_at(T[chosen.index], function, straight=True, **chosen.params(k)))
        self._append_joint_moves(chosen.paths[-1])

    def checks(self) -> tuple[Check, ...]:
        """Return the terms: the object is in the hand, at the wanted place and tilt."""
        config = self.config
        distance = None if config.rotate_only else config.success_threshold_move
        return self._held.checks(self, self._goal, distance=distance, angle=config.success_threshold_rotate)

    def _stations(self) -> list[Array]:
        """Return poses (n, 4, 4) of the reference point in the world at the end of each motion."""
        config = self.config
        low, high = np.array(config.rotate_obj_euler_delta, float)
        degrees = between(self.rng, low, high, (1 if np.array_equal(low, high) else DRAWS, 3))
        x, y, z = (matrix_from_rotvec(np.deg2rad(degrees[:, k : k + 1]) * np.eye(3)[k]) for k in range(3))
        start = self._held.T_world_point
        R = start[:3, :3] @ x @ y @ z
        shift = np.zeros(3) if config.rotate_only else np.asarray(config.trans_offset, float)
        goal = make_pose(R, start[:3, 3] + shift)
        if config.first_motion == "move":
            p = start[:3, 3] + shift + np.asarray(config.move_offset or (0.0, 0.0, 0.0), float)
            return [make_pose(np.broadcast_to(start[:3, :3], R.shape), p), goal]
        if config.first_motion == "rotate":
            p = start[:3, 3] + np.asarray(config.rotate_offset or (0.0, 0.0, 0.0), float)
            return [make_pose(R, p), goal]
        return [goal]

    def _way_points(self, stations: list[Array]) -> list[Array]:
        """Return a sequence of poses (n, 4, 4), small rotations apart, that ends with the last station."""
        before = np.broadcast_to(self._held.T_world_point, stations[0].shape)
        way = []
        for after in stations:
            turn = rotvec_from_matrix(np.swapaxes(before[:, :3, :3], 1, 2) @ after[:, :3, :3])
            count = max(1, int(np.ceil(np.linalg.norm(turn, axis=1).max() / TURN)))
            for s in np.arange(1, count + 1) / count:
                R = before[:, :3, :3] @ matrix_from_rotvec(s * turn)
                way.append(make_pose(R, (1.0 - s) * before[:, :3, 3] + s * after[:, :3, 3]))
            before = after
        return way

    def _append_joint_moves(self, path: Array | None) -> None:
        """Add the joint move of ``ctrl_list``, given in ``dummy_forward`` or beside it; its end becomes the goal."""
        config = self.config
        given = config.dummy_forward or DummyForward()
        dummy = given.model_copy(update={"ctrl_list": given.ctrl_list or config.ctrl_list})
        if path is None or not (config.dummy_forward or dummy.ctrl_list):
            return
        commands, q = joint_moves(self, path[-1], dummy)
        self.manip_list += commands
        self._goal = self._held.point_at(self.controller.chain.T_base_tool(q))


class ApproachRotate(Skill[ApproachRotateConfig]):
    """The published approach: the object's reference point moves beside another object, at its current height."""

    Config: ClassVar = ApproachRotateConfig

    def simple_generate_manip_cmds(self) -> None:
        """Choose a reachable pose of the object, and write the commands."""
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
        """Return the terms: the object is held, next to the other one, with the requested rotation."""
        config = self.config
        angle = None if config.rotate is None else config.rotate.success_threshold
        return self._held.checks(self, self._goal, distance=config.success_threshold, angle=angle)

    def _place(self) -> Array:
        """Return the goal of the reference point (3,) in the world [m]."""
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

    The heading is that of its x axis [rad], or of its y axis if x is up. For published objects, whose y axis
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
