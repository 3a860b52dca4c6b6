"""Grasp an object and lift it."""

from typing import ClassVar, cast

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.grasping import AnnotateOptions, GripperShape, clear_of, convex_parts, grasps_for
from handloom.robots import ee_poses_of_grasps
from handloom.skills.configs.picks import PickConfig
from handloom.skills.filters import direction_mask
from handloom.skills.skill import Skill
from handloom.spatial import invert_pose, pos_quat_from_pose, translation
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
        """Return grasps T_base_ee (n, 4, 4) that pass the filters and touch nothing: best score first, shuffled."""
        config = cast(PickConfig, self.config)
        arm = self.controller.arm
        gripper = GripperShape.of(self.scene.robot(arm.robot_name).description, arm.arm)
        rows = grasps_for(self.scene.assets[name], gripper)
        if len(rows) == 0:
            widest = arm.arm.gripper_max_width
            self.fail(Stage.GRASP, "no_grasp", f"{name} has no place that the gripper of {widest:.3f} m can hold")
            return np.zeros((0, 4, 4))
        # The rows are those of the object in its real size, so grasp_scale, which scales a file's, has nothing to do.
        T_object_ee, score = ee_poses_of_grasps(
            arm.arm, rows, tcp_offset=config.tcp_offset, constraints=config.constraints
        )
        if not gripper.symmetric:
            # Half a turn would put a pivoting jaw where the fixed one has to be.
            T_object_ee, score = T_object_ee[: len(rows)], score[: len(rows)]
        T_world_ee = self.scene.object_pose(name) @ T_object_ee
        T_base_ee = invert_pose(arm.T_world_base) @ T_world_ee
        passing = direction_mask(T_base_ee, config)
        clear = passing.copy()
        clear[passing] = self._clear_of_surroundings(name, T_world_ee[passing], gripper)
        if not clear.any():
            counts = {"candidates": len(clear), "filtered": int(passing.sum())}
            detail = f"of {len(clear)} grasps of {name} {passing.sum()} pass the direction filters, "
            if passing.any():
                self.fail(Stage.GRASP, "grasps_collide", detail + "all of them touch something around it", **counts)
            else:
                self.fail(Stage.GRASP, "filters_leave_nothing", detail + "widen filter_x/y/z_dir", **counts)
        kept = self.rng.permutation(np.flatnonzero(clear))
        return T_base_ee[kept[np.argsort(score[kept], kind="stable")]]

    def _clear_of_surroundings(self, name: str, T_world_ee: Array, gripper: GripperShape) -> NDArray[np.bool_]:
        """Return which grasps (n,) the open gripper reaches without touching tables, fixtures and other objects."""
        config, arm, model, data = cast(PickConfig, self.config), self.controller.arm, *self._world()
        skipped = (f"{name}/", *(f"{robot}/" for robot in self.scene.robots))
        geoms = [
            g
            for g in range(model.ngeom)
            if (model.geom_contype[g] or model.geom_conaffinity[g])
            and model.geom_type[g] not in UNBOUNDED
            and not model.body(model.geom_bodyid[g]).name.startswith(skipped)
        ]
        around = convex_parts(model, geoms, data.geom_xpos[geoms], data.geom_xmat[geoms].reshape(-1, 3, 3))
        R = T_world_ee[:, :3, :3] @ arm.arm.R_ee_graspnet
        opened = np.full(len(R), len(gripper.position) - 1.0)
        options = AnnotateOptions(preshape=True, approach_length=config.pre_grasp_offset)
        return clear_of(around, gripper, R, np.ascontiguousarray(T_world_ee[:, :3, 3]), opened, options)

    def _world(self) -> tuple[mujoco.MjModel, mujoco.MjData]:
        return self.scene.world.model, self.scene.world.data

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


UNBOUNDED = (mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_HFIELD)
"""Ground that has no convex shape; tables and fixtures stand on it."""
