"""Base of all skills: a list of commands, made when the skill becomes active, and a check at its end."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.judging.checks import holds
from handloom.motion.planning import PlanResult, PlanStatus
from handloom.scene import Scene, SceneArm
from handloom.skills.arms.arm_controller import CLOSED, INSTANT, ArmController
from handloom.skills.configs.parts import SkillConfig, Triple
from handloom.spatial import pos_quat_from_pose
from handloom.values import Check, Command, Failure, FunnelStage

Phase = Literal["", "reach", "carry"]
"""Action of a hand on the object of its skill."""

STEPS_PER_SECOND = 30
"""Rate of the steps counted in task files, such as ``gripper_change_steps``."""
ConfigT = TypeVar("ConfigT", bound=SkillConfig)
"""Keys of a skill in a task file."""


class Skill(ABC, Generic[ConfigT]):
    """A skill of one arm; the published interface with the time and the generator passed in.

    Subclasses fill ``manip_list`` in ``simple_generate_manip_cmds``; an empty list means that the skill cannot be done,
    for the reason in ``failure``.
    """

    Config: ClassVar[type[SkillConfig]] = SkillConfig
    max_plan_failures: ClassVar[int] = 5
    """Plans that may fail in a row before the skill is infeasible; published value."""
    kind: ClassVar[Literal["", "mistake"]] = ""
    """``mistake`` for a skill that fails on purpose; the same arm's actions after it are the recovery."""
    loosened_by: ClassVar[Mapping[str, str]] = {}
    """Name of a term that must hold throughout the skill > the key that loosens it, in words."""
    patience: ClassVar[int] = 10
    """Frames after the end of a path before a command counts as done wherever the hand is; published value."""

    def __init__(self, scene: Scene, controller: ArmController, config: ConfigT, rng: np.random.Generator) -> None:
        self.scene = scene
        self.controller = controller
        self.config = config
        self.rng = rng
        self.manip_list: list[Command] = []
        self.failure: Failure | None = None
        self.follower: Skill[Any] | None = None
        """The same arm's next skill, not yet begun; a pick uses it to check whether a grasp is suitable."""
        self.shifts: tuple[Triple, ...] = ()
        """Shifts of the held object before that, relative to its current place, in the arm base [m]."""
        self.taker: Skill[Any] | None = None
        """The pick with which another hand takes over the held object, not yet begun."""
        self.neighbours: tuple[ArmController, ...] = ()
        """The arms that work or worked beside this one."""
        self.partner: ArmController | None = None
        """The robot's other arm, for a skill that takes both arms."""
        self._frames_judged = 0
        self._frames_held: Counter[tuple[str, str]] = Counter()

    @staticmethod
    def throughout(config: Any) -> tuple[Check, ...]:
        """Return the terms that must hold in every frame of the skill, as far as its config alone says."""
        return ()

    @abstractmethod
    def simple_generate_manip_cmds(self) -> None:
        """Fill ``manip_list`` from the current state of the scene, or set ``failure``."""

    @abstractmethod
    def checks(self) -> tuple[Check, ...]:
        """Return the success terms, which must all hold when the skill is done."""

    @property
    def is_particular(self) -> bool:
        """Whether ``suits`` may leave grasps out."""
        return False

    def suits(self, T_base_tool: Array) -> NDArray[np.bool_]:
        """Return which grasps (n, 4, 4) of its first object, in its current pose, leave free what the skill needs."""
        return np.ones(len(T_base_tool), bool)

    def ways_after(self, T_base_tool: Array, q: Array) -> Array | None:
        """Return the joint motion of the skill from each grasp (n, 4, 4) after a pick; None if any grasp will do.

        Args:
            T_base_tool: Grasps of the first object in its current pose.
            q: Joints (m,) at the end of the pick.
        """
        return None

    def has_terms(self) -> bool:
        """Return whether the terms are meaningful; those derived from a plan need one."""
        return self.failure is None

    @property
    def phase(self) -> Phase:
        """Whether the hand is on its way to a free object, or with it; otherwise neither."""
        return ""

    def is_upset(self) -> bool:
        """Return whether the plan's assumptions no longer hold: the object was moved, or lost."""
        return False

    def frames(self, steps: int) -> int:
        """Return the number of frames for published steps of 1/30 s at the task's frame rate."""
        return round(steps * self.scene.instance.fps / STEPS_PER_SECOND)

    def is_ready(self) -> bool:
        """Return whether the skill is ready to act; one that waits for a conveyor is not ready at first."""
        return True

    def is_record(self) -> bool:
        """Return whether the current frame belongs in the demonstration."""
        return True

    def update(self) -> None:
        """Update after a frame: count the frames in which the terms with a share hold."""
        self._frames_judged += 1
        self._frames_held.update(_term(check) for check in self.checks() if check.share and holds(self.scene, check))

    @property
    def controllers(self) -> tuple[ArmController, ...]:
        """The arms it moves."""
        return (self.controller,) if self.partner is None else (self.controller, self.partner)

    def forward(self, command: Command) -> list[tuple[SceneArm, Array, Array]]:
        """Carry out one frame of a command; return each arm with its joint (n,) and gripper targets (g,) [m or rad].

        A command of a skill that takes both arms contains the other arm's command as ``partner``.
        """
        commands = (command, command.params.get("partner", command))
        return [(c.arm, *c.forward(part)) for c, part in zip(self.controllers, commands, strict=False)]

    def is_feasible(self) -> bool:
        """Return whether planning has not failed too often in a row."""
        return self.controller.num_plan_failed <= self.max_plan_failures

    def is_subtask_done(self, t_eps: float = 1e-3, o_eps: float = 5e-3) -> bool:
        """Return whether the first command is reached, or its path ended long enough ago."""
        command = self.manip_list[0]
        if command.function in INSTANT:
            return True
        return self.controller.reached(command, t_eps, o_eps) or self.controller.num_last_cmd > self.patience

    def is_done(self) -> bool:
        """Drop the first command if it is done; return whether none is left."""
        if self.manip_list and self.is_subtask_done(*self.tolerances()):
            done = self.manip_list.pop(0)
            while self.manip_list and self.manip_list[0] is done and self._waited_enough(done):
                self.manip_list.pop(0)
        return not self.manip_list

    def _waited_enough(self, command: Command) -> bool:
        """Return whether a wait for the fingers can end early, as they stand still."""
        return bool(command.params.get("until_still")) and self.controller.gripper_still

    def is_success(self) -> bool:
        """Return whether all success terms hold now."""
        return all(self.fulfilled(check) for check in self.checks())

    def fulfilled(self, check: Check) -> bool:
        """Return whether a success term holds now or, if it has a share, held in enough of the skill's frames."""
        if check.share:
            return self._frames_held[_term(check)] >= check.share * self._frames_judged
        return holds(self.scene, check)

    def calm(self, name: str) -> Check:
        """Return the term that robots and an object are at rest: only this robot's arm if just another one moves."""
        arm, calm = self.controller.arm, Check(name="calm", arguments={"object": name})
        several = sum(len(robot.arms) for robot in self.scene.robots.values()) > 1
        if not several or holds(self.scene, calm):
            return calm
        return Check(name="calm", arguments={"object": name, "robot": arm.robot_name, "arm": arm.name})

    def tolerances(self) -> tuple[float, float]:
        """Return the tolerances of a reached pose [m], [rad]."""
        return getattr(self.config, "t_eps", 1e-3), getattr(self.config, "o_eps", 5e-3)

    def stay(self, function: str, **params: Any) -> Command:
        """Return a command at the currently commanded pose."""
        return command_at(self.controller.commanded_pose, function, **params)

    def fail(self, stage: FunnelStage, reason: str, detail: str, **counts: int) -> None:
        """Record why this skill cannot be done, and drop its commands."""
        self.manip_list = []
        self.failure = Failure(stage=stage, reason=reason, detail=detail, skill=self.config.name, counts=counts)


