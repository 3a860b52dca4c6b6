"""The two main functions: make demonstrations, or run one episode."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from handloom.dataset import DatasetReader
from handloom.engine.attempt import Stopwatch, simulate
from handloom.engine.executors.executor import InlineExecutor, ProcessExecutor
from handloom.engine.generate import Goal, generate_run
from handloom.engine.report import report_of
from handloom.engine.runs.run_directory import RunDirectory
from handloom.engine.runs.run_settings import RunSettings
from handloom.engine.sources import EXPERT
from handloom.episode.disturbance import Disturbance
from handloom.episode.loop import Source
from handloom.episode.loop import run_episode as run_source
from handloom.errors import StateError
from handloom.render.backends import drawing_for
from handloom.scene import Scene
from handloom.tasks import Task, load_task
from handloom.values import EpisodeRecord


def generate(
    task: str | Path | Task,
    out: str | Path,
    *,
    n: int = 10,
    seed: int = 0,
    workers: int | None = None,
    overrides: Sequence[str] = (),
    **options: Any,
) -> DatasetReader:
    """Make demonstrations of a task, as ``handloom generate TASK -n N -o OUT`` does, and return the dataset.

    Called again with the same arguments, it continues where it stopped, or returns the finished dataset.

    Args:
        task: A task of the library, a YAML file, or a loaded task.
        out: Folder of the run.
        n: Demonstrations wanted.
        seed: Seed of the run.
        workers: Worker processes; None starts one per core, 0 runs in this process.
        overrides: Keys of the task to set, such as ``"data.max_episode_length=500"``.
        options: Further settings of the run: ``render``, ``preset``, ``backend``, ``codec``, ``columns``,
            ``keep_failures``.

    Raises:
        HandloomError: The task or an option is wrong.
        StateError: Too few attempts succeeded; the message says why the others failed.
    """
    settings = RunSettings.of_task(_loaded(task, overrides), seed=seed, **options)
    count = (os.cpu_count() or 1) if workers is None else workers
    executor = InlineExecutor() if count == 0 else ProcessExecutor(count)
    with drawing_for(settings.backend, workers=count if settings.render == "now" else 0):
        outcome = generate_run(RunDirectory.begin(Path(out), settings), Goal(successes=n), executor)
    report = report_of(outcome.receipts.values())
    if report.episodes < n:
        reasons = ", ".join(f"{times} x {reason}" for reason, times in [*report.failure_reasons.items()][:3])
        raise StateError(f"{report.episodes} of {n} demonstrations after {report.attempts} attempts: {reasons}")
    return DatasetReader(outcome.run.dataset)


def run_episode(
    task: str | Path | Task | Scene,
    source: Source | str = EXPERT,
    disturbance: Disturbance | None = None,
    *,
    seed: int = 0,
    episode: int = 0,
    overrides: Sequence[str] = (),
) -> EpisodeRecord:
    """Run one episode of a task: exactly the one that ``handloom generate`` makes.

    Args:
        task: A task of the library, a YAML file, or a loaded task; or a built scene, with a source made for it.
        source: Source of the commands: ``expert``, or ``my_module:MySource``.
        disturbance: Noise on the executed commands, for a built scene; a task defines its own.
        seed: Seed of the run.
        episode: Attempt index within the run.
        overrides: Keys of the task to set.

    Raises:
        SamplingError: No scene satisfies the task's regions, so there is no episode to return. ``generate`` counts this
            as a failed attempt; its ``failure`` has the reason and the details recorded there.
    """
    if isinstance(task, Scene):
        if isinstance(source, str):
            raise StateError("a built scene needs a source made for it, such as Schedule(scene, stages, rng)")
        return run_source(task, source, disturbance)
    if not isinstance(source, str):
        raise StateError(
            "a source object needs a built scene; for a task, give the source's name, such as my_module:MySource"
        )
    return simulate(_loaded(task, overrides), seed, episode, Stopwatch(), source=source)[1]


def _loaded(task: str | Path | Task, overrides: Sequence[str]) -> Task:
    return task if isinstance(task, Task) else load_task(task, overrides=overrides)
