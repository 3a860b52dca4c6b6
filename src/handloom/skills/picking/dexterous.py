"""Picking and placing with hands that need a pose from a file beside the asset."""

from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from handloom.arrays import Array
from handloom.config import read_document
from handloom.errors import ConfigError, FileError
from handloom.objects import ObjectAsset
from handloom.scene.measures import world_box
from handloom.skills.arms.candidates import put_down
from handloom.skills.configs.picks import DexPickConfig
from handloom.skills.configs.places import DexPlaceConfig
from handloom.skills.held_objects.flip_and_scan import R_HAND_GRASPNET
from handloom.skills.picking.grasp_moves import GraspMoves
from handloom.skills.picking.grasp_poses import annotated_grasps, clear_grasps, drawn_by_score, gripper_of
from handloom.skills.placing.leaving import Releases
from handloom.skills.skill import Skill, between
from handloom.spatial import invert_pose, make_pose, pos_quat_from_pose, pose_from_pos_quat, quat_slerp
from handloom.values import Check

POSES_FILE = "dexpick_pose.yaml"
RANGES_FILE = "place_range.yaml"
DEFAULT_RANGE = (0.4, 0.6)
"""Place in the container, as ratios of its box; published value."""
ABOVE_BOTTOM = 0.15
"""Height above the bottom of the container at which the object is released [m]; published value."""
ARC = 0.05
"""Height of the hand above the straight path at its midpoint [m]; published value."""
TESTED = 64
"""Generated grasps that are tested if an object stands in for one with poses."""
DRAWS = 32
"""Poses that are tested; published: 1."""


def asset_notes(asset: ObjectAsset, name: str) -> tuple[Path | None, dict[str, Any]]:
    """Return the path and the content of a YAML file beside an asset; no path if there is no such file.

    Args:
        asset: The object; a library object has no folder and so no files beside it.
        name: File name, e.g. ``dexpick_pose.yaml``.

    Raises:
        ConfigError: The file is not YAML.
        NotAllowedError: It is a link to a file elsewhere.
        FileError: It is no mapping.
    """
    file = asset.file_beside(name)
    if file is None or not file.is_file():
        return None, {}
    content = read_document(file).values
    if not isinstance(content, dict):
        raise FileError(f"{file}: a mapping was expected, got {type(content).__name__}")
    return file, content


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
            close_steps=self.frames(config.gripper_change_steps),
            lift=float(between(self.rng, config.post_grasp_offset_min, config.post_grasp_offset_max)),
        )
        poses = self._grasps(name) if self._has_no_pose(name) else self._annotated(name)[None]
        if len(poses):
            self.manip_list = self._moves.commands(self, poses)

    def has_terms(self) -> bool:
        """Return True: the terms need no plan."""
        return True

    def checks(self) -> tuple[Check, ...]:
        """Return the terms: the fingers hold the object, robot and object are at rest, and it was lifted."""
        config = self.config
        return self._moves.checks(self, from_z=self._from_z, lift_th=config.lift_th, process_valid=config.process_valid)

    def _has_no_pose(self, name: str) -> bool:
        """Return whether an object substitutes for a missing asset, whose poses are missing too."""
        return not self.config.pick_poses and self.scene.assets[name].stands_in

    def _grasps(self, name: str) -> Array:
        """Return generated grasps T_base_tool (n, 4, 4), mostly best first; none after :meth:`fail`."""
        T_base_tool, score, *_ = annotated_grasps(self, name, source="lying")
        gripper = gripper_of(self)
        passing = np.ones(len(T_base_tool), bool)
        if not len(passing):
            return T_base_tool
        level = len(gripper.position) - 1.0
        kept = clear_grasps(self, name, T_base_tool, passing, self.config.pre_grasp_offset, level)
        return T_base_tool[kept[drawn_by_score(self.rng, score[kept], TESTED)]]

    def _annotated(self, name: str) -> Array:
        """Return T_base_tool (4, 4) of the chosen row."""
        config = self.config
        T_base_object = invert_pose(self.controller.arm.T_world_base) @ self.scene.object_pose(name)
        poses, where = config.pick_poses, "pick_poses"
        if not poses:
            file, content = asset_notes(self.scene.assets[name], POSES_FILE)
            if file is None:
                raise ConfigError(f"{config.name}: {name} has no {POSES_FILE} beside it; write one, or give pick_poses")
            poses, where = content.get("pick_poses", ()), str(file)
        if config.pick_pose_idx >= len(poses):
            raise ConfigError(f"{where} has only {len(poses)} poses; pick_pose_idx {config.pick_pose_idx} is too large")
        row = np.asarray(poses[config.pick_pose_idx], float)
        if row.shape != (7,):
            raise ConfigError(f"{where}: a pose is x, y, z and a quaternion wxyz, got {row.shape} numbers")
        return T_base_object @ pose_from_pos_quat(row[:3], row[3:])


