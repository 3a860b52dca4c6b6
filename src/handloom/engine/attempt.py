"""One attempt, from sampling to an episode folder on disk, and the work units that group attempts."""

import errno
import sysconfig
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from json import dumps
from pathlib import Path

import numpy as np

from handloom.dataset import EpisodeWriter, FeatureTable, archive_of_record, folder_name, outcome_of_record
from handloom.engine.journal import Receipt
from handloom.engine.policies import PREFIX as POLICY
from handloom.engine.run_directory import ALL, RunDirectory
from handloom.engine.run_settings import EXPERT, RunSettings, source_factory
from handloom.episode import run_episode
from handloom.episode.columns import episode_columns, image_name, rendered_frames, video_features
from handloom.episode.disturbance import Disturbance
from handloom.episode.judged_source import JudgedSource
from handloom.errors import FileError, HandloomError
from handloom.render.labels import instances
from handloom.scene import Scene, build_scene
from handloom.seeding import generator
from handloom.skills import Schedule
from handloom.skills.deeds import make_judge
from handloom.tasks import SamplingError, Task, sample_task, worded_skills
from handloom.values import MARK, EpisodeRecord, Failure, FunnelStage

RETRIES = 3
"""How often the expert begins anew, per arm and block, in an episode in which objects are pushed or dropped."""


