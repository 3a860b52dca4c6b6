"""Grasp an object and lift it."""

from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from handloom.grasping import box_grasps
from handloom.robots import Arm
from handloom.skills.configs.picks import PickConfig
from handloom.skills.filters import direction_mask
from handloom.skills.skill import Skill
from handloom.spatial import invert_pose, make_pose, pos_quat_from_pose, translation
from handloom.values import Check, Command, Stage

Array = NDArray[np.float64]


class Pick(Skill):
    """The published pick: candidates, filters, reach test, approach, close, lift."""

    Config: ClassVar = PickConfig

    def simple_generate_manip_cmds(self) -> None:
        """Choose a grasp that can be reached, and write the commands of approach, grasp and lift."""
        config = cast(PickConfig, self.config)
        name = config.objects[0]
        self._from_z = float(self.scene.object_pose(name)[2, 3])
        candidates = self._candidates(name)
        if len(candidates) == 0:
            return
        chosen = self._choose(candidates)
        if chosen is None:
            return
        grasp = candidates[chosen]
        self.manip_list = self._commands(grasp, self._pre_grasp(grasp))

    def checks(self) -> tuple[Check, ...]:
        """Return: the fingers hold the object, nothing is flung about, and it was lifted."""
        config = cast(PickConfig, self.config)
        name = config.objects[0]
        arm = self.controller.arm
        terms = []
        if config.final_gripper_state == -1:
            terms.append(Check(name="grasped", arguments={"robot": arm.robot_name, "arm": arm.name, "object": name}))
        if config.process_valid:
            terms.append(Check(name="calm", arguments={"object": name}))
        if config.lift_th > 0:
            arguments = {"object": name, "from_z": self._from_z, "by": config.lift_th}
            terms.append(Check(name="lifted", arguments=arguments))
        return tuple(terms)

    def _candidates(self, name: str) -> Array:
        """Return grasps T_base_ee (n, 4, 4) that pass the filters, in random order."""
        config = cast(PickConfig, self.config)
        arm = self.controller.arm
        rows = box_grasps(self.scene.assets[name].aabb, arm.arm.gripper_max_width)
        if len(rows) == 0:
            widest = arm.arm.gripper_max_width
            self.fail(Stage.GRASP, "no_grasp", f"{name} has no side narrower than the gripper's {widest:.3f} m")
            return np.zeros((0, 4, 4))
        T_base_object = invert_pose(arm.T_world_base) @ self.scene.object_pose(name)
        poses = T_base_object @ grasp_poses(rows, arm.arm, tcp_offset=config.tcp_offset)
        kept = poses[direction_mask(poses, config)]
        if len(kept) == 0:
            detail = f"none of {len(poses)} grasps of {name} passes the direction filters; widen filter_x/y/z_dir"
            self.fail(Stage.GRASP, "filters_leave_nothing", detail, candidates=len(poses))
        return kept[self.rng.permutation(len(kept))]

    def _choose(self, candidates: Array) -> int | None:
        """Return the first candidate whose pre-grasp, approach and lift can be reached one after the other."""
        planner, start = self.controller.planner, self.controller.arm.joints
        q_pre, reached = planner.reachable(self._pre_grasp(candidates), start)
        blocked = 0
        for i in np.flatnonzero(reached):
            if planner.along_line(q_pre[i], candidates[i]).path is not None:
                return int(i)
            blocked += 1
        self.fail(
            Stage.REACH,
            "no_reachable_grasp",
            f"of {len(candidates)} grasps {int(reached.sum())} have a reachable pre-grasp, none a reachable approach",
            candidates=len(candidates),
            pre_grasp_reached=int(reached.sum()),
            approach_blocked=blocked,
        )
        return None

    def _pre_grasp(self, T_base_ee: Array) -> Array:
        """Return poses moved back along the approach axis."""
        back = -cast(PickConfig, self.config).pre_grasp_offset * self.controller.arm.arm.approach
        return T_base_ee @ translation(back)

    def _commands(self, grasp: Array, pre_grasp: Array) -> list[Command]:
        config = cast(PickConfig, self.config)
        close = "close_gripper" if config.final_gripper_state == -1 else "open_gripper"
        p, q = pos_quat_from_pose(grasp)
        commands = [Command(*pos_quat_from_pose(pre_grasp), "open_gripper"), Command(p, q, "open_gripper", LINE)]
        commands += [Command(p, q, close, LINE)] * config.gripper_change_steps
        lift = self.rng.uniform(config.post_grasp_offset_min, config.post_grasp_offset_max)
        if lift != 0.0:
            commands.append(Command(p + np.array([0.0, 0.0, lift]), q, close, LINE))
        if config.return_to_pregrasp:
            commands.append(Command(*pos_quat_from_pose(pre_grasp), close))
        return commands


LINE = {"straight": True}
"""Parameters of a command that moves the hand on a straight line."""


def grasp_poses(rows: Array, arm: Arm, *, tcp_offset: float | None = None) -> Array:
    """Return end-effector poses T_object_ee (2n, 4, 4) of grasp rows (n, 16 or 17).

    The end effector lies ``tcp_offset`` behind the fingertips, which go ``depth`` past the grasp centre. Each grasp
    comes twice, the second time turned by half a turn about the approach axis, where the fingers change places.
    """
    R = rows[:, 4:13].reshape(-1, 3, 3) @ arm.R_ee_graspnet.T
    offset = arm.tcp_offset if tcp_offset is None else tcp_offset
    centre = rows[:, 13:16] + (R @ arm.approach) * (rows[:, 3:4] - offset)
    half_turn = make_pose(2.0 * np.outer(arm.approach, arm.approach) - np.eye(3), np.zeros(3))
    poses = make_pose(R, centre)
    return np.concatenate([poses, poses @ half_turn])