class DexPlace(Releases[DexPlaceConfig]):
    """The published dexterous place: the hand points towards the container, and releases the object above it."""

    Config: ClassVar = DexPlaceConfig
    max_plan_failures: ClassVar = 10

    def simple_generate_manip_cmds(self) -> None:
        """Draw places and tilts, choose one that the arm can reach, and write the commands."""
        config, arm = self.config, self.controller.arm
        held = config.objects[0]
        T_base_world = invert_pose(arm.T_world_base)
        start = self.controller.commanded_pose
        T_tool_object = invert_pose(self.controller.tool_pose()) @ T_base_world @ self.scene.object_pose(held)
        R = self._orientations(T_base_world)
        points = self._points(held) @ T_base_world[:3, :3].T + T_base_world[:3, 3]
        reach = float(np.linalg.norm(T_tool_object[:3, 3]))
        goal = make_pose(R, points - reach * R @ arm.spec.approach)
        middle = np.stack([_half_way(start, T) for T in goal])
        put_down(self, middle, goal, open_frames=self.frames(config.gripper_change_steps))

    def has_terms(self) -> bool:
        """Return True: the terms need no plan."""
        return True

    def checks(self) -> tuple[Check, ...]:
        """Return the terms: over half of the object is inside the container, it is released, and all is at rest."""
        config, arm = self.config, self.controller.arm
        held, target = config.objects[:2]
        pair = {"object": held, "target": target, "part": config.place_part_prim_path}
        side = {"robot": arm.robot_name, "arm": arm.name, "object": held}
        terms = [
            Check(name="over_box", arguments={**pair, "margin": 0.0}),
            Check(name="above_bottom", arguments=pair),
            Check(name="inside", arguments={**pair, "share": 0.5}),
            Check(name="released", arguments=side),
        ]
        if config.process_valid:
            terms.append(Check(name="calm", arguments={"object": held}))
        return tuple(terms)

    def _orientations(self, T_base_world: Array) -> Array:
        """Return R_base_tool (n, 3, 3): approach along the line of sight, tilted by the angles of the config."""
        config, arm = self.config, self.controller.arm.spec
        T_base_target = T_base_world @ self.scene.object_pose(config.objects[1])
        start = self.controller.commanded_pose
        sight = _unit(T_base_target[:3, 3] - start[:3, 3])
        if config.camera_axis_filter is None:
            hand_y = start[:3, :3] @ arm.R_ee_graspnet @ R_HAND_GRASPNET[:, 1]
            up, angles = np.cross(sight, hand_y), np.zeros(DRAWS)
        else:
            given = {k: v for part in config.camera_axis_filter for k, v in part if v is not None}
            up = np.asarray(given.get("direction", (0.0, 0.0, 1.0)), float)
            low, high = given.get("degree", (0.0, 0.0))
            angles = np.deg2rad(between(self.rng, low, high, (DRAWS,)))
        up = up - sight * (sight @ up)
        if not np.linalg.norm(up) > 1e-6:
            raise ConfigError(f"{config.name}: camera_axis_filter.direction is the line of sight itself")
        up = _unit(up)
        # Both axes turn about y = z x x, so that they remain a valid frame.
        cosine, sine = np.cos(angles)[:, None], np.sin(angles)[:, None]
        x, z = cosine * sight - sine * up, cosine * up + sine * sight
        R_base_hand = np.stack([x, np.cross(z, x), z], axis=2)
        return R_base_hand @ R_HAND_GRASPNET @ arm.R_ee_graspnet.T

    def _points(self, held: str) -> Array:
        """Return the release points of the object (n, 3) in the world [m]."""
        config = self.config
        file, ranges = asset_notes(self.scene.assets[held], RANGES_FILE)
        given = [ranges.get(key, DEFAULT_RANGE) for key in ("x_range", "y_range")]
        if np.shape(given) != (2, 2):
            raise FileError(f"{file}: x_range and y_range must be two numbers each, got {given}")
        box = world_box(self.scene, config.objects[1], config.place_part_prim_path)
        low, high = np.array(given, float).T
        points = np.full((DRAWS, 3), box[0, 2] + ABOVE_BOTTOM)
        points[:, :2] = box[0, :2] + between(self.rng, low, high, (DRAWS, 2)) * (box[1] - box[0])[:2]
        return points


def _half_way(start: Array, goal: Array) -> Array:
    """Return the pose midway between two others, a little higher."""
    (p0, q0), (p1, q1) = pos_quat_from_pose(start), pos_quat_from_pose(goal)
    return pose_from_pos_quat((p0 + p1) / 2 + [0.0, 0.0, ARC], quat_slerp(q0, q1, 0.5))


def _unit(v: Array) -> Array:
    return v / np.linalg.norm(v)
