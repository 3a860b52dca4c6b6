"""Reach random poses, one after another, shown by a marker."""

from typing import ClassVar

import numpy as np

from handloom.arrays import Array
from handloom.motion.planning import Move
from handloom.scene.markers import marker_name
from handloom.scene.measures import world_box
from handloom.skills.arms.candidates import choose
from handloom.skills.configs.motions import TABLE, TrackConfig
from handloom.skills.motions.tool_motions import ANGLE, DISTANCE
from handloom.skills.skill import Skill, between, command_at, hand_check
from handloom.spatial import (
    invert_pose,
    make_pose,
    matrix_from_euler_deg,
    matrix_from_quat,
    matrix_from_rotvec,
    pos_quat_from_pose,
    quat_normalize,
    random_directions,
    translation,
)
from handloom.values import Check

DRAWS = 32
"""Sets of waypoints that are tested; the published skill keeps drawing until one can be reached, possibly forever."""
STILL_FRAMES = 40
"""Frames for which the arm waits after the marker has jumped to the next waypoint; published value."""


class Track(Skill[TrackConfig]):
    """The published target tracking; the marker is in the scene of every task that has this skill."""

    Config: ClassVar = TrackConfig

    def simple_generate_manip_cmds(self) -> None:
        """Draw waypoints that can be reached one after another, and write the commands."""
        config = self.config
        self._way = [np.eye(4)]
        draws = [self._way_points() for _ in range(config.way_points_num)]
        self.controller.ignored = config.ignore_substring
        chosen = choose(self, [Move(T_base_tool=T) for T in draws])
        if chosen is None:
            return
        self._way = [T[chosen.index] for T in draws]
        self.manip_list = [self.stay("update_specific", ignore_substring=config.ignore_substring)]
        before = self.controller.commanded_pose
        for k, T in enumerate(self._way):
            self.manip_list += [command_at(before, "open_gripper", way_point=k)] * STILL_FRAMES
            self.manip_list.append(command_at(T, "open_gripper", way_point=k, **chosen.params(k)))
            before = T
        self._show(0)

    def update(self) -> None:
        """Move the marker to the tool's next waypoint."""
        if self.manip_list:
            self._show(self.manip_list[0].params.get("way_point", 0))

    def checks(self) -> tuple[Check, ...]:
        """Return the terms: the hand is at the last waypoint, or has its orientation."""
        return (hand_check(self.controller.arm, self._way[-1], distance=DISTANCE, angle=ANGLE, either=True),)

    def _way_points(self) -> Array:
        """Return poses T_base_tool (n, 4, 4) above the target."""
        config = self.config
        box = world_box(self.scene, config.target if config.target in self.scene.assets else TABLE)
        T_base_world = invert_pose(self.controller.arm.T_world_base)
        top = np.array([*box[:, :2].mean(axis=0), box[1, 2]])
        origin = T_base_world[:3, :3] @ top + T_base_world[:3, 3]
        p = origin + between(self.rng, config.way_points_trans.min, config.way_points_trans.max, (DRAWS, 3))
        given = np.asarray(config.way_points_ori, float)
        R = matrix_from_euler_deg(given) if len(given) == 3 else matrix_from_quat(quat_normalize(given))
        angle = np.deg2rad(self.rng.uniform(-config.max_noise_deg, config.max_noise_deg, (DRAWS, 1)))
        return make_pose(R @ matrix_from_rotvec(angle * random_directions(self.rng, DRAWS)), p)

    def _show(self, way_point: int) -> None:
        """Move the marker to a waypoint; does nothing in a scene without markers."""
        arm, world = self.controller.arm, self.scene.world
        name = marker_name(arm.robot_name, arm.name)
        if name not in self.scene.assets:
            return
        T = arm.T_world_base @ self._way[way_point] @ self._marker_in_hand()
        # Directly into the user inputs, which are recorded: anything else would differ in a replay.
        mocap = int(world.model.body_mocapid[world.body_index(self.scene.body_of(name))])
        world.data.mocap_pos[mocap], world.data.mocap_quat[mocap] = pos_quat_from_pose(T)

    def _marker_in_hand(self) -> Array:
        """Return T_tool_marker (4, 4)."""
        given = self.config.T_tcp_2_ee
        if given is None:
            return self.controller.arm.spec.T_tool_tcp
        values = np.asarray(given, float)
        return translation(values) if values.shape == (3,) else values
