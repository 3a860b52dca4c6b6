"""Motions of the tool: to a pose, or level to another object with a held one."""

from dataclasses import replace
from typing import ClassVar

import numpy as np

from handloom.arrays import Array
from handloom.errors import ConfigError
from handloom.motion.planning import Move
from handloom.scene import SceneArm
from handloom.scene.markers import hide
from handloom.scene.measures import local_box, surface_height, world_box
from handloom.skills.arms.arm_controller import TIMELESS
from handloom.skills.arms.arm_motion import imagined_at
from handloom.skills.arms.candidates import Chosen, choose
from handloom.skills.arms.orientations import Alignment, sample_orientations
from handloom.skills.configs.motions import GotoPoseConfig
from handloom.skills.configs.places import MoveConfig
from handloom.skills.skill import Skill, command_at, gripper_function, hand_check
from handloom.spatial import (
    invert_pose,
    make_pose,
    matrix_from_euler_deg,
    matrix_from_quat,
    matrix_from_rotvec,
    pos_quat_from_pose,
    pose_from_pos_quat,
    quat_normalize,
    quat_slerp,
    random_directions,
    transform_points,
    translation,
)
from handloom.values import Check, FunnelStage

CANDIDATES = 32
"""Orientations tested when none is given; published: 20."""
FOOTPRINT = 7
"""Points along each side of a held object below which the target's surface is measured before the press."""
HANGS = 0.35
"""Distance below a torso's shoulders [m] that corresponds to the bases of arms on a table."""
WIDER = 4
"""Factor on the number of candidates if places around a position are also tried."""
OFFERED = 6
"""Maximum number of poses at which an object is offered to another hand until it finds a grasp."""
DISTANCE, ANGLE = 5e-3, 0.087
"""The goal counts as reached within one of these [m], [rad]; published values."""


