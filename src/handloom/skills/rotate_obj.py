"""Tilt a held object about a point of its own."""

from typing import ClassVar

import numpy as np

from handloom.arrays import Array
from handloom.motion.planning import Move
from handloom.skills.candidates import choose
from handloom.skills.configs.places import DummyForward, RotateObjConfig
from handloom.skills.draws import between
from handloom.skills.held_object import HeldObject, joint_moves
from handloom.skills.skill import Skill, command_at, gripper_function
from handloom.spatial import make_pose, matrix_from_rotvec, rotvec_from_matrix
from handloom.values import Check

DRAWS = 16
"""Tilts that are tested when the config gives a range; published: 1."""
TURN = 0.35
"""Largest turn between two way points [rad]; in between the object turns about the hand, not about its point."""


class RotateObj(Skill[RotateObjConfig]):
    """The published rotation of a held object, evenly about its reference point."""

    Config: ClassVar = RotateObjConfig

    def simple_generate_manip_cmds(self) -> None:
        """Draw tilts, choose one that the arm can follow, and write one command per way point."""
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
        """Return: the object is in the hand, at the place and tilt that were wanted."""
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
        """Return poses (n, 4, 4) in turn, a small turn apart, that end with the last station."""
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
        """Add the joint move of ``ctrl_list``, which stands in ``dummy_forward`` or beside it; aim at where it ends."""
        config = self.config
        given = config.dummy_forward or DummyForward()
        dummy = given.model_copy(update={"ctrl_list": given.ctrl_list or config.ctrl_list})
        if path is None or not (config.dummy_forward or dummy.ctrl_list):
            return
        commands, q = joint_moves(self, path[-1], dummy)
        self.manip_list += commands
        self._goal = self._held.point_at(self.controller.chain.T_base_tool(q))
