"""Put a held object on, in or by another."""

from functools import partial
from typing import ClassVar

import numpy as np

from handloom.arrays import Array
from handloom.motion.planning import Move
from handloom.skills.boxes import world_box
from handloom.skills.candidates import Chosen, choose
from handloom.skills.configs.places import PlaceConfig
from handloom.skills.grasp_poses import gripper_of
from handloom.skills.held_axis import Held, HeldAxis
from handloom.skills.held_parts import HeldParts
from handloom.skills.orientations import Alignment, sample_orientations
from handloom.skills.place_points import BESIDE, HeldSize, place_points
from handloom.skills.preshape import Preshape
from handloom.skills.skill import Skill, command_at
from handloom.spatial import invert_pose, make_pose, translation
from handloom.values import Check, Command, FunnelStage

CANDIDATES = 32
"""Poses tested; published: 20."""
ANGLE = float(np.deg2rad(0.5))
"""How far an arm of few joints may turn the hand where no axis of the object is aligned [rad]."""
HELD_ANGLE = 0.05
"""How far an axis that is held on the way may have turned at the place, where none is aligned [rad]."""
HEIGHT_DROP = 0.4
"""Success mode ``height``: how far below the hand the object must end [m]; published value."""
XY_MARGIN = 0.015
"""Success mode ``xybbox``: how far inside the target's edge [m]; published value."""
CUP_RISE = 0.05
"""Success mode ``cup``: how far above the bottom of the target [m]; published value."""


