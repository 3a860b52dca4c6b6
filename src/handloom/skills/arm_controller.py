"""Carries out the commands of a skill with one arm, one frame at a time."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handloom.errors import unknown_name
from handloom.scene import Scene, SceneArm
from handloom.skills.arm_planner import ArmPlanner, PathResult
from handloom.skills.trajectory import PlayedPath, play
from handloom.spatial import pose_error, pose_from_pos_quat
from handloom.values import Command

Array = NDArray[np.float64]

OPEN, CLOSED = 1, -1
"""Gripper states, as published."""
JOINT_SPEED = 1.2
JOINT_ACCELERATION = 4.0
"""Limits of planned motion [rad/s, rad/s^2]: about half of what the arms can do, a calm human pace."""
REPLAN = 5e-3
"""A command that differs by more than this from the last planned one is planned anew [m or rad]; published value."""


class ArmController:
    """Turns commands into joint and gripper targets of one arm."""

    def __init__(self, scene: Scene, arm: SceneArm) -> None:
        self.scene = scene
        self.arm = arm
        self.planner = ArmPlanner(arm)
        self.gripper_state = OPEN
        self.num_last_cmd = 0
        """Frames since the planned path ran out."""
        self.num_plan_failed = 0
        """Plans that failed in a row."""
        self.last_failure: PathResult | None = None
        self._goal: Array | None = None
        self._path: PlayedPath | None = None
        self._played = 0
        self._target = arm.joints.copy()

    def ee_pose(self) -> Array:
        """Return T_base_ee (4, 4) at the measured joints."""
        return self.planner.chain.T_base_tip(self.arm.joints)

    def forward(self, command: Command) -> tuple[Array, Array]:
        """Carry out one frame of a command; return joint targets (n,) and gripper targets (g,) [m or rad]."""
        if command.function not in FUNCTIONS:
            raise unknown_name("command function", command.function, FUNCTIONS)
        getattr(self, FUNCTIONS[command.function])(command)
        gripper = self.arm.arm.gripper_open if self.gripper_state == OPEN else self.arm.arm.gripper_closed
        return self._target, gripper

    def reached(self, command: Command, t_eps: float, o_eps: float) -> bool:
        """Return whether the hand is at the command's pose within ``t_eps`` [m] and ``o_eps`` [rad]."""
        distance, angle = pose_error(self.ee_pose(), pose_from_pos_quat(command.p_base_ee, command.q_base_ee))
        return bool(distance < t_eps and angle < o_eps)

    def _open(self, command: Command) -> None:
        self.gripper_state = OPEN
        self._move(command)

    def _close(self, command: Command) -> None:
        self.gripper_state = CLOSED
        self._move(command)

    def _joints(self, command: Command) -> None:
        params: Mapping[str, Any] = command.params
        self.gripper_state = OPEN if params["gripper_state"] > 0 else CLOSED
        self._path = None
        self._target = np.asarray(params["arm_action"], float)

    def _move(self, command: Command) -> None:
        """Plan when the pose is new, then play one frame; hold the last target when the path has run out."""
        pose = pose_from_pos_quat(command.p_base_ee, command.q_base_ee)
        if self._is_new(pose):
            self._plan(pose, straight=bool(command.params.get("straight", False)))
        if self._path is not None and self._played < len(self._path):
            self._target = self._path.positions[self._played]
            self._played += 1
        else:
            self.num_last_cmd += 1

    def _is_new(self, pose: Array) -> bool:
        if self._goal is None:
            return True
        distance, angle = pose_error(self._goal, pose)
        return bool(distance > REPLAN or angle > REPLAN)

    def _plan(self, pose: Array, *, straight: bool) -> None:
        # Plans start at the commanded joints: the measured ones sag a little and would put a step into the motion.
        start = self._target
        result = self.planner.along_line(start, pose) if straight else self.planner.to_pose(start, pose)
        self.num_last_cmd = 0
        if result.path is None:
            self.num_plan_failed += 1
            self.last_failure = result
            return
        dof = len(start)
        speed, acceleration = np.full(dof, JOINT_SPEED), np.full(dof, JOINT_ACCELERATION)
        self._path = play(result.path, speed=speed, acceleration=acceleration, fps=self.scene.instance.fps)
        self._played = 0
        self._goal = pose
        self.num_plan_failed = 0


FUNCTIONS = {"open_gripper": "_open", "close_gripper": "_close", "dummy_forward": "_joints"}
"""Published name of a command function > method that carries it out."""
