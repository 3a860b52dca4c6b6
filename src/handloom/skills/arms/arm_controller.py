"""Carries out the commands of a skill with one arm, one frame at a time."""

from collections.abc import Callable, Iterable, Sequence
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handloom.arrays import Array
from handloom.errors import unknown_name
from handloom.motion.kinematics import Chain
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
"""Pace of the expert [rad/s, rad/s^2, rad/s^3]: about half of what the arms can do, a calm human pace that builds up
within a tenth of a second."""
SHARE_OF_LIMITS = 0.7
"""The expert asks for at most this much of a robot's own limits: joints that follow targets from frame to frame are up
to 1.4 times as fast, for a moment, as the targets are on average."""
GRIPPER_FRAMES = 4
"""Frames that the fingers get at least to begin to move and to build up their force."""
GRIPPER_STILL = 2e-3
"""Fingers that move by less than this fraction of their stroke in a frame stand still."""
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
"""Functions that are done after one frame, wherever the hand is."""


class Way(Enum):
    """Whether an arm may begin a path."""

    FREE = "free"
    BUSY = "busy"
    """Another arm moves in the way; wait."""
    BLOCKED = "blocked"
    """Another arm stands in the way; go another way."""


def _free_way(path: Array) -> Way:
    """Return that no one is in the way: there is no other arm."""
    return Way.FREE


