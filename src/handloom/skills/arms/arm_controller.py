"""Carries out the commands of a skill with one arm, one frame at a time."""

from collections.abc import Callable, Iterable, Sequence
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handloom.arrays import Array
from handloom.errors import unknown_name
from handloom.motion.planning import ArmPlanner, FreeIkResult, Move, PlanResult
from handloom.motion.trajectory import MotionLimits
from handloom.robots import Arm
from handloom.scene import Scene, SceneArm
from handloom.skills.arms.arm_motion import attach_solids, attainable, inside_limits, planned_state, play
from handloom.skills.arms.held_parts import Held, HeldAxis, HeldParts
from handloom.spatial import pose_error, pose_from_pos_quat
from handloom.values import Command

OPEN, CLOSED = 1, -1
"""Gripper states, as published."""
JOINT_SPEED = 1.2
JOINT_ACCELERATION = 4.0
JOINT_JERK = 40.0
"""Speed, acceleration and jerk limits of the expert [rad/s, rad/s^2, rad/s^3]: about half of what the arms can do, a
calm human pace that builds up within a tenth of a second."""
SHARE_OF_LIMITS = 0.7
"""The expert uses at most this fraction of a robot's own limits: joints that follow targets from frame to frame are
briefly up to 1.4 times as fast as the targets are on average."""
GRIPPER_FRAMES = 4
"""Minimum number of frames for the fingers to start moving and to build up their force."""
GRIPPER_STILL = 2e-3
"""Fingers that move by less than this fraction of their stroke per frame count as stationary."""
REPLAN = 5e-3
"""A command that differs by more than this from the last planned one is replanned [m or rad]; published value."""
FUNCTIONS = {
    "attach_obj": "_attach_command",
    "close_gripper": "_close",
    "detach_obj": "_detach_command",
    "dummy_forward": "_joints",
    "in_plane_rotation": "_in_plane_rotation",
    "mobile_move": "_stand",
    "open_gripper": "_open",
    "update_pose_cost_metric": "_update_pose_cost_metric",
    "update_specific": "_update_specific",
}
"""Published name of a command function > method that carries it out."""
TIMELESS = frozenset({"attach_obj", "detach_obj", "update_pose_cost_metric", "update_specific"})
"""Commands that change planning only and move nothing, so they take no frame."""
INSTANT = TIMELESS | {"dummy_forward", "in_plane_rotation", "mobile_move"}
"""Functions that finish after one frame, wherever the hand is."""


class Way(Enum):
    """Whether an arm may begin a path."""

    FREE = "free"
    BUSY = "busy"
    """Another arm is moving through the path; wait."""
    BLOCKED = "blocked"
    """Another arm is standing in the path; take another path."""


def _free_way(path: Array) -> Way:
    """Return that the path is free: there is no other arm."""
    return Way.FREE


def motion_limits(arm: Arm) -> MotionLimits:
    """Return the motion limits of an arm: the expert's pace, or slower if the robot needs it."""
    return MotionLimits.of(
        np.minimum(JOINT_SPEED, SHARE_OF_LIMITS * arm.speed_limit),
        np.minimum(JOINT_ACCELERATION, SHARE_OF_LIMITS * arm.acceleration_limit),
        JOINT_JERK,
    )