class GotoPose(Skill[GotoPoseConfig]):
    """The published goto; waypoints between start and goal are actually visited."""

    Config: ClassVar = GotoPoseConfig

    def simple_generate_manip_cmds(self) -> None:
        """Choose the pose and write the commands."""
        config = self.config
        self._goal = np.eye(4)
        poses = self._poses()
        if len(poses) == 0:
            detail = "no random orientation passes filter_x/y/z_dir and align_obj_tol; widen them"
            self.fail(FunnelStage.REACH, "filters_leave_nothing", detail)
            return
        self.controller.ignored = config.ignore_substring
        chosen = self._chosen(poses)
        if chosen is None:
            return
        self._goal = poses[chosen.index]
        function = gripper_function(config.gripper_state)
        slow = {} if config.pace is None else {"pace": config.pace}
        self.manip_list = [self.stay("update_specific", ignore_substring=config.ignore_substring)]
        if config.interp_nums < 2:
            self.manip_list.append(command_at(self._goal, function, **slow, **chosen.params(0)))
            return
        p0, q0 = pos_quat_from_pose(self.controller.commanded_pose)
        p1, q1 = pos_quat_from_pose(self._goal)
        for s in np.arange(1, config.interp_nums + 1) / config.interp_nums:
            pose = pose_from_pos_quat(p0 + s * (p1 - p0), quat_slerp(q0, q1, s))
            self.manip_list.append(command_at(pose, function, straight=True, **slow))

    def _chosen(self, poses: Array) -> Chosen | None:
        """Return the first of poses (n, 4, 4) within reach at which the taker, if any, can take the object."""
        first, left = None, np.arange(len(poses))
        for _ in range(1 if self.taker is None else OFFERED):
            chosen = choose(self, self._moves(poses[left]), test_mode=self.config.test_mode)
            if chosen is None:
                break
            index = int(left[chosen.index])
            chosen = replace(chosen, index=index)
            if self.taker is None or chosen.paths[0] is None or self._can_take(self.taker, chosen.paths[0][-1]):
                return chosen
            first, left = first or chosen, left[left != index]
            if len(left) == 0:
                break
        if first is not None:
            self.failure = None
        return first

    def _moves(self, poses: Array) -> list[Move]:
        """Return the move to poses (n, 4, 4), and the next one if that keeps the hand's orientation."""
        moves, after = [Move(T_base_tool=poses)], self.follower
        if self.config.room_behind:
            back = translation(-self.config.room_behind * self.controller.arm.spec.approach)
            return [*moves, Move(T_base_tool=poses @ back, straight=True)]
        if (
            isinstance(after, GotoPose)
            and after.config.keep_orientation
            and not (after.config.over or self.config.over)
        ):
            further = poses.copy()
            further[:, :3, 3] += np.subtract(after.config.position, self.config.position)
            moves.append(Move(T_base_tool=further))
        return moves

    def _can_take(self, taker: Skill, joints: Array) -> bool:
        """Return whether the other hand finds a grasp of the held object with this arm at joints (n,) [rad]."""
        arm, name = self.controller.arm, self.config.objects[0]
        T_tool_world = invert_pose(arm.T_world_base @ self.controller.tool_pose())
        T_world_tool = arm.T_world_base @ self.controller.chain.T_base_tool(joints)
        T_world_object = T_world_tool @ T_tool_world @ self.scene.object_pose(name)
        with imagined_at(self.scene, arm, joints, name, T_world_object):
            taker.failure, taker.manip_list = None, []
            taker.simple_generate_manip_cmds()
        return bool(taker.manip_list)

    def checks(self) -> tuple[Check, ...]:
        """Return the terms: the hand is at the place, or has the orientation."""
        return (hand_check(self.controller.arm, self._goal, distance=DISTANCE, angle=ANGLE, either=True),)

    def _poses(self) -> Array:
        """Return candidate poses T_base_tool (n, 4, 4)."""
        config = self.config
        noise = self.rng.uniform(-config.max_noise_m, config.max_noise_m, 3)
        position = np.asarray(config.position, float) + noise
        if config.between_arms:
            position = transform_points(self._T_base_middle(), position[None])[0]
        if config.over:
            box = world_box(self.scene, config.over)
            top = np.array([*box.mean(axis=0)[:2], box[1, 2]])
            position += transform_points(invert_pose(self.controller.arm.T_world_base), top[None])[0]
        if config.keep_orientation:
            return self._unturned(position)[None]
        if config.quaternion is None and config.euler is None:
            return self._aligned(position)
        if config.quaternion is not None:
            R = matrix_from_quat(quat_normalize(config.quaternion))
        else:
            R = matrix_from_euler_deg(np.asarray(config.euler, float))
        angle = np.deg2rad(self.rng.uniform(-config.max_noise_deg, config.max_noise_deg))
        return make_pose(R @ matrix_from_rotvec(angle * random_directions(self.rng, 1)[0]), position)[None]

    def _T_base_middle(self) -> Array:  # noqa: N802 - frame notation
        """Return the frame (4, 4) midway between the arms: x ahead, y to the left arm, z up; in the arm base."""
        arm = self.controller.arm
        bases = self.scene.robot(arm.robot_name).roots
        if len(bases) < 2:
            raise ConfigError(f"{self.config.name}: between_arms is for robots of two arms; {arm.robot_name} has one")
        y = (bases["left"] - bases["right"]) * [1.0, 1.0, 0.0]
        y, z = y / np.linalg.norm(y), np.array([0.0, 0.0, 1.0])
        middle = (bases["left"] + bases["right"]) / 2
        if np.allclose(arm.T_world_base[:3, 3], self._other_base(arm)):
            middle = middle - HANGS * z  # Arms on one torso start at its shoulders.
        T_world_middle = make_pose(np.column_stack([np.cross(y, z), y, z]), middle)
        return invert_pose(arm.T_world_base) @ T_world_middle

    def _other_base(self, arm: SceneArm) -> Array:
        """Return the base of the robot's other arm (3,), in the world [m]."""
        others = [other for other in self.scene.robot(arm.robot_name).arms if other.name != arm.name]
        return others[0].T_world_base[:3, 3]

    def _unturned(self, position: Array) -> Array:
        """Return the pose (4, 4) with the hand, or the held object, at a position (3,) [m], without rotation."""
        config, goal = self.config, self.controller.commanded_pose
        at = goal[:3, 3]
        if config.position_constraint == "object":
            at = (invert_pose(self.controller.arm.T_world_base) @ self.scene.object_pose(config.objects[0]))[:3, 3]
        goal[:3, 3] += position - at
        return goal

    def _aligned(self, position: Array) -> Array:
        """Return poses that turn the held object's axis to the reference axis, within the tolerance."""
        config = self.config
        if config.align_obj_axis is None or config.align_ref_axis is None or config.align_obj_tol is None:
            raise ConfigError(f"{config.name}: give quaternion or euler, or all of align_obj_axis, _ref_axis, _obj_tol")
        if not config.objects:
            raise ConfigError(f"{config.name}: align_obj_axis needs the held object in objects")
        T_base_world = invert_pose(self.controller.arm.T_world_base)
        T_base_object = T_base_world @ self.scene.object_pose(config.objects[0])
        T_tool_object = invert_pose(self.controller.tool_pose()) @ T_base_object
        axis, reference = np.asarray(config.align_obj_axis, float), np.asarray(config.align_ref_axis, float)
        reference = self._T_base_middle()[:3, :3] @ reference if config.between_arms else reference
        alignment = Alignment(
            axis_tool=T_tool_object[:3, :3] @ axis / np.linalg.norm(axis),
            axis_base=reference / np.linalg.norm(reference),
            tolerance=float(np.deg2rad(config.align_obj_tol)),
        )
        count = WIDER * CANDIDATES if any(config.spread) else CANDIDATES
        arm = self.controller.arm
        R = sample_orientations(self.rng, count, config, alignment, approach_axis=arm.spec.approach, up=arm.up)
        p = np.broadcast_to(position, (len(R), 3))
        if any(config.spread):
            # As near to the position as possible: the first candidates are there, the last ones anywhere around it.
            share = np.clip(np.arange(len(R)) / CANDIDATES - 0.5, 0.0, 1.0)[:, None]
            off = share * self.rng.uniform(-1.0, 1.0, (len(R), 3)) * np.asarray(config.spread)
            p = p + (off @ self._T_base_middle()[:3, :3].T if config.between_arms else off)
        if config.position_constraint == "gripper":
            return make_pose(R, p)
        return make_pose(R @ T_tool_object[:3, :3], p) @ invert_pose(T_tool_object)


