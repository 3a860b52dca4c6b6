"""The success terms of a task as a row of goals, judged for whoever carries it out."""

from collections import deque
from dataclasses import dataclass

import numpy as np

from handloom.arrays import Array
from handloom.episode.loop import REST_FRAMES, Source, not_lasting
from handloom.scene import Scene
from handloom.skills.arm_controller import ArmController
from handloom.skills.checks import holds
from handloom.skills.configs.parts import SkillConfig
from handloom.skills.registry import skill_class
from handloom.skills.schedule import Stages, make_skill
from handloom.skills.skill import Skill
from handloom.values import Check, Failure, FunnelStage, SkillSpan

RETRY = 30
"""Frames after which a skill that the expert would find no way for is begun again."""
JOINT_WAYPOINTS = frozenset({"heuristic__skill", "home", "joint__ctrl", "wait"})
"""Skills that say how an arm is bent on its way, which a person cannot know."""
WAYPOINTS = JOINT_WAYPOINTS | {"goto__pose", "mobile__rotate", "mobile__translate", "move", "navigate"}
"""Skills that say where a hand or the base goes on its way; a person finds other ways."""


class _AtOnce:
    """Stands for a skill that is asked of the expert only: there is nothing to judge."""

    def has_terms(self) -> bool:
        """Return that it can be judged."""
        return True

    def update(self) -> None:
        """Do nothing."""

    def is_success(self) -> bool:
        """Return that nothing is missing."""
        return True

    def checks(self) -> tuple[Check, ...]:
        """Return no terms."""
        return ()

    def fulfilled(self, check: Check) -> bool:
        """Return that nothing is missing."""
        return True


@dataclass
class _Lane:
    """The skills of one arm in order, over all stages."""

    robot: str
    arm: str
    waiting: deque[SkillConfig]
    skill: Skill | _AtOnce | None = None
    """The skill that comes next; it is judged, not carried out."""
    started: int = 0
    held: int = 0
    """Frames in a row in which the terms held."""


class Goals:
    """Watches a scene: which skills of the task have been achieved, in their order, by whatever means.

    The terms of a skill are those that the expert would have to meet if it began where the one before was achieved.
    Skills that fail on purpose are left out. Where the expert would find no way, a skill whose terms come from its plan
    is begun again until there is one. All is achieved while everything that must hold at the end of a demonstration
    holds: what was placed first may be knocked over last.

    Args:
        scene: The scene in its first state.
        stages: The skills of the task, as its file nests them.
        rng: Draws what the expert would draw, such as where in a region to put an object.
        hold: Frames in a row in which the terms of an arm's last skill must hold.
        waypoints: Whether places on the expert's way (``WAYPOINTS``) are goals, too. Where a task has no others, places
            of a hand are goals all the same.
    """

    def __init__(
        self,
        scene: Scene,
        stages: Stages,
        rng: np.random.Generator,
        *,
        hold: int = REST_FRAMES,
        waypoints: bool = True,
    ) -> None:
        self._scene = scene
        self._hold = hold
        self._rng = rng
        self._controllers: dict[tuple[str, str], ArmController] = {}
        self._movable = [obj.name for obj in scene.instance.objects if not obj.fixed and obj.solid]
        self._lanes = _lanes(stages)
        names = {config.name for lane in self._lanes for config in lane.waiting}
        choices = (frozenset[str](),) if waypoints else (WAYPOINTS, JOINT_WAYPOINTS, frozenset[str]())
        self._left_out = next((choice for choice in choices if names - choice), frozenset[str]())
        self._total = sum(len(lane.waiting) for lane in self._lanes)
        self.timeline: list[SkillSpan] = []
        """What was achieved when."""

    @property
    def progress(self) -> float:
        """Share of the skills that have been achieved, 0 to 1."""
        return len(self.timeline) / self._total if self._total else 1.0

    @property
    def achieved(self) -> bool:
        """Whether nothing is left to do, and nothing that was done is undone."""
        return not any(lane.waiting for lane in self._lanes) and not_lasting(self._scene, self.timeline) is None

    def failure(self, frame: int) -> Failure | None:
        """Return what is missing after a number of frames; None when all is achieved."""
        for lane in self._lanes:
            if lane.waiting:
                checks = lane.skill.checks() if lane.skill else ()
                broken = [check.name for check in checks if lane.skill and not lane.skill.fulfilled(check)]
                skill = lane.waiting[0].name
                detail = f"after {frame} frames this did not hold: {', '.join(broken) or 'for long enough'}"
                reason = f"{skill}_not_{broken[0]}" if broken else f"{skill}_not_lasting"
                return Failure(stage=FunnelStage.EXECUTE, reason=reason, detail=detail, skill=skill)
        return not_lasting(self._scene, self.timeline)

    @property
    def terms(self) -> tuple[tuple[SkillConfig, tuple[tuple[str, bool], ...]], ...]:
        """Of every arm that has something left to do: its next skill, and its success terms and whether they hold."""
        begun = [(lane.waiting[0], lane.skill) for lane in self._lanes if lane.waiting and lane.skill]
        judged = [(config, skill) for config, skill in begun if skill.has_terms()]
        return tuple((c, tuple((check.name, s.fulfilled(check)) for check in s.checks())) for c, s in judged)

    @property
    def controls(self) -> int:
        """Number of actuators of the scene."""
        return self._scene.world.model.nu

    def look(self, frame: int) -> None:
        """Judge the state after a number of frames."""
        for lane in self._lanes:
            self._look(lane, frame)

    def _look(self, lane: _Lane, frame: int) -> None:
        if not lane.waiting:
            return
        if lane.skill is None or (not lane.skill.has_terms() and frame - lane.started >= RETRY):
            lane.skill, lane.started, lane.held = self._begun(lane), frame, 0
            return  # A skill takes at least a frame.
        if not lane.skill.has_terms():
            return
        lane.skill.update()
        lane.held = lane.held + 1 if lane.skill.is_success() else 0
        if lane.held < (self._hold if len(lane.waiting) == 1 else 1):
            return
        config = lane.waiting.popleft()
        self.timeline.append(
            SkillSpan(
                robot=lane.robot,
                arm=lane.arm,
                skill=config.name,
                objects=config.objects,
                start=lane.started,
                end=frame,
                success=True,
                instruction=config.instruction,
                checks=lane.skill.checks(),
            )
        )
        lane.skill = None

    def _begun(self, lane: _Lane) -> Skill | _AtOnce:
        """Return an arm's next skill, begun in the present state."""
        if lane.waiting[0].name in self._left_out:
            return _AtOnce()
        skill = make_skill(self._scene, lane.robot, lane.arm, lane.waiting[0], self._rng, self._taken_over)
        skill.simple_generate_manip_cmds()  # What it would do is not wanted, what it would be judged by is.
        return skill

    def _taken_over(self, robot: str, arm: str) -> ArmController:
        """Return the controller of an arm, as whoever leads the arm has left it."""
        key = (robot, arm)
        if key not in self._controllers:
            self._controllers[key] = ArmController(self._scene, self._scene.robot(robot).arm(arm))
        self._controllers[key].take_over([name for name in self._movable if self._held(key, name)])
        return self._controllers[key]

    def _held(self, key: tuple[str, str], name: str) -> bool:
        check = Check(name="grasped", arguments={"robot": key[0], "arm": key[1], "object": name})
        return holds(self._scene, check)


