"""Skills in joint space: home, given joints, open or close the gripper, wait."""

from abc import abstractmethod
from dataclasses import replace
from typing import ClassVar, TypeVar

import numpy as np

from handloom.arrays import Array
from handloom.errors import ConfigError
from handloom.motion.planning import Move, PlanResult, PlanStatus
from handloom.skills.arms.arm_motion import play
from handloom.skills.configs.motions import (
    GripperActionConfig,
    HeuristicSkillConfig,
    HomeConfig,
    JointCtrlConfig,
    WaitConfig,
)
from handloom.skills.skill import ConfigT, Skill, gripper_function, hand_check, plan_failure
from handloom.spatial import translation
from handloom.values import Check, Command

PostureT = TypeVar("PostureT", bound=HomeConfig | HeuristicSkillConfig)
SHORT_OF = tuple(k / 20.0 for k in range(1, 20))
"""Fractions of the way home by which the arm stays short of a home position that something occupies."""
BACK = (1.0, 0.6, 0.35)
"""Acceptable fractions of a requested retreat, first choice first."""


class JointLine(Skill[ConfigT]):
    """Base of joint-space skills: a goal, a line of joint targets, and the wait for the arm to follow."""

    avoids_obstacles: ClassVar[bool] = False
    """Whether a plan replaces the line if something is in its way."""

    def simple_generate_manip_cmds(self) -> None:
        """Write one joint target per frame, or none if there is no goal."""
        self._goal: Array | None = None
        self._goal = self.joint_goal()
        if self._goal is not None:
            self._goal, line = self._line(self._goal)
            self.manip_list = [self._joint_command(q) for q in line]
            self.manip_list += [self._joint_command(self._goal)] * self.patience

    def _line(self, goal: Array) -> tuple[Array, Array]:
        """Return the goal (n,) and joint targets (frames, n) [rad]: the published line, or a path around obstacles.

        If no path is found, as when the hand starts in contact, the line is kept; its effect is checked at the end.
        """
        fps = self.scene.instance.fps
        if self.avoids_obstacles:
            goal, way = self._way(goal)
            if way.ok and len(way.path) > 2:
                return goal, play(way.path, self.controller.limits, fps=fps)
        return goal, joint_line(self.controller.target, goal, self.steps(), self.controller.limits.velocity, fps)

    def _way(self, goal: Array) -> tuple[Array, PlanResult]:
        """Return the goal (n,) [rad], or a better one, and the plan to it."""
        return goal, self.controller.plan_to_joints(goal)

    @abstractmethod
    def joint_goal(self) -> Array | None:
        """Return the wanted joints (n,) [rad], or None after :meth:`fail`."""

    @abstractmethod
    def steps(self) -> int:
        """Return the minimum number of frames of the move."""

    @abstractmethod
    def tolerance(self) -> float:
        """Return the distance (norm) at which the goal counts as reached [rad]."""

    @abstractmethod
    def gripper(self) -> int:
        """Return the gripper state during the move, 1 open or -1 closed."""

    def is_done(self) -> bool:
        """Drop one command per frame; return whether the goal or the frame limit is reached."""
        waiting = len(self.manip_list) <= self.patience
        if self.manip_list:
            self.manip_list.pop(0)
        goal = self._goal
        arrived = goal is not None and np.linalg.norm(self.controller.arm.joints - goal) < self.tolerance()
        if waiting and arrived:
            self.manip_list = []
        return not self.manip_list

    def checks(self) -> tuple[Check, ...]:
        """Return the terms: the joints are at the goal."""
        arm = self.controller.arm
        joints = [] if self._goal is None else self._goal.tolist()
        arguments = {"robot": arm.robot_name, "arm": arm.name, "joints": joints, "distance": self.tolerance()}
        return (Check(name="joints_at", arguments=arguments),)

    def _joint_command(self, joints: Array) -> Command:
        return self.stay("dummy_forward", arm_action=joints, gripper_state=self.gripper())


def joint_line(start: Array, goal: Array, steps: int, speed: Array, fps: int) -> Array:
    """Return joint targets (frames, n) [rad] on a straight line that starts and ends at rest.

    The speed of the published line depends on its number of steps; a long path in few steps would throw objects around,
    so steps are added.

    Args:
        start: Joints (n,) [rad].
        goal: Joints (n,) [rad].
        steps: Frames at least.
        speed: Largest speed of each joint (n,) [rad/s].
        fps: Frames per second.
    """
    fewest = int(np.ceil(fps * 1.875 * (np.abs(goal - start) / speed).max()))
    count = max(1, steps, fewest)
    s = np.arange(1, count + 1) / count
    smooth = s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
    return start + smooth[:, None] * (goal - start)


class Posture(JointLine[PostureT]):
    """A move to a posture around obstacles; the gripper stays unchanged unless the config says otherwise."""

    avoids_obstacles: ClassVar = True

    def steps(self) -> int:
        """Return ``move_steps``."""
        return self.frames(self.config.move_steps)

    def tolerance(self) -> float:
        """Return ``t_eps``."""
        return self.config.t_eps

    def gripper(self) -> int:
        """Return the gripper state of the config, or the current one."""
        given = self.config.gripper_state
        return self.controller.gripper_state if given is None else given