def _term(check: Check) -> tuple[str, str]:
    """Return the identity of a term within a skill: its name, and its arm."""
    return check.name, check.arguments.get("arm", "")


def command_at(T_base_tool: Array, function: str, **params: Any) -> Command:
    """Return a command at a pose (4, 4); ``straight=True`` moves there on a line, ``path`` supplies a tested path."""
    return Command(*pos_quat_from_pose(T_base_tool), function, params)


def hand_check(
    arm: SceneArm,
    T_base_tool: Array,
    *,
    distance: float | None = None,
    angle: float | None = None,
    either: bool = False,
) -> Check:
    """Return the success term that the hand is at a pose within a distance [m] and an angle [rad], or one of them."""
    p, q = pos_quat_from_pose(T_base_tool)
    arguments = {"robot": arm.robot_name, "arm": arm.name, "position": p.tolist(), "quat": q.tolist()}
    return Check(name="hand_at", arguments={**arguments, "distance": distance, "angle": angle, "either": either})


def gripper_function(state: int) -> str:
    """Return the command function of a gripper state, 1 open or -1 closed."""
    return "close_gripper" if state == CLOSED else "open_gripper"


def register_skill(cls: type[Skill]) -> type[Skill]:
    """Check a user's own skill class, named ``my_module:MySkill`` in the task file."""
    if not (isinstance(cls, type) and issubclass(cls, Skill)):
        raise InputError(f"{cls!r} is not a subclass of handloom.skills.Skill")
    missing = sorted(getattr(cls, "__abstractmethods__", ()))
    if missing:
        raise InputError(f"skill {cls.__name__} lacks {', '.join(missing)}")
    return cls


def between(rng: np.random.Generator, one: ArrayLike, other: ArrayLike, size: tuple[int, ...] | None = None) -> Array:
    """Return uniform draws between two bounds in either order; both bounds may be arrays."""
    return np.asarray(rng.uniform(np.minimum(one, other), np.maximum(one, other), size))


def plan_failure(result: PlanResult) -> Failure:
    """Return the typed failure of a plan: ``reach`` if the arm cannot reach any goal, ``plan`` otherwise."""
    stage = FunnelStage.REACH if result.status is PlanStatus.GOAL_UNREACHABLE else FunnelStage.PLAN
    counts = {name: value for name, value in vars(result.counts).items() if value}
    return Failure(stage=stage, reason=result.status.value.replace(" ", "_"), detail=result.reason, counts=counts)
