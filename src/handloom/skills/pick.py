"""Grasp an object and lift it."""

from typing import ClassVar, cast

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.grasping import AnnotateOptions, GripperShape, clear_of, convex_parts, grasps_for
from handloom.motion.planning import Stage as Move
from handloom.robots import ee_poses_of_grasps
from handloom.skills.arm_controller import CLOSED
from handloom.skills.candidates import Chosen, choose
from handloom.skills.configs.picks import PickConfig
from handloom.skills.filters import direction_mask
from handloom.skills.skill import Skill, command_at, gripper_function
from handloom.spatial import invert_pose, matrix_from_quat, quat_normalize, translation
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
        self._plan(candidates)

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
        """Return grasps T_base_ee (n, 4, 4) that pass the filters and touch nothing, good ones mostly first."""
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
        T_base_object = invert_pose(arm.T_world_base) @ self.scene.object_pose(name)
        T_base_ee = T_base_object @ T_object_ee
        if config.fixed_orientation is not None:
            T_base_ee[:, :3, :3] = matrix_from_quat(quat_normalize(config.fixed_orientation))
        # The fingers still close on the same two places: turning about the closing axis keeps a grasp a grasp.
        tool, closing = arm.arm.T_ee_tcp[:3, 3], arm.arm.R_ee_graspnet[:, 1]
        T_base_ee, taken = self.controller.attainable(T_base_ee, point_ee=tool, axis_ee=closing)
        passing = direction_mask(T_base_ee, config) & taken
        if config.direction_to_obj is not None:
            left = T_base_ee[:, 1, 3] > T_base_object[1, 3]
            passing &= left if config.direction_to_obj == "left" else ~left
        T_world_ee = arm.T_world_base @ T_base_ee
        clear = passing.copy()
        clear[passing] = self._clear_of_surroundings(name, T_world_ee[passing], gripper)
        if not clear.any():
            counts = {"candidates": len(clear), "filtered": int(passing.sum())}
            detail = f"of {len(clear)} grasps of {name} {passing.sum()} pass the direction filters, "
            if passing.any():
                self.fail(Stage.GRASP, "grasps_collide", detail + "all of them touch something around it", **counts)
            else:
                self.fail(Stage.GRASP, "filters_leave_nothing", detail + "widen filter_x/y/z_dir", **counts)
        # A draw without replacement, weight 1 / score as published: good grasps come first, but not always the same.
        kept = np.flatnonzero(clear)
        order = np.argsort(self.rng.exponential(size=len(kept)) * (score[kept] + 1e-8), kind="stable")
        return T_base_ee[kept[order[:TESTED]]]

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

    def _plan(self, candidates: Array) -> None:
        """Write the commands of the first candidate whose approach, grasp and lift are possible one after the other."""
        config, controller = cast(PickConfig, self.config), self.controller
        lift = self.rng.uniform(config.post_grasp_offset_min, config.post_grasp_offset_max)
        lifted = candidates.copy()
        lifted[:, 2, 3] += lift
        itself = controller.obstacles_of(config.objects[0])
        controller.ignored = config.ignore_substring
        moves = []
        if config.pre_grasp_offset > 0.0:
            moves.append(Move(T_base_tool=self._pre_grasp(candidates)))
        moves.append(Move(T_base_tool=candidates, straight=bool(moves), ignore=itself))
        if lift != 0.0:
            moves.append(Move(T_base_tool=lifted, straight=True, ignore=itself))
        chosen = choose(self, moves, test_mode=config.test_mode)
        if chosen is not None:
            self.manip_list = self._commands(candidates[chosen.index], lift, chosen)

    def _pre_grasp(self, T_base_ee: Array) -> Array:
        """Return poses moved back along the approach axis."""
        back = -cast(PickConfig, self.config).pre_grasp_offset * self.controller.arm.arm.approach
        return T_base_ee @ translation(back)

    def _commands(self, grasp: Array, lift: float, chosen: Chosen) -> list[Command]:
        """Return the published sequence; a tested path goes with each move."""
        config, name = cast(PickConfig, self.config), cast(PickConfig, self.config).objects[0]
        close = gripper_function(config.final_gripper_state)
        own, paths = config.ignore_substring, iter(range(len(chosen.paths)))
        without = (*own, *self.controller.obstacles_of(name))
        commands = [self.stay("update_pose_cost_metric"), self.stay("update_specific", ignore_substring=own)]
        pre_grasp = self._pre_grasp(grasp)
        if config.pre_grasp_offset > 0.0:
            commands.append(command_at(pre_grasp, "open_gripper", **chosen.params(next(paths))))
        hold = config.pre_grasp_hold_vec_weight
        if hold is not None:
            commands.append(command_at(pre_grasp, "update_pose_cost_metric", hold_vec_weight=hold))
        commands.append(command_at(grasp, "update_specific", ignore_substring=without))
        commands.append(command_at(grasp, "open_gripper", straight=True, **chosen.params(next(paths))))
        commands += [command_at(grasp, close)] * config.gripper_change_steps
        if config.final_gripper_state == CLOSED:
            commands.append(command_at(grasp, "attach_obj", object=name))
            commands.append(command_at(grasp, "update_specific", ignore_substring=own))
        if lift != 0.0:
            T_lifted = grasp.copy()
            T_lifted[2, 3] += lift
            commands.append(command_at(T_lifted, close, straight=True, **chosen.params(next(paths))))
        if config.return_to_pregrasp:
            commands.append(command_at(pre_grasp, close))
        return commands


UNBOUNDED = (mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_HFIELD)
"""Ground that has no convex shape; tables and fixtures stand on it."""
TESTED = 128
"""Candidates that are tested at most."""