class Home(Posture[HomeConfig]):
    """The published home: the robot's home position without its noise, around obstacles.

    If something is in the home position, such as the door that the arm has just opened, the arm stops short of it: on
    the published line it would push the door shut.
    """

    Config: ClassVar = HomeConfig

    def joint_goal(self) -> Array:
        """Return the home position."""
        return self.controller.arm.spec.home.copy()

    def _way(self, goal: Array) -> tuple[Array, PlanResult]:
        home = self.controller.plan_to_joints(goal)
        if home.status is not PlanStatus.GOAL_IN_COLLISION or min(touch.distance for touch in home.touches) >= 0.0:
            return goal, home
        for share in SHORT_OF:
            short = goal + share * (self.controller.target - goal)
            way = self.controller.plan_to_joints(short)
            if way.ok:
                return short, way
        return goal, home


class JointCtrl(JointLine[JointCtrlConfig]):
    """The published joint control; joint limits replace its clamps for one kind of arm."""

    Config: ClassVar = JointCtrlConfig

    def joint_goal(self) -> Array:
        """Return the current joints with those of ``ctrl_list`` set or turned."""
        goal = set_joints(self.controller.target, self.config.ctrl_list, self.config.name)
        return np.clip(goal, self.controller.chain.lower, self.controller.chain.upper)

    def steps(self) -> int:
        """Return ``num_steps``."""
        return self.frames(self.config.num_steps)

    def tolerance(self) -> float:
        """Return ``success_threshold_js``."""
        return self.config.success_threshold_js

    def gripper(self) -> int:
        """Return ``gripper_state``."""
        return self.config.gripper_state


def set_joints(joints: Array, ctrl_list: tuple[tuple[int, float, str], ...], skill: str) -> Array:
    """Return joints (n,) [rad] with some set (``abs``) or turned (``delta``) by angles [deg]."""
    goal = joints.copy()
    for joint, degrees, mode in ctrl_list:
        if not 0 <= joint < len(goal):
            raise ConfigError(f"{skill}: ctrl_list names joint {joint}; this arm has joints 0 to {len(goal) - 1}")
        goal[joint] = np.deg2rad(degrees) + (goal[joint] if mode == "delta" else 0.0)
    return goal


class HeuristicSkill(Posture[HeuristicSkillConfig]):
    """The published heuristic skill; ``rel_qpos`` adds to the current joints, unlike in the reference."""

    Config: ClassVar = HeuristicSkillConfig

    def joint_goal(self) -> Array | None:
        """Return the joints given by the mode and its value."""
        config = self.config
        if config.mode == "home":
            return self.controller.arm.spec.home.copy()
        if config.mode == "rel_ee":
            return self._moved_hand(self._numbers((4, 4)) @ self.controller.commanded_pose)
        if config.mode == "back":
            way, goal = float(self._numbers(())) * self.controller.arm.spec.approach, None
            for share in BACK:
                goal = self._moved_hand(self.controller.commanded_pose @ translation(-share * way))
                if goal is not None:
                    self.failure = None
                    break
            return goal
        given = self._numbers(self.controller.target.shape)
        goal = given if config.mode == "abs_qpos" else self.controller.target + given
        return np.clip(goal, self.controller.chain.lower, self.controller.chain.upper)

    def _moved_hand(self, T_base_tool: Array) -> Array | None:
        """Return the joints at the end of a plan to a pose of the hand (4, 4)."""
        result = self.controller.plan([Move(T_base_tool=T_base_tool)])
        if result.ok:
            return result.path[-1]
        self.failure = replace(plan_failure(result), skill=self.config.name)
        return None

    def _numbers(self, shape: tuple[int, ...]) -> Array:
        config = self.config
        try:
            values = np.asarray(config.value, float)
        except (TypeError, ValueError):
            values = np.empty(0)
        if values.shape != shape:
            raise ConfigError(f"{config.name}: mode {config.mode} needs a value of shape {shape}, got {config.value!r}")
        return values


class GripperAction(Skill[GripperActionConfig]):
    """The published gripper action: the same command for a few frames; it cannot fail."""

    Config: ClassVar = GripperActionConfig

    def simple_generate_manip_cmds(self) -> None:
        """Repeat the gripper command at the current pose."""
        config = self.config
        commands = [self.stay(gripper_function(config.gripper_state))] * self.frames(config.wait_steps)
        # An open hand no longer holds anything, so plans must not keep moving the object with it.
        self.manip_list = [*commands, self.stay("detach_obj")] if config.gripper_state > 0 else commands

    def checks(self) -> tuple[Check, ...]:
        """Return no terms: waiting cannot fail."""
        return ()


class Wait(Skill[WaitConfig]):
    """The published wait: hold the pose, and check the drift of the hand."""

    Config: ClassVar = WaitConfig

    def simple_generate_manip_cmds(self) -> None:
        """Repeat the present pose."""
        config = self.config
        self._T_base_tool = self.controller.tool_pose()
        self.manip_list = [self.stay("update_specific", ignore_substring=config.ignore_substring)]
        state = self.controller.gripper_state if config.gripper_state is None else config.gripper_state
        self.manip_list += [self.stay(gripper_function(state))] * self.frames(config.wait_steps)

    def is_subtask_done(self, t_eps: float = 1e-3, o_eps: float = 5e-3) -> bool:
        """Return True: every command takes one frame, whatever the hand does; its drift is checked at the end."""
        return True

    def checks(self) -> tuple[Check, ...]:
        """Return the terms: the hand drifted less than the threshold."""
        threshold = self.config.success_threshold
        return (hand_check(self.controller.arm, self._T_base_tool, distance=threshold),)
