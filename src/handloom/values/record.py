"""The record of one episode, with everything to replay it bit for bit and to render it again."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.values.instance import TaskInstance


@dataclass(frozen=True)
class Command:
    """A target for an arm and the action on the way to it; unpacks as ``p, q, function, params``."""

    p_base_tool: Array
    """Position of the end effector in the arm base (3,) [m]."""
    q_base_tool: Array
    """Orientation of the end effector in the arm base, wxyz (4,)."""
    function: str
    """Name of a command function, e.g. ``close_gripper``."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of the command function."""

    def __iter__(self) -> Iterator[Any]:
        return iter((self.p_base_tool, self.q_base_tool, self.function, dict(self.params)))


class FunnelStage(StrEnum):
    """Stages of the funnel, in order. A failure happened in the stage it names."""

    SAMPLE = "sample"
    GRASP = "grasp"
    REACH = "reach"
    PLAN = "plan"
    EXECUTE = "execute"
    SUCCESS = "success"


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A typed reason: counted in the funnel and shown to the user."""

    stage: FunnelStage
    """Stage of the funnel in which it happened."""
    reason: str
    """Short fixed code such as ``goal_unreachable``; counted in reports."""
    detail: str = ""
    """One sentence with names and figures."""
    skill: str = ""
    """Skill that failed, empty when none was active."""
    counts: dict[str, int] = field(default_factory=dict)
    """Number of candidates rejected by each test."""

    def __str__(self) -> str:
        where = f" in {self.skill}" if self.skill else ""
        return f"{self.stage}: {self.reason}{where}" + (f": {self.detail}" if self.detail else "")


@dataclass(frozen=True, kw_only=True)
class Check:
    """A success term as data, so that a replay can judge again: a name in the check table and its arguments."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    share: float = 0.0
    """Fraction of the skill's frames in which it must hold, such as contact while wiping; 0 judges only the end."""
    seconds: float = 0.0
    """Time for which it must have held during the episode [s], such as a scan; 0 judges only the end."""


MARK = "mark"
"""Replaces the skill's name for a span that a person marked while recording; the span belongs to no robot or arm."""


@dataclass(frozen=True, kw_only=True)
class SkillSpan:
    """A skill's part of the timeline."""

    robot: str
    arm: str
    skill: str
    objects: tuple[str, ...]
    start: int
    """First frame."""
    end: int
    """One past the last frame."""
    success: bool
    instruction: str = ""
    """The skill in words."""
    checks: tuple[Check, ...] = ()
    """Success terms that held in the state after the last frame."""
    kind: Literal["", "mistake", "recovery", "correction"] = ""
    """``mistake`` for a skill that failed on purpose, ``recovery`` for the same arm's next skill, ``correction`` for a
    person acting in place of a policy."""


@dataclass(frozen=True, kw_only=True)
class EpisodeRecord:
    """States and commands of one episode with T frames."""

    instance: TaskInstance
    states: Array
    """Integration states (T + 1, n): before each frame and after the last."""
    asked: Array
    """Actuator targets commanded by the source (T, controls) [m or rad]; NaN where there is no command."""
    applied: Array
    """User inputs to the physics (T, m), MuJoCo's ``mjSTATE_USER``: controls first."""
    model_hash: str = ""
    """SHA-256 of the compiled model; a replay with another one cannot be exact."""
    timeline: tuple[SkillSpan, ...] = ()
    goal: tuple[Check, ...] = ()
    """The goal terms by which the episode was judged."""
    left_out: tuple[tuple[int, int], ...] = ()
    """Spans of frames, first and one past the last, that are not part of the demonstration: simulated and replayed, but
    left out of the dataset."""
    failure: Failure | None = None
    """Reason of the failure; None means success."""
    disturbed: tuple[str, ...] = ()
    """Objects that moved by more than 5 cm or fell over although the task does not involve them; derived from the
    states, so not archived."""
    stage_seconds: dict[str, float] = field(default_factory=dict)
    """Wall time per stage [s]; not part of the archive."""

    @property
    def frames(self) -> int:
        """Number of frames T."""
        return len(self.applied)

    @property
    def kept(self) -> NDArray[np.intp]:
        """Frames (k,) that belong to the demonstration."""
        keep = np.ones(self.frames, bool)
        for start, stop in self.left_out:
            keep[start:stop] = False
        return np.flatnonzero(keep)

    @property
    def success(self) -> bool:
        """Whether every skill succeeded within the budget."""
        return self.failure is None
