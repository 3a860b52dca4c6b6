"""Grasp an object with a hand orientation that is tuned further."""

from dataclasses import replace
from typing import ClassVar

import numpy as np

from handloom.arrays import Array
from handloom.skills.configs.picks import ManualPickConfig
from handloom.skills.grasp_moves import GraspMoves
from handloom.skills.pick import Pick
from handloom.spatial import make_pose, matrix_from_rotvec

AXES = {"x": 0, "y": 1, "z": 2}


class ManualPick(Pick):
    """The published manual pick: a pick whose grasps are turned and shifted first.

    The hand turns about the point between its fingertips, so that they still meet the object.
    """

    Config: ClassVar = ManualPickConfig
    config: ManualPickConfig

    def moves(self, lift: float) -> GraspMoves:
        """Return the moves of a pick with the hold and the shift of this one."""
        config = self.config
        given = super().moves(lift)
        if config.hold_vec_weight is not None:
            given = replace(given, hold=config.hold_vec_weight, hold_ends=config.start_lr_skill)
        return replace(given, pre_grasp_shift=config.pre_grasp_offset_manual)

    def adjusted(self, T_base_tool: Array) -> Array:
        """Return grasps (n, 4, 4) turned as ``adjust_ori`` and ``manual_adjust_ori`` ask, then shifted."""
        config = self.config
        if config.adjust_ori is not None:
            T_base_tool = self._best_turned(T_base_tool)
        for axis, degrees in config.manual_adjust_ori:
            T_base_tool = T_base_tool @ self._turn(axis, degrees)
        shifted = T_base_tool.copy()
        shifted[:, :3, 3] += config.adjust_trans_offset
        return shifted

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
        """Return a turn (4, 4) about a hand axis through the point between the fingertips."""
        R = matrix_from_rotvec(np.deg2rad(degrees) * np.eye(3)[AXES[axis]])
        tip = self.controller.arm.spec.T_tool_tcp[:3, 3]
        return make_pose(R, tip - R @ tip)
