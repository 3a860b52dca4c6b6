"""The judge of a task: which of its goal terms hold in the current state, regardless of who achieved them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from handloom.arrays import Array
from handloom.judging.ahead import LASTING, undone_after
from handloom.judging.checks import holds
from handloom.judging.lasting import BELTS, REST, frames_of
from handloom.judging.moved_containers import FilledContainers
from handloom.judging.wording.measured import unmet
from handloom.judging.wording.words import in_words
from handloom.judging.world_terms import FALLEN
from handloom.scene import Scene
from handloom.spatial import invert_pose
from handloom.values import Check, Failure, FunnelStage, SkillSpan

DISTURBED = 0.05
"""Largest unreported motion of an object that was not meant to move [m]."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """A skill of the task, and the terms by which it counts as done."""

    robot: str
    arm: str
    skill: str
    objects: tuple[str, ...] = ()
    instruction: str = ""
    terms: tuple[Check, ...] = ()
    """State of the world once it is done; empty for a waypoint of the expert."""


class Judge:
    """Watches a scene: which terms of the task's goal hold, and which of its steps have been done, by whatever means.

    Only the goal decides success: all its terms hold together for ``hold`` seconds and, if the goal requires it, would
    still hold a second later. The steps, in their order, only measure progress and label the frames.

    Args:
        scene: The scene in its first state.
        goal: Terms of the task.
        steps: Steps towards it, by robot and arm in order.
        hold: How long the goal must hold [s].
    """

    def __init__(self, scene: Scene, goal: Sequence[Check], steps: Sequence[Step] = (), *, hold: float = REST) -> None:
        self.goal = tuple(goal)
        self._scene = scene
        self._needed = max(1, frames_of(hold, scene.instance.fps))
        self._held = 0
        self._undone = ""
        self._frame, self._looked = -1, False
        self._now: tuple[bool, ...] = ()
        self._times: Counter[int] = Counter()
        self._containers = FilledContainers(scene, self.goal)
        lanes = dict.fromkeys((step.robot, step.arm) for step in steps)
        self._lanes = {
            lane: [step for step in steps if (step.robot, step.arm) == lane and step.terms] for lane in lanes
        }
        self._begun = dict.fromkeys(self._lanes, 0)
        self._ordered = tuple(step for step in steps if step.terms)
        self.timeline: list[SkillSpan] = []
        """What was done when."""

    @property
    def progress(self) -> float:
        """Progress, 0 to 1: the fraction of the steps that were done, or of the goal that holds if that is less."""
        holding = float(np.mean([held for _, held in self.terms])) if self.goal else 0.0
        return min(len(self.timeline) / self.steps, holding) if self.steps else holding

    @property
    def steps(self) -> int:
        """Number of steps that change something."""
        return len(self._ordered)

    @property
    def steps_done(self) -> tuple[tuple[Step, bool], ...]:
        """Every step that changes something, in the order of the task, and whether it was done."""
        left = {id(step) for lane in self._lanes.values() for step in lane}
        return tuple((step, id(step) not in left) for step in self._ordered)

    @property
    def coming(self) -> tuple[Step, ...]:
        """The next step of every arm that has one left."""
        return tuple(steps[0] for steps in self._lanes.values() if steps)

    @property
    def terms(self) -> tuple[tuple[Check, bool], ...]:
        """Every term of the goal, and whether it held at the judge's last check."""
        if not self._now:
            self._now = tuple(self._fulfilled(i) for i in range(len(self.goal)))
        return tuple(zip(self.goal, self._now, strict=True))

    @property
    def achieved(self) -> bool:
        """Whether the goal has held for long enough and holds now."""
        return bool(self.goal) and self._held >= self._needed

    @property
    def controls(self) -> int:
        """Number of actuators of the scene."""
        return self._scene.world.model.nu

    @property
    def fps(self) -> int:
        """Frames per second of the scene."""
        return self._scene.instance.fps

    def words(self, term: Check) -> str:
        """Return a term of the goal or of a step in words, with units."""
        return in_words(term, self._scene)

    def look(self, frame: int, *, fully: bool = True) -> None:
        """Judge the state after a number of frames; a second call for the same frame changes nothing.

        Args:
            frame: Number of frames carried out.
            fully: Whether to check the whole goal, instead of only the next steps and terms that must have held at some
                time.
        """
        if frame != self._frame:
            self._frame, self._now, self._looked = frame, (), False
            self._containers.look()
            self._times.update(i for i, term in enumerate(self.goal) if term.seconds and self._counts(i))
            for lane, steps in self._lanes.items():
                if steps and frame > self._begun[lane] and all(holds(self._scene, term) for term in steps[0].terms):
                    self._done(steps.pop(0), lane, frame)
        if fully and not self._looked:
            self._looked = True
            holding = all(held for term, held in self.terms if term.name != LASTING)
            self._held = self._held + 1 if self.goal and holding else 0
            self._undone = self._undone if holding else ""
            if self._held == self._needed:
                self._look_ahead()
                self._held = 0 if self._undone else self._held

    def failure(self, frame: int) -> Failure | None:
        """Return what is missing after a number of frames; None if all is achieved."""
        if self.achieved:
            return None
        if not self.goal:
            detail = "the task has no goal to judge by: write goal: terms, or skills that change something"
            return Failure(stage=FunnelStage.SUCCESS, reason="not_judged", detail=detail)
        broken = [term for term, held in self.terms if not held]
        words = "; ".join(self._said(term) for term in broken) or f"all of it for {self._needed} frames"
        detail = f"after {frame} frames this did not hold: {words}"
        reason = f"not_{broken[0].name}" if broken else "not_lasting"
        for step in (steps[0] for steps in self._lanes.values() if steps):
            term = next((term for term in step.terms if not holds(self._scene, term)), None)
            if term is not None:
                return Failure(
                    stage=FunnelStage.EXECUTE, reason=f"{step.skill}_not_{term.name}", detail=detail, skill=step.skill
                )
        return Failure(stage=FunnelStage.SUCCESS, reason=reason, detail=detail)

    def missing(self) -> Failure | None:
        """Return the terms of the goal that do not hold now, however long they did; None if all do."""
        self._undone = ""
        broken = [term for i, term in enumerate(self.goal) if not self._fulfilled(i)]
        if not broken:
            self._look_ahead()
            broken = [term for term in self.goal if term.name == LASTING and self._undone]
        if not broken:
            return None
        words = "; ".join(self._said(term) for term in broken)
        detail = f"at the end these goal terms did not hold: {words}"
        return Failure(stage=FunnelStage.SUCCESS, reason=f"not_{broken[0].name}", detail=detail)

    def _look_ahead(self) -> None:
        """Check whether success lasts; this takes a second of physics, so it is done last and rarely."""
        standing = [term for term in self.goal if term.name != LASTING and not term.seconds]
        standing = [self._containers.known(term) for term in standing]
        found = (undone_after(self._scene, term, standing) for term in self.goal if term.name == LASTING)
        self._undone, self._now = next((undone for undone in found if undone), ""), ()

    def _said(self, term: Check) -> str:
        if term.name == LASTING:
            return f"{in_words(term)}: {self._undone}"
        return unmet(self._scene, self._containers.known(term))

    def _fulfilled(self, index: int) -> bool:
        term = self.goal[index]
        if term.name == LASTING:
            return not self._undone
        if term.seconds:
            return self._times[index] >= frames_of(term.seconds, self._scene.instance.fps)
        return holds(self._scene, self._containers.known(term))

    def _counts(self, index: int) -> bool:
        """Return whether a term that must have held at some time holds now; terms of one name come in their order."""
        term = self.goal[index]
        before = [i for i, other in enumerate(self.goal[:index]) if other.name == term.name and other.seconds]
        return all(self._fulfilled(i) for i in before) and holds(self._scene, term)

    def _done(self, step: Step, lane: tuple[str, str], frame: int) -> None:
        self.timeline.append(
            SkillSpan(
                robot=step.robot,
                arm=step.arm,
                skill=step.skill,
                objects=step.objects,
                start=self._begun[lane],
                end=frame,
                success=True,
                instruction=step.instruction,
                checks=step.terms,
            )
        )
        self._begun[lane] = frame


