"""Who commands the robot in an attempt: the scripted expert, a person, a policy, demonstrations, your own class."""

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

    When the source has ended, all targets are held, outside the demonstration, until the task's terms hold, for as
    long as a demonstration rests: an object may still be settling.

    Args:
        source: Who carries the task out. Terms in its own timeline must hold, too.
        judge: Knows what the task wants.
    """

    def __init__(self, source: Source, judge: Judge) -> None:
        self._source = source
        self._judge = judge
        self._missing: Failure | None = None
        self._ended: int | None = None
        self._rest = frames_of(REST, judge.fps)

    @property
    def failure(self) -> Failure | None:
        """Why the task was not done: what the source says, or else which terms of the task do not hold."""
        return self._source.failure or self._missing

    @property
    def timeline(self) -> list[SkillSpan]:
        """What the source says, and then what was achieved of the task."""
        return [*self._source.timeline, *self._judge.timeline]

    @property
    def recording(self) -> bool:
        """Whether the frame asked for last belongs to the demonstration."""
        return self._ended is None and self._source.recording

    def next(self, frame: int) -> Array | None:
        """Return the targets (controls,) of a frame; None when the source has ended and the task was judged."""
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
"""How often the expert begins again, per arm and block, in an episode in which objects are pushed or dropped."""


class SourceFactory(Protocol):
    """Makes the source of one attempt; a class whose constructor takes this will do."""

    def __call__(self, scene: Scene, stages: Stages, rng: np.random.Generator) -> Source:
        """Return a source.

        Args:
            scene: The scene in its first state.
            stages: The skills of the task, as its file nests them; the expert carries them out, others may ignore them.
            rng: The only source of randomness: with any other an attempt would not come out the same again.
        """
        ...


def source_factory(name: str) -> SourceFactory:
    """Return what makes the sources of a run, by name or, for a user's own, by ``my_module:MySource``.

    Raises:
        NotFoundError: There is no source of that name.
        NotAllowedError: It is a user's own, and that was not allowed.
        InputError: A user's own cannot be imported.
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
    """Return what commands an attempt, the judge of its task, and what disturbs it.

    Args:
        task: The task.
        scene: The scene of the attempt in its first state.
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
    # Whether a policy fits the task is known when it is given a scene, and the same for all of them.
    with _loading(source) if source.startswith((policies.PREFIX, policies.TAKEOVER)) else nullcontext():
        commands = make(scene, stages, rng)
    # The expert's own terms say where a task of mere motions leads; others are asked to go where it would.
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
    """Who carries the task out cannot be loaded: a fault of the run, not of one attempt."""