class MoveSkill(Skill[MoveConfig]):
    """The published move: level, orientation unchanged, one waypoint per shift."""

    Config: ClassVar = MoveConfig

    def simple_generate_manip_cmds(self) -> None:
        """Write one command per waypoint."""
        config = self.config
        T_base_world = invert_pose(self.controller.arm.T_world_base)
        held, goal = (self.scene.object_pose(name)[:3, 3] for name in config.objects[:2])
        shift = T_base_world[:3, :3] @ ((goal - held) * [1.0, 1.0, 0.0])
        self._goal = start = self.controller.commanded_pose
        self.manip_list = [
            self.stay("update_specific", ignore_substring=config.ignore_substring),
            self.stay("update_pose_cost_metric", hold_vec_weight=config.hold_vec_weight),
        ]
        for k, delta in enumerate(config.delta_trans):
            self._goal = start.copy()
            self._goal[:3, 3] += shift + np.asarray(delta, float)
            lowered = config.press is not None and k > 0
            if lowered:
                self._goal[2, 3] -= self._height_above(T_base_world, self._goal) + (config.press or 0.0)
            self.manip_list.append(command_at(self._goal, "close_gripper", straight=lowered))
        self.manip_list.append(command_at(self._goal, "update_pose_cost_metric"))

    def update(self) -> None:
        """Let the wiped object disappear once the hand is at the last waypoint and all terms hold."""
        super().update()
        last = len([command for command in self.manip_list if command.function not in TIMELESS]) <= 1
        if self.config.vanishing is not None and last and self.is_success():
            hide(self.scene, self.config.vanishing)

    def _height_above(self, T_base_world: Array, T_base_tool: Array) -> float:
        """Return the height of the held object above the target [m] with the tool at a pose, level in the base."""
        held, target = self.config.objects[:2]
        box, T_world_held = local_box(self.scene, held)
        moved = T_base_world[:3, :3].T @ (T_base_tool[:3, 3] - self.controller.commanded_pose[:3, 3])
        ticks = np.linspace(0.0, 1.0, FOOTPRINT)
        grid = np.stack(np.meshgrid(ticks, ticks, ticks), axis=-1).reshape(-1, 3)
        points = transform_points(T_world_held, box[0] + grid * (box[1] - box[0])) + moved
        surface = surface_height(self.scene, target, points[:, :2])
        # Beside the target there is nothing to press on; the contact check reports that.
        return float(points[:, 2].min() - surface) if np.isfinite(surface) else 0.0

    def checks(self) -> tuple[Check, ...]:
        """Return the terms: hand at the last waypoint, held object by the other one and, to wipe, touching it."""
        config = self.config
        limit = config.success_threshold
        terms = [hand_check(self.controller.arm, self._goal, distance=limit)]
        held, goal = config.objects[:2]
        if held != goal:
            # A disappearing object is lowered through the floor, so its height means nothing.
            flat = {"flat": True} if goal == config.vanishing else {}
            terms.append(Check(name="near", arguments={"object": held, "target": goal, "distance": limit, **flat}))
        if config.press is not None:
            touches = {"object": held, "target": goal}
            terms.append(Check(name="touches", arguments=touches, share=config.contact_share))
        return tuple(terms)
