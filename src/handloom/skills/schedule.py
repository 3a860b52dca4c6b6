"""Runs a task's skills: stages one after another, robots and the arms of a block at the same time."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple
from weakref import proxy

import numpy as np

from handloom.arrays import Array
from handloom.scene import Scene, SceneArm
from handloom.seeding import generator
from handloom.skills.arms.arm_controller import TIMELESS, ArmController, Way
from handloom.skills.arms.traffic import MARGIN, Traffic, moving_bodies
from handloom.skills.coming import coming_skills, told_of_others
from handloom.skills.configs.motions import WaitConfig
from handloom.skills.configs.parts import SkillConfig, Triple
from handloom.skills.configs.places import MoveConfig
from handloom.skills.mobile_base.whole_body import find_stance, may_reposition
from handloom.skills.registry import checked_config, make_skill
from handloom.skills.skill import Phase, Skill
from handloom.skills.skill_failures import no_commands, planning_failure, unsuccessful
from handloom.values import Command, Failure, FunnelStage, SkillSpan

Stages = Sequence[Mapping[str, Sequence[Mapping[str, Sequence[Any]]]]]
"""Stage > robot > block > arm > skill configs, as the task file nests them."""

Kind = Literal["", "mistake", "recovery"]
"""Label of a segment of a skill."""


class HandPhase(NamedTuple):
    """Current action of a hand on an object."""

    robot: str
    arm: str
    phase: Phase
    object: str


NEAR_ROOM = 0.25
"""Fraction of a disturbance on the straight paths to and from objects."""
LOOK = WaitConfig(name="wait", wait_steps=15, gripper_state=1, success_threshold=1.0)
"""Phase of a hand that has lost an object: it waits, open, until the object comes to rest."""
MOST_STEPS = 4
"""Maximum number of drives towards the object for the skills of one arm in a block."""
RETRY = 10
"""Frames after which a skill without a plan is retried while another arm is working."""


@dataclass
class _Lane:
    """One arm's skills within the current block."""

    robot: str
    arm: str
    waiting: deque[SkillConfig]
    active: Skill | None = None
    started: int = 0
    not_before: int = 0
    """Frame before which the next skill is not tried again."""
    done: list[SkillConfig] = field(default_factory=list)
    """What succeeded so far."""
    retries: int = 0
    """Number of restarts."""
    steps: int = 0
    """Number of drives of the base towards the object."""
    draws: np.random.Generator | None = None
    """Random generator of the next skill, if it was already planned with these draws; None: the schedule's own."""