class Stopwatch:
    """Adds up wall time by stage, and processor time since it was made."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._begin = time.process_time()

    @property
    def cpu_seconds(self) -> float:
        """Processor time of this process since the watch was made [s]."""
        return time.process_time() - self._begin

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the time of a block for a stage."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begin


def run_attempt(settings: RunSettings, task: Task, episode: int, episodes: Path) -> Receipt:
    """Sample, simulate, judge, render and write one attempt; the result depends on (task, seed, episode) only.

    Args:
        settings: The run.
        task: Its task, loaded once per worker.
        episode: Attempt index.
        episodes: Folder the episode's folder goes into.
    """
    watch = Stopwatch()
    try:
        scene, record = simulate(task, settings.seed, episode, watch, source=settings.source)
    except SamplingError as error:
        return _failed(episode, error.failure, watch, fps=task.config.data.fps)
    if record.frames and (record.success or settings.keep_failures):
        write_episode(settings, scene, record, episodes / folder_name(episode), watch)
    return receipt_of(record, watch)


def simulate(
    task: Task, seed: int, episode: int, watch: Stopwatch, *, source: str = EXPERT
) -> tuple[Scene, EpisodeRecord]:
    """Sample a scene and let a source, by default the scripted expert, carry the task out in it.

    Raises:
        SamplingError: There is no scene that meets the task's regions.
    """
    with watch.stage("sample"):
        instance = sample_task(task, seed, episode)
    with watch.stage("build"):
        scene = build_scene(instance)
        upset = task.config.disturbance.pushes or task.config.disturbance.drops
        make = partial(Schedule, retries=RETRIES) if upset and source == EXPERT else source_factory(source)
        stages = worded_skills(task, instance)
        commands = make(scene, stages, generator(seed, episode, "skills", task=task.name))
        # The expert's own terms say where a task of mere motions leads; others are asked to go where it would.
        rng = None if source == EXPERT else generator(seed, episode, "skills", task=task.name)
        judge = make_judge(scene, stages, rng, hold=0.0)
        if source != EXPERT and not source.startswith(POLICY):
            commands = JudgedSource(commands, judge)
        noise = generator(seed, episode, "disturbance", task=task.name)
        disturbance = _disturbance(task, scene, noise) if source == EXPERT else None
    record = run_episode(scene, commands, disturbance, goal=judge.goal)
    if source != EXPERT and record.success and not record.goal:
        detail = f"the task {task.name} has no goal to judge the source {source} by"
        record = replace(record, failure=Failure(stage=FunnelStage.SUCCESS, reason="not_judged", detail=detail))
    for stage, seconds in record.stage_seconds.items():
        watch.seconds[stage] = watch.seconds.get(stage, 0.0) + seconds
    return scene, record


def _disturbance(task: Task, scene: Scene, rng: np.random.Generator) -> Disturbance | None:
    config = task.config.disturbance
    return Disturbance(config, scene, rng) if config.any else None


def receipt_of(record: EpisodeRecord, watch: Stopwatch) -> Receipt:
    """Return the small facts of an attempt that was carried out."""
    instance = record.instance
    if record.failure is not None:
        return _failed(instance.episode, record.failure, watch, fps=instance.fps, record=record)
    return Receipt(
        episode=instance.episode,
        success=True,
        frames=len(record.kept),
        fps=instance.fps,
        seconds=watch.seconds,
        cpu_seconds=watch.cpu_seconds,
        skills=_skill_seconds(record),
    )


def write_episode(settings: RunSettings, scene: Scene, record: EpisodeRecord, folder: Path, watch: Stopwatch) -> None:
    """Render an episode and write its folder, which appears under its name only when it is whole."""
    instance = record.instance
    render = settings.render == "now" and bool(instance.cameras)
    columns = episode_columns(scene, record, settings.columns)
    kinds = ("rgb", *(kind for kind in ("depth", "segmentation") if kind in settings.lerobot_features))
    videos = video_features(instance.cameras, settings.codec, kinds) if render else ()
    table = FeatureTable(fps=instance.fps, features=(*columns.features, *videos))
    with EpisodeWriter(folder, table) as writer:
        frames = rendered_frames(scene, record, preset=settings.preset, kinds=kinds) if render else iter(())
        while True:
            with watch.stage("render"):
                images = next(frames, None)
            if images is None:
                break
            with watch.stage("encode"):
                for camera, drawn in images.items():
                    for kind, image in drawn.items():
                        writer.add_image(image_name(camera, kind), image)
        with watch.stage("write"):
            archive = archive_of_record(record)
            how = {"render_backend": "cpu", "render_preset": settings.preset} if render else {}
            if render and "segmentation" in kinds:
                how["segmentation"] = dumps(instances(scene.world.model).names)
            how["cameras"] = dumps([asdict(camera) for camera in instance.cameras])
            outcome = outcome_of_record(record, archive, columns=how)
            writer.finish(outcome, columns.values, archive)


def _skill_seconds(record: EpisodeRecord) -> dict[str, float]:
    seconds: dict[str, float] = {}
    for span in record.timeline:
        if span.skill == MARK:
            continue
        seconds[span.skill] = seconds.get(span.skill, 0.0) + (span.end - span.start) / record.instance.fps
    return seconds


def _failed(
    episode: int, failure: Failure, watch: Stopwatch, *, fps: int, record: EpisodeRecord | None = None
) -> Receipt:
    return Receipt(
        episode=episode,
        success=False,
        stage=failure.stage,
        reason=failure.reason,
        detail=f"{failure.skill}: {failure.detail}" if failure.skill else failure.detail,
        frames=record.frames if record else 0,
        fps=fps,
        seconds=watch.seconds,
        cpu_seconds=watch.cpu_seconds,
        skills=_skill_seconds(record) if record else {},
    )


OF_THE_MACHINE = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO, errno.ENOMEM, errno.EMFILE, errno.ENFILE}
)
"""Errors of the operating system that every further attempt would meet, too: disk, memory, open files."""

STANDARD_LIBRARY = sysconfig.get_path("stdlib")


@dataclass(frozen=True, kw_only=True)
class Unit:
    """Attempts ``first`` to ``first + count - 1`` of a run."""

    run: str
    """Folder of the run."""
    settings: RunSettings
    """The run; a worker that read it from the folder could have another one in mind."""
    shard: tuple[int, int] = ALL
    """Part of the run that is being made; it can be stopped by itself."""
    index: int
    """Number of the unit."""
    first: int
    count: int

    @property
    def attempts(self) -> range:
        """Attempt indices."""
        return range(self.first, self.first + self.count)


def run_unit(unit: Unit) -> tuple[Receipt, ...]:
    """Run the attempts of a unit that have no receipt yet; results are files, the return value is small."""
    run, task = RunDirectory(Path(unit.run), unit.settings), unit.settings.loaded_task()
    journal = run.journal(unit.index)
    done = journal.read()
    for episode in unit.attempts:
        if episode in done:
            continue
        if run.stop_file(unit.shard).exists():
            break
        done[episode] = attempt_receipt(unit.settings, task, episode, run.episodes)
        journal.append(done[episode])
    return tuple(done[episode] for episode in unit.attempts if episode in done)


def attempt_receipt(settings: RunSettings, task: Task, episode: int, episodes: Path) -> Receipt:
    """Run one attempt; a fault in the code, ours or the user's, fails this attempt with its place, not the run.

    Errors of the disk, the memory or the input concern every attempt and stop the run: they pass through.
    """
    try:
        return run_attempt(settings, task, episode, episodes)
    except (HandloomError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno in OF_THE_MACHINE:
            raise FileError(error.errno, f"attempt {episode} cannot go on: {error}") from error
        detail = f"{type(error).__name__}: {error} ({_place(error)})"
        return Receipt(episode=episode, success=False, stage="execute", reason="internal_error", detail=detail)


def _place(error: Exception) -> str:
    """Return the file and line of an error: where the standard library was called, if the error is from inside it."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if not f.filename.startswith(STANDARD_LIBRARY) or "site-packages" in f.filename]
    place = (ours or frames)[-1]
    return f"{Path(place.filename).name}:{place.lineno}"