class Bystanders:
    """The loose objects of a scene, at their start poses.

    Args:
        scene: The scene in its first state.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        loose = [obj for obj in scene.instance.objects if not obj.fixed and obj.solid]
        on_belts = any(obj.category in BELTS for obj in scene.instance.objects)
        self._before = {} if on_belts else {obj.name: scene.object_pose(obj.name).copy() for obj in loose}

    def disturbed(self, goal: Sequence[Check], timeline: Sequence[SkillSpan]) -> tuple[str, ...]:
        """Return the objects that moved by more than 5 cm or fell over, and were not meant to.

        Objects carried along in or on something that was meant to move count as intended.

        Args:
            goal: The goal of the task; objects in its terms are meant to move.
            timeline: The skills done; so are their objects.
        """
        named = {name for term in goal for name in _names(term.arguments)}
        named |= {name for span in timeline for name in span.objects}
        meant = [name for name in self._before if name in named]
        return tuple(
            name
            for name in self._before
            if name not in named and self._moved(name) and not any(self._went_along(name, other) for other in meant)
        )

    def _moved(self, name: str) -> bool:
        return _differs(self._before[name], self._scene.object_pose(name))

    def _went_along(self, name: str, other: str) -> bool:
        """Return whether an object is in its old place relative to another."""
        before = invert_pose(self._before[other]) @ self._before[name]
        now = invert_pose(self._scene.object_pose(other)) @ self._scene.object_pose(name)
        return not _differs(before, now)


def _differs(before: Array, now: Array) -> bool:
    """Return whether two poses (4, 4) are more than 5 cm apart, or tilted by more than 45 degrees to each other."""
    moved = float(np.linalg.norm(now[:3, 3] - before[:3, 3]))
    return moved > DISTURBED or float(now[2, :3] @ before[2, :3]) < FALLEN


def _names(arguments: Mapping[str, Any]) -> Iterator[str]:
    """Yield the strings among the arguments of a term; those that are not objects are harmless."""
    for value in arguments.values():
        yield from (word for word in (value if isinstance(value, list | tuple) else [value]) if isinstance(word, str))