class JudgedSource:
    """A source of commands that is judged by the success terms of the task, not by what it says of itself.

    When the source has ended, all targets are held, outside the demonstration, until the task's terms hold, for as
    long as a demonstration rests: an object may still be settling.

    Args:
        source: Who carries the task out. Terms in its own timeline must hold, too.
        goals: The terms of the task.
    """

    def __init__(self, source: Source, goals: Goals) -> None:
        self._source = source
        self._goals = goals
        self._missing: Failure | None = None
        self._ended: int | None = None

    @property
    def failure(self) -> Failure | None:
        """Why the task was not done: what the source says, or else which terms of the task do not hold."""
        return self._source.failure or self._missing

    @property
    def timeline(self) -> list[SkillSpan]:
        """What the source says, and then what was achieved of the task."""
        return [*self._source.timeline, *self._goals.timeline]

    @property
    def recording(self) -> bool:
        """Whether the frame asked for last belongs to the demonstration."""
        return self._ended is None and self._source.recording

    def next(self, frame: int) -> Array | None:
        """Return the targets (controls,) of a frame; None when the source has ended and the task was judged."""
        self._goals.look(frame)
        if self._ended is None:
            targets = self._source.next(frame)
            if targets is not None or self._source.failure is not None:
                return targets
            self._ended = frame
        self._missing = self._goals.failure(frame)
        if self._missing is None or frame - self._ended >= REST_FRAMES:
            return None
        self._missing = None
        return np.full(self._goals.controls, np.nan)


def _lanes(stages: Stages) -> list[_Lane]:
    lanes: dict[tuple[str, str], _Lane] = {}
    for stage in stages:
        for robot, blocks in stage.items():
            for block in blocks:
                for arm, skills in block.items():
                    lane = lanes.setdefault((robot, arm), _Lane(robot, arm, deque()))
                    lane.waiting += [config for config in skills if _counts(config)]
    return list(lanes.values())


def _counts(config: SkillConfig) -> bool:
    return skill_class(config.name).kind != "mistake"
