"""Grasp an object with a hand pose that somebody annotated."""

from typing import ClassVar

import numpy as np

from handloom.arrays import Array
from handloom.errors import ConfigError
from handloom.skills.asset_notes import asset_notes
from handloom.skills.configs.picks import DexPickConfig
from handloom.skills.draws import between
from handloom.skills.grasp_moves import GraspMoves
from handloom.skills.skill import Skill
from handloom.spatial import invert_pose, pose_from_pos_quat
from handloom.values import Check

POSES_FILE = "dexpick_pose.yaml"


class DexPick(Skill[DexPickConfig]):
    """The published dexterous pick: approach, close and lift at one annotated pose.

    Other objects are obstacles here; the published skill plans through all of them.
    """

    Config: ClassVar = DexPickConfig
    max_plan_failures: ClassVar = 10

    def simple_generate_manip_cmds(self) -> None:
        """Write the commands of approach, grasp and lift."""
        config = self.config
        name = config.objects[0]
        self._from_z = float(self.scene.object_pose(name)[2, 3])
        self._moves = GraspMoves(
            object=name,
            pre_grasp_offset=config.pre_grasp_offset,
            close_steps=config.gripper_change_steps,
            lift=float(between(self.rng, config.post_grasp_offset_min, config.post_grasp_offset_max)),
        )
        T_base_object = invert_pose(self.controller.arm.T_world_base) @ self.scene.object_pose(name)
        self.manip_list = self._moves.commands(self, (T_base_object @ self._pose(name))[None])

    def checks(self) -> tuple[Check, ...]:
        """Return: the fingers hold the object, nothing is flung about, and it was lifted."""
        config = self.config
        return self._moves.checks(self, from_z=self._from_z, lift_th=config.lift_th, process_valid=config.process_valid)

    def _pose(self, name: str) -> Array:
        """Return T_object_tool (4, 4) of the chosen row."""
        config = self.config
        poses, where = config.pick_poses, "pick_poses"
        if not poses:
            file, content = asset_notes(self.scene.assets[name], POSES_FILE)
            if file is None:
                raise ConfigError(f"{config.name}: {name} has no {POSES_FILE} beside it; write one, or give pick_poses")
            poses, where = content.get("pick_poses", ()), str(file)
        if config.pick_pose_idx >= len(poses):
            raise ConfigError(f"{where} has {len(poses)} poses, so pick_pose_idx {config.pick_pose_idx} is too large")
        row = np.asarray(poses[config.pick_pose_idx], float)
        if row.shape != (7,):
            raise ConfigError(f"{where}: a pose is x, y, z and a quaternion wxyz, got {row.shape} numbers")
        return pose_from_pos_quat(row[:3], row[3:])