def motion_limits(arm: Arm) -> MotionLimits:
    """Return how fast an arm is asked to move: at the expert's pace, or slower where the robot needs it."""
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
        self.chain = inside_limits(
            Chain.from_model(model, arm.tool_body, arm.base_body, arm.joint_names, qpos=data.qpos), arm.spec.home
        )
        robot = next(r for r in scene.instance.robots if r.name == arm.robot_name)
        self.planner = ArmPlanner(model, self.chain, data=data, ignore=robot.ignore_obstacles)
        self.limits = motion_limits(arm.spec)
        self.gripper_state = self._measured_gripper()
        self._opened = arm.spec.gripper_open
        """Targets of the gripper while its state is open; a command may bring its own."""
        self.fingers: dict[str, float] = {}
        """Joints of the hand, by their names in the robot's model, that plans take to stand elsewhere [m or rad]."""
        self.gripper_still = False
        """Whether the fingers have stopped since they were last told to open or close."""
        self._gripper_frames = 0
        """Frames since then."""
        self._gripper_was = arm.gripper_positions
        self.num_last_cmd = 0
        """Frames since the planned path ran out."""
        self.num_plan_failed = 0
        """Plans that failed in a row."""
        self.num_plans = 0
        """Plans asked for so far."""
        self.last_failure: PlanResult | None = None
        self.ignored: tuple[str, ...] = ()
        """Obstacles, by part of their name, that the present skill leaves out."""
        self.by_rim = self.by_ring = False
        """The last pick took a rim, or the side of a ring, so that the fingers open only a little to let go."""
        self.held: tuple[str, ...] = ()
        """Objects that move with the hand in planning."""
        self._kept: Held | None = None
        self._path: Array | None = None
        self._played = 0
        self._target = arm.joints.copy()
        self._goal = self.commanded_pose
        self._settled: Command | None = None
        """The command whose pose is the goal, so that it need not be compared in every frame."""
        self._rotation_start: float | None = None
        self.way: Callable[[Array], Way] = _free_way
        """Asked before a path (frames, n) is begun, and again in every frame until it may be."""
        self._distrusted: Command | None = None
        """A command whose path another arm stands in, so that it is replanned."""

    @property
    def upcoming(self) -> Array:
        """Joint targets (k, n) of the frames to come, at least the present one; a path not begun does not count."""
        if self._path is None or not 0 < self._played < len(self._path):
            return self._target[None]
        return self._path[self._played :]

    @property
    def moving(self) -> bool:
        """Whether a path is being played."""
        return self._path is not None and 0 < self._played < len(self._path)

    @property
    def preshaped(self) -> dict[str, float]:
        """Joints of the hand, by their names in the scene, and where plans take them to stand [m or rad]."""
        return {self.arm.prefix + name: value for name, value in self.fingers.items()}

    @property
    def target(self) -> Array:
        """Commanded joints (n,) [rad]; plans start here, for the measured ones sag a little."""
        return self._target

    @property
    def partly_open(self) -> dict[str, Array]:
        """The ``drive`` of an open gripper that is not fully open, as a parameter of commands; nothing otherwise."""
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

        A path is played to its end first: the next one was planned from there, and a gripper that closes on the way
        closes beside the object.
        """
        if self._path is not None and self._played < len(self._path):
            return False
        distance, angle = pose_error(self.tool_pose(), pose_from_pos_quat(command.p_base_tool, command.q_base_tool))
        return bool(distance < t_eps and angle < o_eps)

    def plan(
        self, stages: Sequence[Move], scores: ArrayLike | None = None, *, ignore: Iterable[str] = ()
    ) -> PlanResult:
        """Plan from the commanded joints through a chain of goals in the present scene."""
        self.refresh()
        self.num_plans += 1
        return self.planner.plan_chain(self._target, stages, scores, ignore=(*self.ignored, *ignore))

    def plan_to_joints(self, goal: Array) -> PlanResult:
        """Plan from the commanded joints to others (n,) in the present scene."""
        self.refresh()
        self.num_plans += 1
        return self.planner.plan_to_joints(self._target, goal, ignore=self.ignored)

    def plan_held(self, q: Array, T_base_tool: Array, kept: Held, *, ignore: Iterable[str] = ()) -> PlanResult:
        """Plan from joints (n,) to a pose (4, 4) without changing the path constraint."""
        self.refresh()
        self.num_plans += 1
        return kept.plan(self.planner, q, T_base_tool, (*self.ignored, *ignore))

    def reachable(self, stage: Move, *, seed: Array | None = None) -> FreeIkResult:
        """Return collision-free joints for each pose of a stage, near the present ones or a seed (n,)."""
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
        """Return the planner's full names of an object's solids; a part of a name could mean its neighbour too."""
        return tuple(o.name for o in self.planner.world if o.name.startswith(f"{name}/"))

    def refresh(self) -> None:
        """Update the planner's obstacles and attached objects to the present poses."""
        held, self.held = self.held, ()
        self._detach_all(held)
        self.planner.update(planned_state(self.scene, self.preshaped))
        for name in held:
            self._attach(name)

    def take_over(self, held: Sequence[str]) -> None:
        """Go on from where someone else has led the arm, with these objects in its hand."""
        self._set_target(self.arm.joints.copy())
        self.gripper_state = CLOSED if held else self._measured_gripper()
        self._detach_all(self.held)
        self.held = ()
        self.planner.update(self.scene.world.data)
        for name in held:
            self._attach(name)

    def _open(self, command: Command) -> None:
        """Open the gripper, fully or to the drive targets (g,) that the command brings as ``drive`` [m or rad]."""
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
        """Keep the arm as it is while the base drives, or at the ``joints`` of a motion of both."""
        self.num_last_cmd += 1
        if "joints" in command.params:
            self._set_target(command.params["joints"])

    def _joints(self, command: Command) -> None:
        self.gripper_state = OPEN if command.params["gripper_state"] > 0 else CLOSED
        self._set_target(np.array(command.params["arm_action"], float))

    def _in_plane_rotation(self, command: Command) -> None:
        """Turn the last joint back by ``target_rotate`` [rad] from where it was when the rotation began."""
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
        """Plan when the pose is new, then play one frame; hold the last target when the path has run out."""
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
        """Ask whether the way is free; plan once more, in the next frame, when waiting would not make it so."""
        # Frames that come with a command were planned together with the other arm.
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
        """Take the path that came with the command, found when the skill tested its candidates, or plan one.

        Returns:
            Whether there is a path.
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
        """Make an object part of the robot in planning, each of its solids by its full name."""
        attach_solids(self.planner, self.obstacles_of(name), self.holder, self.scene.world.body_pose(self.holder))
        self.held = (*self.held, name)

    def _detach_all(self, names: Iterable[str]) -> None:
        for name in names:
            for obstacle in self.obstacles_of(name):
                self.planner.detach(obstacle)

    @property
    def holder(self) -> str:
        """Body that held objects are fixed to in planning: one with solids on the last link."""
        last = max(group.link for group in self.planner.robot.groups)
        bodies = [group.body for group in self.planner.robot.groups if group.link == last]
        return self.arm.tool_body if self.arm.tool_body in bodies else bodies[0]

    def _measured_gripper(self) -> int:
        measured = self.scene.world.data.qpos[self.arm.gripper_qpos_index]
        to_open = np.abs(measured - self.arm.spec.gripper_open).sum()
        return OPEN if to_open <= np.abs(measured - self.arm.spec.gripper_closed).sum() else CLOSED
