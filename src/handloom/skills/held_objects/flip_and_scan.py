"""Show a held object: turn it over, or hold it in front of a scanner."""

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.errors import ConfigError
from handloom.judging.checks import scanner_view
from handloom.motion.planning import Move
from handloom.robots import Arm
from handloom.skills.arms.candidates import choose, put_down
from handloom.skills.configs.places import FlipConfig, ScanConfig
from handloom.skills.placing.leaving import Releases
from handloom.skills.skill import Skill, command_at
from handloom.spatial import invert_pose, make_pose, matrix_from_rotvec, rotvec_from_matrix
from handloom.values import Check

R_BASE_AHEAD = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
"""Rotation from (right, ahead, up) to the axes of an arm base: x ahead, y left, z up."""
R_HAND_GRASPNET = np.diag([1.0, -1.0, -1.0])
"""Rotation from GraspNet axes to the published hand axes."""
DRAWS = 16
"""Paths that are tested; published: 1."""
MIDDLE = np.array([[0.0, 0.23, 0.14], [0.0, 0.27, 0.16]])
END = np.array([[0.19, 0.23, 0.0], [0.21, 0.27, 0.0]])
"""Lowest and highest shift of the hand (right, ahead, up) halfway and at the end [m]; published values."""
SIDE_UP = float(np.deg2rad(60.0))
"""Largest angle between that axis and up [rad]. Published: 90 degrees, which a block on its side meets or misses
depending on rounding."""
FARTHEST = 0.7
"""The object must end at most this far ahead of the hand's start [m]; published value."""
SHIFT = np.array([[-0.02, 0.15, -0.16], [0.02, 0.2, -0.14]])
"""Lowest and highest shift of the hand, right, ahead, up [m]; published values."""
MARGIN = 0.03
"""Extra distance from the window allowed for the object [m]."""


def hand_facing(arm: Arm, x: ArrayLike, z: ArrayLike) -> Array:
    """Return R_base_tool (3, 3) of a hand whose x axis points along ``x`` and its z axis as near as possible to ``z``.

    Args:
        arm: The arm; its hand may have other axes.
        x: Approach direction (3,), right, ahead, up.
        z: Direction (3,), right, ahead, up.
    """
    forward, upward = np.asarray(x, float), np.asarray(z, float)
    forward = forward / np.linalg.norm(forward)
    upward = upward - forward * (forward @ upward)
    size = np.linalg.norm(upward)
    if not size > 1e-6:
        raise ConfigError(
            f"a hand cannot have its x axis along {np.ravel(x).tolist()} and z along {np.ravel(z).tolist()}"
        )
    upward = upward / size
    R_ahead_hand = np.stack([forward, np.cross(upward, forward), upward], axis=1)
    return R_BASE_AHEAD @ R_ahead_hand @ R_HAND_GRASPNET @ arm.R_ee_graspnet.T


def right_ahead_up(vector: ArrayLike) -> Array:
    """Return vectors (..., 3) of (right, ahead, up) in the axes of an arm base."""
    return np.asarray(vector, float) @ R_BASE_AHEAD.T


NEARER = (0.75, 0.5, 0.25)
"""Fractions of the published path of a scan that are tried if its full length is out of reach."""


class Flip(Releases[FlipConfig]):
    """The published flip: up and forward, round to the given approach, open, draw back."""

    Config: ClassVar = FlipConfig
    max_plan_failures: ClassVar = 10

    def simple_generate_manip_cmds(self) -> None:
        """Draw paths, choose one that the arm can follow, and write the commands."""
        config, arm = self.config, self.controller.arm.spec
        final_axis = config.gripper_axis or config.ee_axis
        if final_axis is None:
            raise ConfigError(f"{config.name}: give gripper_axis, the final direction of the hand's x axis")
        start = self.controller.commanded_pose[:3, 3]
        self._from_x = float(start[0])
        middle = make_pose(hand_facing(arm, (0, 1, -1), (0, 1, 1)), start + self._shifts(MIDDLE))
        end = make_pose(hand_facing(arm, final_axis, (0, 1, 0)), start + self._shifts(END) - [0, 0, config.lower])
        put_down(self, middle, end, open_frames=self.frames(config.open_wait_steps))

    def has_terms(self) -> bool:
        """Return True: the terms need no plan."""
        return True

    def checks(self) -> tuple[Check, ...]:
        """Return the terms: the object lies ahead of the hand's start, wanted side up, and was released."""
        config, arm = self.config, self.controller.arm
        side = {"robot": arm.robot_name, "arm": arm.name, "object": config.objects[0]}
        ahead = {**side, "low": self._from_x, "high": self._from_x + FARTHEST}
        up = {"object": config.objects[0], "axis": list(config.up_axis), "angle": SIDE_UP}
        terms = [Check(name="points_up", arguments=up), Check(name="ahead", arguments=ahead)]
        terms.append(Check(name="released", arguments=side))
        if config.process_valid:
            terms.append(Check(name="calm", arguments={"object": config.objects[0]}))
        return tuple(terms)

    def _shifts(self, between: Array) -> Array:
        return right_ahead_up(self.rng.uniform(between[0], between[1], (DRAWS, 3)))


