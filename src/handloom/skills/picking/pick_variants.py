"""Picks at a pose given by hand, and picks that miss on purpose."""

from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.motion.planning import Move
from handloom.skills.arms.candidates import choose
from handloom.skills.arms.orientations import direction_mask
from handloom.skills.configs.picks import FailPickConfig, ManualPickConfig
from handloom.skills.picking.grasp_moves import GraspMoves
from handloom.skills.picking.grasp_poses import (
    Grasps,
    annotated_grasps,
    attainable_grasps,
    clear_of_itself,
    drawn_by_score,
)
from handloom.skills.picking.pick import Pick
from handloom.skills.skill import Skill, between, command_at
from handloom.spatial import make_pose, matrix_from_rotvec
from handloom.values import Check, FunnelStage

AXES = {"x": 0, "y": 1, "z": 2}
STANDOFF = 0.05
"""Straight path to a grasp of a stand-in if the task gives none [m]."""
INCLINED = (-40.0, -20.0, 20.0, 40.0)
"""Rotations of the hand about the closing line of its fingers that are tried with a stand-in [deg]."""
TESTED = 128
"""Maximum number of misses that are tested; published: 30."""


class ManualPick(Pick):
    """The published manual pick: a pick whose grasps are turned and shifted first.

    The hand turns about the point between its fingertips, so that they still meet the object. The tuning applies to the
    grasps of one asset's file; those of a stand-in are used unchanged, with the same approach length.
    """

    Config: ClassVar = ManualPickConfig
    config: ManualPickConfig

    def moves(self, lift: float) -> GraspMoves:
        """Return the moves of a pick with the hold and the shift of this config."""
        config = self.config
        given = super().moves(lift)
        if config.hold_vec_weight is not None:
            given = replace(given, hold=config.hold_vec_weight, hold_ends=config.start_lr_skill)
        if self._stands_in():
            away = float(np.linalg.norm(config.pre_grasp_offset_manual)) or STANDOFF
            # Hand-made grasps need no test of the whole path; those of a stand-in do.
            return replace(given, pre_grasp_offset=max(given.pre_grasp_offset, away), test_mode="forward")
        return replace(given, pre_grasp_shift=config.pre_grasp_offset_manual)

    def adjusted(self, T_base_tool: Array) -> Array:
        """Return grasps (n, 4, 4) turned by ``adjust_ori`` and ``manual_adjust_ori``, then shifted."""
        config = self.config
        if self._stands_in():
            return T_base_tool
        if config.adjust_ori is not None:
            T_base_tool = self._best_turned(T_base_tool)
        for axis, degrees in config.manual_adjust_ori:
            T_base_tool = T_base_tool @ self._turn(axis, degrees)
        shifted = T_base_tool.copy()
        shifted[:, :3, 3] += config.adjust_trans_offset
        return shifted

    def varied(self, name: str, grasps: Grasps) -> Grasps:
        """Return the grasps of a stand-in, also with the hand turned about the closing line of its fingers.

        Like the task's angles for its own file, these rotations give an arm with short joint ranges a choice.
        """
        arm = self.controller.arm.spec
        if not self._stands_in() or arm.suction is not None or grasps.source == "rim":
            return grasps
        tip, axis = arm.T_tool_tcp[:3, 3], arm.R_ee_graspnet[:, 1]
        turned = [matrix_from_rotvec(np.deg2rad(angle) * axis) for angle in INCLINED]
        T = np.concatenate([grasps.T_base_tool, *(grasps.T_base_tool @ make_pose(R, tip - R @ tip) for R in turned)])
        count = len(INCLINED) + 1
        more = Grasps(
            T, np.tile(grasps.score, count), np.tile(grasps.size, (count, 1)), grasps.source, grasps.T_base_object
        )
        clear = clear_of_itself(self, name, more)
        clear[: len(grasps.score)] = True
        return Grasps(T[clear], more.score[clear], more.size[clear], grasps.source, grasps.T_base_object)

    def within_reach(self, name: str, T_base_tool: Array, kept: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the kept grasps (n, 4, 4) of a stand-in that the arm can reach, if any."""
        if not self._stands_in() or len(kept) == 0:
            return kept
        move = Move(T_base_tool=T_base_tool[kept], ignore=self.controller.obstacles_of(name))
        reached = kept[self.controller.reachable(move).reachable]
        return reached if len(reached) else kept

    def _stands_in(self) -> bool:
        return self.scene.assets[self.config.objects[0]].stands_in

    def _best_turned(self, T_base_tool: Array) -> Array:
        """Return each grasp at the turn that makes a component of a hand axis smallest or largest."""
        config = self.config
        ee_axis, base_axis, wish = config.adjust_ori or ("x", "x", "max")
        angles = np.linspace(*config.adjust_angle_list_cfg)
        turns = np.stack([self._turn(config.adjust_rotate_axis, degrees) for degrees in angles])
        turned = T_base_tool[:, None] @ turns
        component = turned[:, :, AXES[base_axis], AXES[ee_axis]]
        best = component.argmax(axis=1) if wish == "max" else component.argmin(axis=1)
        return turned[np.arange(len(turned)), best]

    def _turn(self, axis: str, degrees: float) -> Array:
        """Return a rotation (4, 4) about a hand axis through the point between the fingertips."""
        R = matrix_from_rotvec(np.deg2rad(degrees) * np.eye(3)[AXES[axis]])
        tip = self.controller.arm.spec.T_tool_tcp[:3, 3]
        return make_pose(R, tip - R @ tip)


class FailPick(Skill[FailPickConfig]):
    """The published failing pick: close beside the object, then lift an empty hand.

    The approach is left out of the demonstration, so that no policy learns to move to the wrong place; a normal pick
    after it is the recovery.
    """

    Config: ClassVar = FailPickConfig
    kind: ClassVar = "mistake"

    def simple_generate_manip_cmds(self) -> None:
        """Choose a grasp that can be missed, and write the commands of the miss."""
        config = self.config
        grasps = self._grasps(config.objects[0])
        if len(grasps) == 0:
            return
        low = (config.grasp_x_offset_min, config.grasp_y_offset_min)
        high = (config.grasp_x_offset_max, config.grasp_y_offset_max)
        size = between(self.rng, low, high, (len(grasps), 2))
        beside, lifted = grasps.copy(), grasps.copy()
        beside[:, :2, 3] += size * self.rng.choice([-1.0, 1.0], size.shape)
        lifted[:, 2, 3] += between(self.rng, config.post_grasp_offset_min, config.post_grasp_offset_max)
        self.controller.ignored = config.ignore_substring
        chosen = choose(self, [Move(T_base_tool=beside), Move(T_base_tool=lifted)], test_mode=config.test_mode)
        if chosen is None:
            return
        there = beside[chosen.index]
        self.manip_list = [
            self.stay("update_specific", ignore_substring=config.ignore_substring),
            command_at(there, "open_gripper", **chosen.params(0)),
            *[command_at(there, "close_gripper")] * (1 + self.frames(config.gripper_change_steps)),
            command_at(lifted[chosen.index], "close_gripper", **chosen.params(1)),
        ]

    def is_record(self) -> bool:
        """Return whether the hand has reached the wrong place and closes."""
        return not self.manip_list or self.manip_list[0].function == "close_gripper"

    def checks(self) -> tuple[Check, ...]:
        """Return the terms: the object was really missed."""
        arm = self.controller.arm
        arguments = {"robot": arm.robot_name, "arm": arm.name, "object": self.config.objects[0]}
        return (Check(name="released", arguments=arguments),)

    def _grasps(self, name: str) -> Array:
        """Return grasps T_base_tool (n, 4, 4) that pass the filters, mostly the best first."""
        config = self.config
        grasps = annotated_grasps(self, name)
        if len(grasps.score) == 0:
            return grasps.T_base_tool
        T_base_tool, taken = attainable_grasps(self, name, grasps)
        arm = self.controller.arm
        kept = np.flatnonzero(taken & direction_mask(T_base_tool, config, arm.spec.approach, arm.up))
        if len(kept) == 0:
            detail = f"none of {len(T_base_tool)} grasps of {name} passes; widen filter_x/y/z_dir"
            self.fail(FunnelStage.GRASP, "filters_leave_nothing", detail, candidates=len(T_base_tool))
        return T_base_tool[kept[drawn_by_score(self.rng, grasps.score[kept], TESTED)]]