class Place(Skill[PlaceConfig]):
    """The published place: random poses over the target, filters, plan, lower, open, retreat."""

    Config: ClassVar = PlaceConfig

    def simple_generate_manip_cmds(self) -> None:
        """Choose where and how the object is put down, and write the commands."""
        config = self.config
        self._place_z, self._near = np.inf, np.inf
        T_base_world = invert_pose(self.controller.arm.T_world_base)
        T_base_tool = self.controller.tool_pose()
        T_base_object = T_base_world @ self.scene.object_pose(config.objects[0])
        T_tool_object = invert_pose(T_base_tool) @ T_base_object
        kept = self._kept(T_tool_object)
        R = self._orientations(T_base_world, T_tool_object, kept)
        if len(R) == 0:
            detail = "no random orientation passes filter_x/y/z_dir and align_obj_tol; widen them"
            self.fail(FunnelStage.REACH, "filters_leave_nothing", detail)
            return
        # Little turning first: published priority is the way of the joints, which mostly is the same.
        turn = np.einsum("nij,ij->n", R, T_base_tool[:3, :3])
        R = R[np.argsort(-turn, kind="stable")]
        box = world_box(self.scene, config.objects[1], config.place_part_prim_path)
        R_target = self.scene.object_pose(config.objects[1])[:3, :3]
        reach = float(np.linalg.norm(T_tool_object[:3, 3]))
        own = world_box(self.scene, config.objects[0])
        rise = float(self.scene.object_pose(config.objects[0])[2, 3] - own[0, 2])
        held = HeldSize(rise=rise, half_width=float(own[1, 0] - own[0, 0]) / 2.0)
        points = place_points(config, box, R_target, len(R), self.rng, hand_to_object=reach, held=held)
        self._near = float(np.linalg.norm(box[1, :2] - box[0, :2])) / 2.0 + 2.0 * (held.half_width + BESIDE[1])
        pre, place = (self._hand_poses(T_base_world, R, p, T_tool_object) for p in points)
        pre, place = self._attainable(pre, place, T_base_world, T_tool_object)
        if len(place) == 0:
            detail = f"none of {len(R)} poses over {config.objects[1]} can be taken by an arm of so few joints"
            self.fail(FunnelStage.REACH, "goal_unreachable", detail, given=len(R))
            return
        self.controller.ignored = config.ignore_substring
        moves = [Move(T_base_tool=pre), Move(T_base_tool=place, straight=True)]
        self._retreat = self._retreat_vector()
        if self._retreat is not None:
            # The retreat is tested too: an arm that cannot get away again has not placed anything. By then the object
            # is let go; carried along in the test, it would hit the hole it was put into.
            left = self.controller.obstacles_of(config.objects[0])
            away = place @ translation(self._retreat)
            moves.append(Move(T_base_tool=away, straight=True, released=left))
        holds = [kept, HeldParts.given(config.post_place_hold_vec_weight)]
        # The retreat leaves the object behind, so nothing has to be held any more.
        chosen = choose(self, moves, test_mode=config.test_mode, holds=[*holds, None][: len(moves)])
        if chosen is not None:
            self._place_z = float(place[chosen.index, 2, 3])
            self.manip_list = self._commands(pre[chosen.index], place[chosen.index], chosen, kept)

    def checks(self) -> tuple[Check, ...]:
        """Return the terms of the success mode, and that nothing is flung about."""
        config, arm = self.config, self.controller.arm
        held, target = config.objects[:2]
        pair = {"object": held, "target": target, "part": config.place_part_prim_path}
        side = {"robot": arm.robot_name, "arm": arm.name, "object": held}
        overlap = Check(name="overlapping", arguments={**pair, "above": config.success_th})
        over = Check(name="over_box", arguments={**pair, "margin": 0.0})
        modes = {
            "3diou": (overlap,),
            "xybbox": (Check(name="over_box", arguments={**pair, "margin": XY_MARGIN}),),
            "height": (Check(name="lower_than", arguments={**side, "height": self._place_z - HEIGHT_DROP}),),
            "left": (Check(name="left_of", arguments={**pair, "distance": config.threshold}),),
            "right": (Check(name="right_of", arguments={**pair, "distance": config.threshold}),),
            "flower": (over, overlap),
            "cup": (Check(name="raised_above", arguments={**pair, "by": CUP_RISE}), overlap),
            "resting": (
                over,
                Check(name="touches", arguments={"object": held, "target": target}),
                Check(name="released", arguments=side),
            ),
            "beside": (
                Check(name=f"{config.beside}_of", arguments={**pair, "distance": 0.0}),
                Check(name="near", arguments={"object": held, "target": target, "distance": self._near, "flat": True}),
                Check(name="lying_still", arguments={"objects": [held]}),
                Check(name="released", arguments=side),
            ),
        }
        calm = (Check(name="calm", arguments={"object": held}),) if config.process_valid else ()
        return (*modes[config.success_mode], *calm)

    def _orientations(self, T_base_world: Array, T_tool_object: Array, kept: Held | None) -> Array:
        """Return orientations R_base_tool (n, 3, 3) that pass the config's filters."""
        config = self.config
        given = (config.align_pick_obj_axis, config.align_place_obj_axis, config.align_obj_tol)
        alignment = None
        if given[0] is not None and given[1] is not None and given[2] is not None:
            R_base_target = T_base_world[:3, :3] @ self.scene.object_pose(config.objects[1])[:3, :3]
            alignment = Alignment(
                axis_tool=T_tool_object[:3, :3] @ _unit(given[0]),
                axis_base=R_base_target @ _unit(given[1]),
                tolerance=float(np.deg2rad(given[2])),
            )
        R_start = self.controller.commanded_pose[:3, :3]
        if config.keep_upright is not None:
            up = T_base_world[:3, 2]
            tolerance = float(np.deg2rad(config.keep_upright))
            alignment = Alignment(axis_tool=R_start.T @ up, axis_base=up, tolerance=tolerance)
        if isinstance(kept, HeldAxis) and alignment is None:
            axis = np.asarray(kept.axis_tool)
            alignment = Alignment(axis_tool=axis, axis_base=R_start @ axis, tolerance=HELD_ANGLE)
        drawn = partial(kept.orientations, R_start) if isinstance(kept, HeldParts) else None
        axis = self.controller.arm.spec.approach
        return sample_orientations(self.rng, CANDIDATES, config, alignment, approach_axis=axis, drawn=drawn)

    def _kept(self, T_tool_object: Array) -> Held | None:
        """Return what the way to the place must keep of the hand's pose."""
        config = self.config
        if config.hold_obj_axis is None:
            return HeldParts.given(config.pre_place_hold_vec_weight)
        x, y, z = (T_tool_object[:3, :3] @ _unit(config.hold_obj_axis)).tolist()
        return HeldAxis((x, y, z))

    def _retreat_vector(self) -> Array | None:
        """Return how the hand draws back, in its own frame (3,) [m]; None when it stays."""
        if self.config.retreat is not None:
            return -self.config.retreat * self.controller.arm.spec.approach
        return None if self.config.post_place_vector is None else np.array(self.config.post_place_vector)

    def _attainable(self, pre: Array, place: Array, T_base_world: Array, T_tool_object: Array) -> tuple[Array, Array]:
        """Return what an arm of few joints can take of the poses: the object goes where it should, at another yaw."""
        config = self.config
        by_hand = config.position_constraint == "gripper"
        point = np.zeros(3) if by_hand else T_tool_object[:3, 3]
        axis = config.align_pick_obj_axis
        axis_tool = self.controller.arm.spec.approach if axis is None else T_tool_object[:3, :3] @ _unit(axis)
        # The sampled orientations fill the tolerance already; half of it again leaves an upright object upright.
        angle = np.deg2rad(0.5 * config.align_obj_tol) if axis is not None and config.align_obj_tol else ANGLE
        if config.keep_upright is not None:
            axis_tool = self.controller.commanded_pose[:3, :3].T @ T_base_world[:3, 2]
            angle = np.deg2rad(0.5 * config.keep_upright)
        taken, found = self.controller.attainable(place, point_tool=point, axis_tool=axis_tool, angle=float(angle))
        before = taken.copy()
        before[:, :3, 3] += pre[:, :3, 3] - place[:, :3, 3]
        return before[found], taken[found]

    def _hand_poses(self, T_base_world: Array, R_base_tool: Array, p_world: Array, T_tool_object: Array) -> Array:
        """Return T_base_tool (n, 4, 4) that bring the hand, or the origin of the object, to points (n, 3)."""
        p_base = p_world @ T_base_world[:3, :3].T + T_base_world[:3, 3]
        if self.config.position_constraint == "gripper":
            return make_pose(R_base_tool, p_base)
        T_base_object = make_pose(R_base_tool @ T_tool_object[:3, :3], p_base)
        return T_base_object @ invert_pose(T_tool_object)

    def _commands(self, pre: Array, place: Array, chosen: Chosen, kept: Held | None) -> list[Command]:
        """Return the published sequence; a tested path goes with both moves."""
        config, name = self.config, self.config.objects[0]
        commands = [self.stay("update_pose_cost_metric")]
        commands.append(self.stay("update_specific", ignore_substring=config.ignore_substring))
        after = config.post_place_hold_vec_weight
        if kept is not None:
            params = {"hold_axis": kept.axis_tool} if isinstance(kept, HeldAxis) else {"hold_vec_weight": kept.weights}
            commands.append(self.stay("update_pose_cost_metric", **params))
        commands.append(command_at(pre, "close_gripper", **chosen.params(0)))
        if after is not None:
            commands.append(command_at(pre, "update_pose_cost_metric", hold_vec_weight=after))
        lower = command_at(place, "close_gripper", straight=True, **chosen.params(1))
        commands += [lower, *[command_at(place, "close_gripper")] * config.hesitate_steps]
        opened = {"drive": Preshape.for_rims(gripper_of(self)).drive} if config.rim else {}
        commands += [command_at(place, "open_gripper", **opened)] * config.gripper_change_steps
        commands.append(command_at(place, "detach_obj"))
        commands.append(command_at(place, "update_specific", ignore_substring=()))
        if self._retreat is not None:
            without = self.controller.obstacles_of(name)
            commands.append(command_at(place, "update_specific", ignore_substring=without))
            retreat = place @ translation(self._retreat)
            commands.append(command_at(retreat, "open_gripper", straight=True, **chosen.params(2), **opened))
        return commands


def _unit(vector: tuple[float, float, float]) -> Array:
    v = np.asarray(vector, float)
    return v / np.linalg.norm(v)