class Scan(Skill[ScanConfig]):
    """The published scan: move forward and down with the tool pointing right, still holding the object."""

    Config: ClassVar = ScanConfig
    max_plan_failures: ClassVar = 10

    def simple_generate_manip_cmds(self) -> None:
        """Draw poses, choose one the arm can reach, and write its command."""
        config = self.config
        poses = self._before_scanner() if len(config.objects) > 1 else self._ahead()
        self.controller.ignored = config.ignore_substring
        chosen = choose(self, [Move(T_base_tool=poses)])
        failure = self.failure
        for share in NEARER if len(config.objects) == 1 else ():
            if chosen is None:
                poses = self._ahead(share)
                chosen = choose(self, [Move(T_base_tool=poses)])
        self.failure = failure if chosen is None else None
        if chosen is not None:
            self.manip_list = [
                self.stay("update_specific", ignore_substring=config.ignore_substring),
                command_at(poses[chosen.index], "close_gripper", **chosen.params(0)),
            ]

    def _ahead(self, share: float = 1.0) -> Array:
        """Return the published poses (n, 4, 4): forward and down, the tool pointing right; or a fraction of that path.

        They are made for one place in front of the belt; from elsewhere, an arm may not reach as far.
        """
        shifts = right_ahead_up(self.rng.uniform(SHIFT[0], SHIFT[1], (DRAWS, 3)))
        R, now = hand_facing(self.controller.arm.spec, (1, 0, 0), (0, 1, 1)), self.controller.commanded_pose
        if share < 1.0:
            R = now[:3, :3] @ matrix_from_rotvec(share * rotvec_from_matrix(now[:3, :3].T @ R))
        return make_pose(R, now[:3, 3] + share * shifts)

    def _before_scanner(self) -> Array:
        """Return poses T_base_tool (n, 4, 4) that hold the middle of the object in the scanner's line of sight.

        The tool points at the window, more or less steeply from above, so that the fingers do not hide the object.
        """
        held, scanner = self.config.objects[:2]
        T_base_scanner = invert_pose(self.controller.arm.T_world_base) @ self.scene.object_pose(scanner)
        window, view = scanner_view(self.scene, scanner)
        window, view = T_base_scanner[:3, :3] @ window + T_base_scanner[:3, 3], T_base_scanner[:3, :3] @ view
        T_tool_object = (
            invert_pose(self.controller.commanded_pose)
            @ invert_pose(self.controller.arm.T_world_base)
            @ self.scene.object_pose(held)
        )
        poses = []
        for distance in self.rng.uniform(*self.config.view_distance, DRAWS):
            steep = self.rng.uniform(0.0, 0.8)
            approach = R_BASE_AHEAD.T @ (-np.cos(steep) * view - np.sin(steep) * np.array([0.0, 0.0, 1.0]))
            R = hand_facing(self.controller.arm.spec, approach, R_BASE_AHEAD.T @ np.cross(view, [0.0, 0.0, 1.0]))
            poses.append(make_pose(R, window + distance * view - R @ T_tool_object[:3, 3]))
        return np.stack(poses)

    def has_terms(self) -> bool:
        """Return True: the terms need no plan."""
        return True

    def checks(self) -> tuple[Check, ...]:
        """Return the terms: the object is still held, in view of any scanner, and robot and object are at rest."""
        config, arm = self.config, self.controller.arm
        name = config.objects[0]
        terms = [Check(name="grasped", arguments={"robot": arm.robot_name, "arm": arm.name, "object": name})]
        if len(config.objects) > 1:
            far = config.view_distance[1] + MARGIN
            terms.append(
                Check(name="in_view", arguments={"object": name, "scanner": config.objects[1], "distance": far})
            )
        return (*terms, Check(name="calm", arguments={"object": name})) if config.process_valid else tuple(terms)
