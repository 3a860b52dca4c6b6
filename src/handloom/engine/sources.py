"""Sources that command the robot in an attempt: the expert, a person, a policy, demonstrations, or a user's class."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Protocol

import numpy as np

from handloom.arrays import Array
from handloom.config import import_named
from handloom.engine import augmentation
from handloom.engine.executors.machine_faults import OF_THE_SETTINGS, machine_fault
from handloom.engine.policy import policies
from handloom.episode.disturbance import Disturbance
from handloom.episode.loop import Source
from handloom.errors import HandloomError, InputError, NotFoundError, suggest
from handloom.judging import Judge
from handloom.judging.lasting import REST, frames_of
from handloom.scene import Scene
from handloom.seeding import generator
from handloom.skills import Schedule
from handloom.skills.deeds import make_judge
from handloom.skills.schedule import Stages
from handloom.tasks import Task
from handloom.values import Failure, SkillSpan


class JudgedSource:
    """A source of commands that is judged by the success terms of the task, not by its own report.

    When the source has ended, all targets are held, outside the demonstration, until the task's terms hold, for at
    most the rest period of a demonstration: an object may still be settling.

    Args:
        source: Source of the commands. Terms in its own timeline must also hold.
        judge: Judge of the task's goal.
    """

    def __init__(self, source: Source, judge: Judge) -> None:
        self._source = source
        self._judge = judge
        self._missing: Failure | None = None
        self._ended: int | None = None
        self._rest = frames_of(REST, judge.fps)

    @property
    def failure(self) -> Failure | None:
        """Reason of the failure: the source's own, or else the terms of the task that do not hold."""
        return self._source.failure or self._missing

    @property
    def timeline(self) -> list[SkillSpan]:
        """The source's own timeline, then the achieved steps of the task."""
        return [*self._source.timeline, *self._judge.timeline]

    @property
    def recording(self) -> bool:
        """Whether the last requested frame belongs to the demonstration."""
        return self._ended is None and self._source.recording

    def next(self, frame: int) -> Array | None:
        """Return the targets (controls,) of a frame; None once the source has ended and the task has been judged."""
        self._judge.look(frame, fully=self._ended is not None)
        if self._ended is None:
            targets = self._source.next(frame)
            if targets is not None or self._source.failure is not None:
                return targets
            self._ended = frame
            self._judge.look(frame)
        self._missing = self._judge.failure(frame)
        if self._missing is None or frame - self._ended >= self._rest:
            return None
        self._missing = None
        return np.full(self._judge.controls, np.nan)


EXPERT = "expert"
TELEOP = "teleop"
SOURCES = {EXPERT: "handloom.skills:Schedule", TELEOP: "handloom.teleop.session.operator_source:OperatorSource"}
"""Name of a source > ``module:Class``."""
RETRIES = 3
"""Number of retries of the expert, per arm and block, in an episode in which objects are pushed or dropped."""


class SourceFactory(Protocol):
    """Makes the source of one attempt; a class with this constructor signature works."""

    def __call__(self, scene: Scene, stages: Stages, rng: np.random.Generator) -> Source:
        """Return a source.

        Args:
            scene: The scene in its initial state.
            stages: The skills of the task, nested as in its file; the expert executes them, others may ignore them.
            rng: The only source of randomness: with any other, an attempt could not be repeated exactly.
        """
        ...


def source_factory(name: str) -> SourceFactory:
    """Return the factory of the sources of a run, by name or, for a user's own class, by ``my_module:MySource``.

    Raises:
        NotFoundError: There is no source of that name.
        NotAllowedError: It is a user's own class, which was not allowed.
        InputError: A user's own class cannot be imported.
    """
    if name.startswith(policies.PREFIX):
        return policies.policy_factory(name)
    if name.startswith(policies.TAKEOVER):
        return policies.takeover_factory(name)
    if name.startswith(augmentation.PREFIX):
        return augmentation.augmenting_factory(name)
    if ":" not in name and name not in SOURCES:
        raise NotFoundError(f"no source named {name!r}; {suggest(name, SOURCES)}; write your own as my_module:MySource")
    return import_named("source", name, SOURCES, own="my_module:MySource")


def make_source(task: Task, scene: Scene, stages: Stages, source: str) -> tuple[Source, Judge, Disturbance | None]:
    """Return the source of an attempt, the judge of its task, and the disturbance.

    Args:
        task: The task.
        scene: The scene of the attempt in its initial state.
        stages: The skills of the task with the words of the attempt.
        source: Name of the source.

    Raises:
        SourceNotLoadedError: The source cannot be loaded, or a policy does not fit the task.
    """
    upset = task.config.disturbance.pushes or task.config.disturbance.drops
    with _loading(source):
        make = partial(Schedule, retries=RETRIES) if upset and source == EXPERT else source_factory(source)
    seed, episode = scene.instance.seed, scene.instance.episode
    rng = generator(seed, episode, "skills", task=task.name)
    # Whether a policy fits the task is known once it gets a scene, and is the same for all scenes.
    with _loading(source) if source.startswith((policies.PREFIX, policies.TAKEOVER)) else nullcontext():
        commands = make(scene, stages, rng)
    # For a task that only consists of motions, the expert's terms define the target for other sources as well.
    draws = None if source == EXPERT else generator(seed, episode, "skills", task=task.name)
    judge = make_judge(scene, stages, draws, hold=0.0)
    if source != EXPERT and not source.startswith(policies.PREFIX):
        commands = JudgedSource(commands, judge)
    config = task.config.disturbance
    if source != EXPERT or not config.any:
        return commands, judge, None
    return commands, judge, Disturbance(config, scene, generator(seed, episode, "disturbance", task=task.name))


@contextmanager
def _loading(source: str) -> Iterator[None]:
    """Convert errors in loading a source into an error of the run, since no attempt can be made."""
    try:
        yield
    except OF_THE_SETTINGS:
        raise
    except Exception as error:
        if machine_fault(error):
            raise
        ours = isinstance(error, HandloomError)
        said = str(error) if ours else f"the source {source} cannot be loaded: {type(error).__name__}: {error}"
        raise SourceNotLoadedError(said) from error


class SourceNotLoadedError(InputError):
    """The source cannot be loaded: a fault of the run, not of one attempt."""