class ArmController:
    """Turns commands into joint and gripper targets of one arm.

    The last target is held when a path has run out: holding the measured joints, as published, lets the arm sag.
    """

    def __init__(self, scene: Scene, arm: SceneArm) -> None:
        self.scene = scene
        self.arm = arm
        model, data = scene.world.model, scene.world.data
        self.chain = inside_limits(arm.chain(), arm.spec.home)
        robot = next(r for r in scene.instance.robots if r.name == arm.robot_name)
        self.planner = ArmPlanner(model, self.chain, data=data, ignore=robot.ignore_obstacles)
        self.limits = motion_limits(arm.spec)
        self.gripper_state = self._measured_gripper()
        self._opened = arm.spec.gripper_open
        """Targets of the gripper while its state is open; a command may bring its own."""
        self.fingers: dict[str, float] = {}
        """Joints of the hand, by name in the robot's model, that planning assumes at other positions [m or rad]."""
        self.gripper_still = False
        """Whether the fingers have stopped since the last command to open or close."""
        self._gripper_frames = 0
        """Frames since then."""
        self._gripper_was = arm.gripper_positions
        self.num_last_cmd = 0
        """Frames since the planned path ran out."""
        self.num_plan_failed = 0
        """Plans that failed in a row."""
        self.num_plans = 0
        """Plans requested so far."""
        self.last_failure: PlanResult | None = None
        self.ignored: tuple[str, ...] = ()
        """Obstacles that the current skill ignores, by part of their name."""
        self.by_rim = self.by_ring = False
        """Whether the last pick took a rim or the side of a ring: fingers then open only a little on release."""
        self.held: tuple[str, ...] = ()
        """Objects that move with the hand in planning."""
        self._kept: Held | None = None
        self._path: Array | None = None
        self._played = 0
        self._target = arm.joints.copy()
        self._goal = self.commanded_pose
        self._settled: Command | None = None
        """The command whose pose is the current goal, so that poses need not be compared in every frame."""
        self._rotation_start: float | None = None
        self.way: Callable[[Array], Way] = _free_way
        """Called before a path (frames, n) is begun, and again in every frame until the path may begin."""
        self._distrusted: Command | None = None
        """A command whose path is blocked by another arm, so that it is replanned."""

    @property
    def upcoming(self) -> Array:
        """Joint targets (k, n) of the upcoming frames, at least the current one, without a path not yet begun."""
        if self._path is None or not 0 < self._played < len(self._path):
            return self._target[None]
        return self._path[self._played :]

    @property
    def moving(self) -> bool:
        """Whether a path is being played."""
        return self._path is not None and 0 < self._played < len(self._path)

    @property
    def preshaped(self) -> dict[str, float]:
        """Joints of the hand, by name in the scene, and the positions that planning assumes for them [m or rad]."""
        return {self.arm.prefix + name: value for name, value in self.fingers.items()}

    @property
    def target(self) -> Array:
        """Commanded joints (n,) [rad]; plans start here, for the measured ones sag a little."""
        return self._target

    @property
    def partly_open(self) -> dict[str, Array]:
        """The ``drive`` of a partly open gripper, as a command parameter; empty otherwise."""
        whole = self.gripper_state != OPEN or np.array_equal(self._opened, self.arm.spec.gripper_open)
        return {} if whole else {"drive": self._opened}

    @property
    def commanded_pose(self) -> Array:
        """T_base_tool (4, 4) at the commanded joints."""
        return self.chain.T_base_tool(self._target)

    def tool_pose(self) -> Array:
        """Return T_base_tool (4, 4) at the measured joints."""
        return self.chain.T_base_tool(self.arm.joints)

    def forward(self, command: Command) -> tuple[Array, Array]:
        """Carry out one frame of a command; return joint targets (n,) and gripper targets (g,) [m or rad]."""
        if command.function not in FUNCTIONS:
            raise unknown_name("command function", command.function, FUNCTIONS)
        if command.function != "in_plane_rotation":
            self._rotation_start = None
        before, opened = self.gripper_state, self._opened
        getattr(self, FUNCTIONS[command.function])(command)
        self._watch_gripper(changed=self.gripper_state != before or not np.array_equal(self._opened, opened))
        gripper = self._opened if self.gripper_state == OPEN else self.arm.spec.gripper_closed
        return self._target, gripper

    def _watch_gripper(self, *, changed: bool) -> None:
        """Notice when the fingers have stopped."""
        measured = self.arm.gripper_positions
        self._gripper_frames = 0 if changed else self._gripper_frames + 1
        span = np.abs(self.arm.spec.gripper_open - self.arm.spec.gripper_closed).max()
        moved = np.abs(measured - self._gripper_was).max()
        self.gripper_still = self._gripper_frames >= GRIPPER_FRAMES and bool(moved < GRIPPER_STILL * span)
        self._gripper_was = measured

    def reached(self, command: Command, t_eps: float, o_eps: float) -> bool:
        """Return whether the hand is at the command's pose within ``t_eps`` [m] and ``o_eps`` [rad].

        A path is played to its end first: the next one was planned from there, and a gripper that closed earlier would
        miss the object.
        """
        if self._path is not None and self._played < len(self._path):
            return False
        distance, angle = pose_error(self.tool_pose(), pose_from_pos_quat(command.p_base_tool, command.q_base_tool))
        return bool(distance < t_eps and angle < o_eps)

    def plan(
        self, stages: Sequence[Move], scores: ArrayLike | None = None, *, ignore: Iterable[str] = ()
    ) -> PlanResult:
        """Plan from the commanded joints through a chain of goals in the current scene."""
        self.refresh()
        self.num_plans += 1
        return self.planner.plan_chain(self._target, stages, scores, ignore=(*self.ignored, *ignore))

    def plan_to_joints(self, goal: Array) -> PlanResult:
        """Plan from the commanded joints to other joints (n,) in the current scene."""
        self.refresh()
        self.num_plans += 1
        return self.planner.plan_to_joints(self._target, goal, ignore=self.ignored)

    def plan_held(self, q: Array, T_base_tool: Array, kept: Held, *, ignore: Iterable[str] = ()) -> PlanResult:
        """Plan from joints (n,) to a pose (4, 4) without changing the path constraint."""
        self.refresh()
        self.num_plans += 1
        return kept.plan(self.planner, q, T_base_tool, (*self.ignored, *ignore))

    def reachable(self, stage: Move, *, seed: Array | None = None) -> FreeIkResult:
        """Return collision-free joints for each pose of a stage, near the current ones or a seed (n,)."""
        self.refresh()
        ignore, near = (*self.ignored, *stage.ignore), self._target if seed is None else seed
        return self.planner.free_ik(stage.T_base_tool, near, ignore=ignore, released=stage.released)

    def attainable(
        self, T_base_tool: Array, *, point_tool: ArrayLike, axis_tool: ArrayLike, **options: float
    ) -> tuple[Array, NDArray[np.bool_]]:
        """Return poses (n, 4, 4) this arm can take near given ones, and which were found; see ``attainable``."""
        return attainable(
            self.chain, T_base_tool, point_tool=point_tool, axis_tool=axis_tool, seed=self._target, **options
        )

    def let_go(self) -> None:
        """Stop the hand where it is, and drop all constraints of the previous skill."""
        self._detach_all(self.held)
        self.held, self.ignored, self._kept = (), (), None
        self._path, self._settled, self._distrusted = None, None, None
        self._goal = self.commanded_pose
        self.gripper_state = OPEN

    def obstacles_of(self, name: str) -> tuple[str, ...]:
        """Return the planner's full names of an object's solids; a partial name could also match a neighbour."""
        return tuple(o.name for o in self.planner.world if o.name.startswith(f"{name}/"))

    def refresh(self) -> None:
        """Update the planner's obstacles and attached objects to their current poses."""
        held, self.held = self.held, ()
        self._detach_all(held)
        self.planner.update(planned_state(self.scene, self.preshaped))
        for name in held:
            self._attach(name)

    def take_over(self, held: Sequence[str]) -> None:
        """Continue from where another controller has moved the arm, with these objects in its hand."""
        self._set_target(self.arm.joints.copy())
        self.gripper_state = CLOSED if held else self._measured_gripper()
        self._detach_all(self.held)
        self.held = ()
        self.planner.update(self.scene.world.data)
        for name in held:
            self._attach(name)

    def _open(self, command: Command) -> None:
        """Open the gripper fully, or to the drive targets (g,) in the command's ``drive`` [m or rad]."""
        self.gripper_state = OPEN
        self._opened = command.params.get("drive", self.arm.spec.gripper_open)
        self._move(command)

    def _close(self, command: Command) -> None:
        self.gripper_state = CLOSED
        self._move(command)

    def _update_specific(self, command: Command) -> None:
        self.ignored = tuple(command.params.get("ignore_substring", ()))

    def _update_pose_cost_metric(self, command: Command) -> None:
        """Keep parts of the pose (``hold_vec_weight``) or an axis of the hand (``hold_axis``) during the next moves."""
        axis = command.params.get("hold_axis")
        self._kept = HeldAxis(axis) if axis is not None else HeldParts.given(command.params.get("hold_vec_weight"))

    def _attach_command(self, command: Command) -> None:
        name = command.params["object"]
        if name not in self.held:
            self.planner.update(self.scene.world.data)
            self._attach(name)
        self._move(command)

    def _detach_command(self, command: Command) -> None:
        self._detach_all(self.held)
        self.held = ()
        self._move(command)

    def _stand(self, command: Command) -> None:
        """Hold the arm still while the base drives, or follow ``joints`` when both move together."""
        self.num_last_cmd += 1
        if "joints" in command.params:
            self._set_target(command.params["joints"])

    def _joints(self, command: Command) -> None:
        self.gripper_state = OPEN if command.params["gripper_state"] > 0 else CLOSED
        self._set_target(np.array(command.params["arm_action"], float))

    def _in_plane_rotation(self, command: Command) -> None:
        """Turn the last joint back by ``target_rotate`` [rad] from its position at the start of the rotation."""
        if self._rotation_start is None:
            self._rotation_start = float(self._target[-1])
        turned = self._target.copy()
        turned[-1] = self._rotation_start - float(command.params["target_rotate"])
        self._set_target(turned)

    def _set_target(self, joints: Array) -> None:
        self._path = None
        self._target = joints
        self._goal, self._settled = self.commanded_pose, None
        self.num_last_cmd += 1

    def _move(self, command: Command) -> None:
        """Plan if the pose is new, then play one frame; hold the last target after the end of the path."""
        if command is not self._settled:
            pose = pose_from_pos_quat(command.p_base_tool, command.q_base_tool)
            if not self._is_new(pose) or self._go(pose, command):
                self._settled = command
        if self._path is None or self._played >= len(self._path):
            self.num_last_cmd += 1
        elif self._played > 0 or self._may_begin(command):
            self._target = self._path[self._played]
            self._played += 1

    def _may_begin(self, command: Command) -> bool:
        """Check whether the path is free; replan in the next frame if waiting would not free it."""
        # Frames supplied by a command were planned together with the other arm.
        together = "frames" in command.params
        way = Way.FREE if self._path is None or together else self.way(self._path)
        if way is Way.BLOCKED and command is not self._distrusted:
            self._distrusted = command
            self._path, self._settled, self._goal = None, None, self.commanded_pose
            return False
        return way is not Way.BUSY

    def _is_new(self, pose: Array) -> bool:
        distance, angle = pose_error(self._goal, pose)
        return bool(distance > REPLAN or angle > REPLAN)

    def _go(self, pose: Array, command: Command) -> bool:
        """Take the path that came with the command, found when the skill tested its candidates, or plan a new one.

        Returns:
            Whether a path was found.
        """
        path = None if command is self._distrusted else command.params.get("path")
        self.num_last_cmd = 0
        if "frames" in command.params:
            self._path, self._played, self._goal = command.params["frames"], 0, pose
            return True
        if path is None or np.abs(path[0] - self._target).max() > REPLAN:
            result = self._plan_move(pose, straight=bool(command.params.get("straight")))
            if not result.ok:
                self.num_plan_failed += 1
                self.last_failure = result
                return False
            path = result.path
        pace = command.params.get("pace")
        limits = self.limits if pace is None else self.limits.scaled(pace)
        self._path = play(path, limits, fps=self.scene.instance.fps)
        self._played = 0
        self._goal = pose
        self.num_plan_failed = 0
        return True

    def _plan_move(self, pose: Array, *, straight: bool) -> PlanResult:
        if self._kept is not None:
            return self.plan_held(self._target, pose, self._kept)
        if not straight:
            return self.plan([Move(T_base_tool=pose)])
        self.refresh()
        self.num_plans += 1
        return self.planner.plan_straight(self._target, pose, ignore=self.ignored)

    def _attach(self, name: str) -> None:
        """Make an object part of the robot in planning, adding each of its solids by full name."""
        attach_solids(self.planner, self.obstacles_of(name), self.holder, self.scene.world.body_pose(self.holder))
        self.held = (*self.held, name)

    def _detach_all(self, names: Iterable[str]) -> None:
        for name in names:
            for obstacle in self.obstacles_of(name):
                self.planner.detach(obstacle)

    @property
    def holder(self) -> str:
        """Body to which held objects are fixed in planning: one with solids on the last link."""
        last = max(group.link for group in self.planner.robot.groups)
        bodies = [group.body for group in self.planner.robot.groups if group.link == last]
        return self.arm.tool_body if self.arm.tool_body in bodies else bodies[0]

    def _measured_gripper(self) -> int:
        measured = self.scene.world.data.qpos[self.arm.gripper_qpos_index]
        to_open = np.abs(measured - self.arm.spec.gripper_open).sum()
        return OPEN if to_open <= np.abs(measured - self.arm.spec.gripper_closed).sum() else CLOSED