class Schedule:
    """A source of commands: the scripted expert.

    Call ``next`` once per frame; it returns None at the end, when ``failure`` shows whether the task succeeded.
    """

    def __init__(
        self,
        scene: Scene,
        stages: Stages,
        rng: np.random.Generator,
        *,
        retries: int = 0,
        controller: Callable[[Scene, SceneArm], ArmController] = ArmController,
    ) -> None:
        self.scene = scene
        self._make_controller = controller
        self.retries = retries
        """Maximum number of restarts per arm and block of skills that were disturbed or failed."""
        self.failure: Failure | None = None
        self.timeline: list[SkillSpan] = []
        self.recording = True
        """Whether the last frame belongs to the demonstration, according to every active skill."""
        self.room = 0.0
        """Strength of disturbance tolerated in the last frame: 1 on a free path, ``NEAR_ROOM`` on a straight path to or
        from an object, 0 while an arm stands still and its gripper moves."""
        self._rng = rng
        self._traffic = Traffic(scene)
        self._stages = deque(stages)
        self._blocks: dict[str, deque[Mapping[str, Sequence[Any]]]] = {}
        self._lanes: list[_Lane] = []
        self._controllers: dict[tuple[str, str], ArmController] = {}
        self._missed: dict[tuple[str, str], set[str]] = {}
        """Objects that an arm missed on purpose and has not grasped since."""

    def next(self, frame: int) -> Array | None:
        """Return the actuator targets (controls,) of a frame, NaN for controls without a target; None at the end.

        Args:
            frame: Number of frames that have been carried out.
        """
        self._judge_active(frame)
        self._judge_arms(frame)
        if self.failure is not None or not self._activate(frame):
            return None
        targets = np.full(self.scene.world.model.nu, np.nan)
        self.recording = all(lane.active is None or lane.active.is_record() for lane in self._lanes)
        self.room = 1.0
        for lane in self._lanes:
            skill = lane.active
            if skill is None or not skill.is_ready() or frame < lane.not_before:
                continue
            for arm, joints, gripper in _one_frame(skill):
                targets[arm.ctrl_index] = joints
                targets[arm.gripper_ctrl_index] = gripper
            self._drive(targets, lane.robot, skill.manip_list[0])
            self.room = min(self.room, _room(skill))
            if not skill.is_feasible():
                if not any(other.active for other in self._lanes if other is not lane):
                    self._stop(skill, frame, lane, skill.failure or planning_failure(skill))
                    return None
                lane.not_before = frame + RETRY
                skill.controller.num_plan_failed = 0
        return targets

    def _drive(self, targets: Array, robot: str, command: Command) -> None:
        """Write a command's target for the base: a pose in this frame, or wheels steered for the next motion."""
        base = self.scene.robot(robot).base
        if base is None or command.function != "mobile_move":
            return
        if "aim" in command.params:
            base.aim(targets, command.params["aim"])
        else:
            base.go(targets, command.params["pose"])

    def _judge_active(self, frame: int) -> None:
        """Evaluate the last frame: end skills that are done, and the episode if one of them failed."""
        for lane in self._lanes:
            skill = lane.active
            if skill is None or frame == lane.started:
                continue
            skill.update()
            if lane.retries < self.retries and skill.is_upset():
                self._begin_anew(skill, frame, lane, kind="")
            elif skill.is_done():
                if skill.is_success():
                    self._close(skill, frame, lane, success=True)
                    lane.done.append(skill.config)
                    lane.active = None
                elif lane.retries < self.retries:
                    self._begin_anew(skill, frame, lane, kind="mistake")
                else:
                    self._stop(skill, frame, lane, skill.failure or unsuccessful(skill))
                    return

    def _begin_anew(self, skill: Skill, frame: int, lane: _Lane, *, kind: Kind) -> None:
        """Abandon a skill that failed and queue it again, after a pick of its object if that is lost.

        The actions of an arm before a disturbance were right, so only a skill that failed by itself is a mistake;
        everything after it until a skill on the object succeeds is a recovery.
        """
        self._append(skill, frame, lane, success=False, kind=kind)
        self._missed.setdefault((lane.robot, lane.arm), set()).update(skill.config.objects[:1])
        for controller in skill.controllers:
            controller.let_go()
        lane.retries += 1
        lane.active = None
        lane.waiting.appendleft(skill.config)
        before = [config for config in lane.done if config.objects[:1] == skill.config.objects[:1]]
        if before and before[-1].name.endswith("pick"):
            lane.waiting.extendleft((before[-1], LOOK))

    def take_over(self, held: Mapping[tuple[str, str], Sequence[str]]) -> None:
        """Continue from where another controller has moved the arms, with their held objects, by robot and arm."""
        for (robot, arm), objects in held.items():
            self._controller(robot, arm).take_over(objects)

    @property
    def active(self) -> tuple[tuple[str, str, Skill], ...]:
        """Robot, arm and skill of every active skill."""
        return tuple((lane.robot, lane.arm, lane.active) for lane in self._lanes if lane.active is not None)

    @property
    def phases(self) -> tuple[HandPhase, ...]:
        """Action of each hand on the object of its skill, if it is on the way to the object or with it."""
        busy = [(lane, lane.active) for lane in self._lanes if lane.active is not None and lane.active.phase]
        return tuple(HandPhase(lane.robot, lane.arm, skill.phase, skill.config.objects[0]) for lane, skill in busy)

    def _judge_arms(self, frame: int) -> None:
        """End the episode if two arms that move at the same time touch each other after all."""
        busy = [(lane, skill, c.arm) for lane in self._lanes if (skill := lane.active) for c in skill.controllers]
        for i, (lane, skill, arm) in enumerate(busy):
            for _, _, other in busy[:i]:
                first, second = moving_bodies(self.scene, arm), moving_bodies(self.scene, other)
                if self.failure is None and self.scene.world.touching(first, second):
                    names = f"{arm.robot_name}/{arm.name} and {other.robot_name}/{other.name}"
                    failure = Failure(
                        stage=FunnelStage.EXECUTE, reason="arms_touch", detail=f"{names} touched each other"
                    )
                    self._stop(skill, frame, lane, failure)

    def _activate(self, frame: int) -> bool:
        """Start the next skill of every free arm; return False if none is left or one cannot start."""
        self._lanes = [lane for lane in self._lanes if lane.active or lane.waiting]
        while self._open_blocks():
            self._lanes = [lane for lane in self._lanes if lane.active or lane.waiting]
        idle, stuck = not any(lane.active for lane in self._lanes), list[tuple[_Lane, Skill, Failure]]()
        for lane in self._lanes:
            if lane.active is None and (idle or frame >= lane.not_before):
                skill = self._start(lane, frame)
                if skill is not None and not self._step_nearer(lane, skill, frame):
                    stuck.append((lane, skill, skill.failure or no_commands(skill)))
        return self._wait_for_others(stuck, frame) and bool(self._lanes)

    def _wait_for_others(self, stuck: Sequence[tuple[_Lane, Skill, Failure]], frame: int) -> bool:
        """Retry skills without a plan later while another arm is working; return False if that does not help."""
        at_work = any(lane.active for lane in self._lanes)
        for lane, skill, failure in stuck:
            # Another arm that is in the way now will eventually move away.
            if failure.stage is not FunnelStage.PLAN or not at_work:
                self._stop(skill, frame, lane, failure)
                return False
            lane.not_before = frame + RETRY
        return True

    def _open_blocks(self) -> bool:
        """Start the next block of every robot that has finished one, or the next stage; return whether any started."""
        busy = {lane.robot for lane in self._lanes}
        free = [robot for robot, blocks in self._blocks.items() if blocks and robot not in busy]
        if not free and not busy and self._stages:
            self._blocks = {robot: deque(blocks) for robot, blocks in self._stages.popleft().items()}
            return True
        for robot in free:
            block = self._blocks[robot].popleft()
            self._lanes += [_Lane(robot, arm, deque(skills)) for arm, skills in block.items()]
        return bool(free)

    def _start(self, lane: _Lane, frame: int) -> Skill | None:
        """Make the commands of an arm's next skill and start it; return the skill if it cannot be done now."""
        skill = self._prepared(lane, frame, self._rng if lane.draws is None else lane.draws)
        lane.draws = None
        skill.simple_generate_manip_cmds()
        lane.started = frame
        if skill.is_ready() and not skill.manip_list:
            return skill
        lane.waiting.popleft()
        lane.active = skill
        return None

    def _prepared(self, lane: _Lane, frame: int, rng: np.random.Generator) -> Skill:
        """Return an arm's next skill and its lookahead, not yet begun."""
        skill = self._made(lane, lane.waiting[0], rng)
        skill.neighbours = tuple(c for c in self._controllers.values() if c not in skill.controllers)
        following, skill.shifts = self._following(lane, skill.config.objects[:1])
        if following is not None:
            skill.follower = self._made(lane, following, self._foreseeing(frame))
        skill.taker = self._taker(lane, skill.config.objects[:1], self._foreseeing(frame))
        return skill

    def _step_nearer(self, lane: _Lane, skill: Skill, frame: int) -> bool:
        """Drive a robot, if allowed, to a place from which a skill can be reached; return whether it drives."""
        busy = any(other.active for other in self._lanes if other.robot == lane.robot)
        if busy or lane.steps >= MOST_STEPS or not may_reposition(skill):
            return False

        def prepared(trial: int) -> Skill:
            return self._prepared(lane, frame, self._foreseeing(frame, f"stance {trial}"))

        drive, trial = find_stance(skill, prepared, tuple(self._controllers.values()))
        if drive is None:
            return False
        drive.simple_generate_manip_cmds()
        lane.active, lane.started, lane.steps = drive, frame, lane.steps + 1
        lane.draws = self._foreseeing(frame, f"stance {trial}")
        return True

    def _foreseeing(self, frame: int, what: str = "look-ahead") -> np.random.Generator:
        """Return a generator for a lookahead: a separate one, so that later draws are unaffected."""
        scene = self.scene.instance
        return generator(scene.seed, scene.episode, f"{what} {frame}", task=scene.task)

    def _following(self, lane: _Lane, objects: tuple[str, ...]) -> tuple[Any | None, tuple[Triple, ...]]:
        """Return the config of the skill after an arm's next one: in this block, or in a later one with its object.

        A hand that takes over an object from the other one puts it down in a later block, after the other's release.
        The second value holds the ends of intermediate shifts of the held object, relative to itself.
        """
        shifts = list[Triple]()
        for config in list(lane.waiting)[1:]:
            checked = checked_config(config)
            if not isinstance(checked, MoveConfig) or not checked.only_shifts:
                return config, tuple(shifts)
            shifts += checked.delta_trans
        blocks = self._blocks.get(lane.robot, ())
        following = next((block[lane.arm][0] for block in blocks if block.get(lane.arm)), None)
        goes_on = following is not None and checked_config(following).objects[:1] == objects
        return following if goes_on else None, tuple(shifts)

    def _taker(self, lane: _Lane, objects: tuple[str, ...], rng: np.random.Generator) -> Skill | None:
        """Return the pick by another arm that is the next skill on an object after this lane is done."""
        if not objects or len(lane.waiting) > 1:
            return None
        blocks = self._blocks.get(lane.robot, ())
        coming = [(arm, skill) for block in blocks for arm, skills in block.items() for skill in skills]
        following = [(arm, skill) for arm, skill in coming if checked_config(skill).objects[:1] == objects][:1]
        for arm, skill in following:
            at_work = any(other.robot == lane.robot and other.arm == arm for other in self._lanes)
            if arm != lane.arm and not at_work and checked_config(skill).name.endswith("pick"):
                return make_skill(self.scene, lane.robot, arm, skill, rng, self._controller)
        return None

    def _made(self, lane: _Lane, given: Any, rng: np.random.Generator) -> Skill:
        skill = make_skill(self.scene, lane.robot, lane.arm, given, rng, self._controller)
        waiting = [(each.robot, each.arm, each.waiting) for each in self._lanes]
        return told_of_others(skill, coming_skills(given, waiting, self._blocks, self._stages), self.timeline)

    def _controller(self, robot: str, arm: str) -> ArmController:
        key = (robot, arm)
        if key not in self._controllers:
            controller = self._make_controller(self.scene, self.scene.robot(robot).arm(arm))
            # A controller that held its schedule would keep the episode's whole world alive after the episode.
            schedule = proxy(self)
            controller.way = lambda path: schedule._way_of(key, path)
            self._controllers[key] = controller
        return self._controllers[key]

    def _way_of(self, key: tuple[str, str], path: Array) -> Way:
        """Return whether an arm may begin a path, without coming near another arm on the way."""
        mover = self._controllers[key]
        others = [other for other in self._controllers.values() if other is not mover]
        moving = any(other.moving for other in others)
        # Stationary arms were obstacles of the plan, unless they arrived later.
        if not others or not self._traffic.blocked(mover, path, others, margin=MARGIN if moving else 0.0):
            return Way.FREE
        return Way.BUSY if moving else Way.BLOCKED

    def _stop(self, skill: Skill, frame: int, lane: _Lane, failure: Failure) -> None:
        self._close(skill, frame, lane, success=False)
        self.failure = replace(failure, skill=skill.config.name)

    def _close(self, skill: Skill, frame: int, lane: _Lane, *, success: bool) -> None:
        kind = self._kind(skill, (lane.robot, lane.arm), success=success)
        self._append(skill, frame, lane, success=success, kind=kind)

    def _append(self, skill: Skill, frame: int, lane: _Lane, *, success: bool, kind: Kind) -> None:
        self.timeline.append(
            SkillSpan(
                robot=lane.robot,
                arm=lane.arm,
                skill=skill.config.name,
                objects=skill.config.objects,
                start=lane.started,
                end=frame,
                success=success,
                instruction=skill.config.instruction,
                checks=skill.checks() if success else (),
                kind=kind,
            )
        )

    def _kind(self, skill: Skill, arm: tuple[str, str], *, success: bool) -> Kind:
        """Label a skill: a deliberate mistake, the recovery until a skill on its object succeeds, or neither."""
        if skill.kind == "mistake":
            self._missed.setdefault(arm, set()).update(skill.config.objects)
            return "mistake"
        if arm not in self._missed:
            return ""
        if success and self._missed[arm] & set(skill.config.objects):
            del self._missed[arm]
        return "recovery"


def _room(skill: Skill) -> float:
    """Return the strength of disturbance that a skill tolerates in this frame, 0 to 1."""
    if not skill.controller.moving or skill.manip_list[0].params.get("together"):
        return 0.0
    return NEAR_ROOM if skill.manip_list[0].params.get("straight") else 1.0


def _one_frame(skill: Skill) -> list[tuple[SceneArm, Array, Array]]:
    """Carry out one frame of a skill; commands that only change planning take no time."""
    while skill.manip_list[0].function in TIMELESS and len(skill.manip_list) > 1:
        skill.forward(skill.manip_list.pop(0))
    return skill.forward(skill.manip_list[0])
