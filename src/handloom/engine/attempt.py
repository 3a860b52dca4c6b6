"""One attempt, from sampling to an episode folder on disk, and the work units that group attempts."""

import itertools
import re
import sysconfig
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from handloom.dataset import EpisodeWriter, FeatureTable, archive_of_record, folder_name, outcome_of_record
from handloom.engine.executors.executor import say_alive
from handloom.engine.executors.machine_faults import OF_THE_SETTINGS, machine_fault
from handloom.engine.runs.journal import Receipt
from handloom.engine.runs.run_directory import ALL, RunDirectory
from handloom.engine.runs.run_settings import RunSettings
from handloom.engine.sources import EXPERT, SourceNotLoadedError, make_source
from handloom.episode import run_episode
from handloom.episode.columns import drawing_facts, episode_columns, image_name, rendered_frames, video_features
from handloom.errors import FileError, HandloomError, MachineError
from handloom.labels import EpisodeLabeller
from handloom.labels.touches import failure_facts
from handloom.render import Renderer
from handloom.scene import Scene, build_scene
from handloom.skills.schedule import Stages
from handloom.tasks import SamplingError, Task, sample_task, worded_skills
from handloom.tasks.retelling.retold_scene import PLACEMENTS, retold_instance
from handloom.values import MARK, EpisodeRecord, Failure, FunnelStage, TaskInstance

LAYOUTS = 5
"""Layouts tried in an attempt until the expert has a plan."""
IN_ANY_LAYOUT = frozenset({"no_grasp", "constraints_leave_nothing", "no_cavity"})
"""Failure reasons that do not depend on an object's position."""


class Stopwatch:
    """Adds up wall time by stage, and CPU time since its creation."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._begin = time.process_time()

    @property
    def cpu_seconds(self) -> float:
        """CPU time of this process since the watch was created [s]."""
        return time.process_time() - self._begin

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the duration of a block to a stage."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begin


def run_attempt(settings: RunSettings, task: Task, episode: int, episodes: Path) -> Receipt:
    """Sample, simulate, judge, render and write one attempt; the result depends only on (task, seed, episode).

    Args:
        settings: The run.
        task: Its task, loaded once per worker.
        episode: Attempt index.
        episodes: Folder in which the episode's folder is written.
    """
    watch = Stopwatch()
    try:
        scene, record = simulate(task, settings.seed, episode, watch, source=settings.source)
    except SamplingError as error:
        return _failed(episode, error.failure, watch, fps=task.config.data.fps)
    if record.frames and (record.success or settings.keep_failures):
        with files_of_the_run():
            write_episode(settings, scene, record, episodes / folder_name(episode), watch)
    return receipt_of(record, watch)


def simulate(
    task: Task, seed: int, episode: int, watch: Stopwatch, *, source: str = EXPERT, layouts: int = LAYOUTS
) -> tuple[Scene, EpisodeRecord]:
    """Sample a scene and let a source, by default the scripted expert, perform the task in it.

    A retold scene is placed where the robot can probably reach everything; if the expert finds that it cannot, the next
    placement is tried. Likewise, the objects of any other task are moved elsewhere in their regions if the expert has
    no plan: the author of a region does not know how far a hand can turn there or which obstacles it meets.

    Args:
        task: The task.
        seed: Seed of the run.
        episode: Attempt index.
        watch: Adds up the time of its stages.
        source: Who commands.
        layouts: Number of layouts of the objects in which the expert may look for a plan.

    Raises:
        SamplingError: No scene satisfies the task's regions.
    """
    with watch.stage("sample"), files_of_the_run():
        instance = sample_task(task, seed, episode)
    result = _act(task, instance, watch, source)
    told = task.config.retold is not None and source == EXPERT
    for placement in range(1, PLACEMENTS) if told else ():
        if result[1].success:
            break
        with watch.stage("sample"), files_of_the_run():
            instance = retold_instance(task, seed, episode, placement=placement)
        if instance.retold is None or instance.retold.placement < placement:
            break
        again = _act(task, instance, watch, source)
        result = again if again[1].success else result
    if source == EXPERT and task.config.retold is None and without_a_plan(result[1]):
        return _redrawn(task, instance, watch, layouts) or result
    return result


def _redrawn(task: Task, first: TaskInstance, watch: Stopwatch, layouts: int) -> tuple[Scene, EpisodeRecord] | None:
    """Try further layouts of an attempt; return the first episode in which the expert has a plan, or None."""
    seed, episode = first.seed, first.episode
    for layout in range(1, layouts):
        try:
            with watch.stage("sample"), files_of_the_run():
                instance = sample_task(task, seed, episode, layout=layout)
        except SamplingError:
            continue
        if (instance.objects, instance.robots) == (first.objects, first.robots):
            return None  # The regions allow only one layout.
        result = _act(task, instance, watch, EXPERT)
        if not without_a_plan(result[1]):
            return result
    return None


def _act(task: Task, instance: TaskInstance, watch: Stopwatch, source: str) -> tuple[Scene, EpisodeRecord]:
    """Let a source perform a task in a scene."""
    with watch.stage("sample"), files_of_the_run():
        stages = worded_skills(task, instance)
    scene, record = _carried_out(task, parked(instance) if source == EXPERT else instance, stages, source, watch)
    if source == EXPERT and out_of_reach(record) and parked(instance) != instance:
        scene, record = _carried_out(task, instance, stages, source, watch)
    if source != EXPERT and record.success and not record.goal:
        detail = f"the task {task.name} has no goal by which to judge the source {source}"
        record = replace(record, failure=Failure(stage=FunnelStage.SUCCESS, reason="not_judged", detail=detail))
    return scene, record


def _carried_out(
    task: Task, instance: TaskInstance, stages: Stages, source: str, watch: Stopwatch
) -> tuple[Scene, EpisodeRecord]:
    """Let a source perform a task in a sampled scene."""
    with watch.stage("build"), files_of_the_run():
        scene = build_scene(instance)
    with watch.stage("build"):
        commands, judge, disturbance = make_source(task, scene, stages, source)
    record = run_episode(scene, commands, disturbance, goal=judge.goal)
    for stage, seconds in record.stage_seconds.items():
        watch.seconds[stage] = watch.seconds.get(stage, 0.0) + seconds
    return scene, record


def parked(instance: TaskInstance) -> TaskInstance:
    """Return a scene whose robots stay in place: those that may drive closer do so only in a second try.

    The model, and every bit of an episode that needs no driving, is that of a robot with a fixed base.
    """
    robots = tuple(
        replace(robot, overrides={**robot.overrides, "base": "parked"})
        if robot.overrides.get("base") == "reaching"
        else robot
        for robot in instance.robots
    )
    return replace(instance, robots=robots)


def without_a_plan(record: EpisodeRecord) -> bool:
    """Return whether an episode ended because the expert found no grasp, no hand pose or no path in its layout."""
    failure, stages = record.failure, (FunnelStage.GRASP, FunnelStage.REACH, FunnelStage.PLAN)
    return failure is not None and failure.stage in stages and failure.reason not in IN_ANY_LAYOUT


def out_of_reach(record: EpisodeRecord) -> bool:
    """Return whether an episode ended because a skill had no plan from its robot's position."""
    return record.failure is not None and record.failure.stage in (FunnelStage.REACH, FunnelStage.PLAN)


@contextmanager
def files_of_the_run() -> Iterator[None]:
    """Treat unusable files of the task or the run as a machine fault.

    They affect the run, not only the first attempt that needs them, which may succeed once they are back.
    """
    try:
        yield
    except FileError as error:
        raise MachineError(error.strerror or str(error), kind="files") from error


def receipt_of(record: EpisodeRecord, watch: Stopwatch) -> Receipt:
    """Return the outcome and timings of an executed attempt."""
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
        disturbed=record.disturbed,
    )


def write_episode(settings: RunSettings, scene: Scene, record: EpisodeRecord, folder: Path, watch: Stopwatch) -> None:
    """Render an episode and write its folder, which appears under its name only once it is complete."""
    instance = record.instance
    render = settings.render == "now" and bool(instance.cameras)
    scene.world.restore_state(
        record.states[0]
    )  # Columns follow from the record, not from the state in which the scene was left.
    columns = episode_columns(scene, record, settings.columns)
    kinds = ("rgb", *(kind for kind in ("depth", "segmentation") if kind in settings.lerobot_features))
    videos = video_features(instance.cameras, settings.codec, kinds) if render else ()
    streams = [(image_name(c.name, kind), c.name, kind) for c in instance.cameras for kind in kinds if render]
    table = FeatureTable(fps=instance.fps, features=(*columns.features, *videos))
    with EpisodeWriter(folder, table) as writer:
        with watch.stage("label"):
            labeller = EpisodeLabeller(scene, record, settings.labels, writer.work) if settings.labels else None
        wanted = (*(kinds if render else ()), *(labeller.images if labeller is not None and instance.cameras else ()))
        renderer, frames = None, iter(())
        if wanted:
            model, looks = scene.world.model, scene.looks
            renderer = Renderer(model, settings.preset, looks=looks, backend=settings.backend)
            frames = rendered_frames(scene, record, preset=settings.preset, kinds=wanted, renderer=renderer)
        for number in itertools.count():
            with watch.stage("render"):
                images = next(frames, None)
            if images is None:
                break
            if labeller is not None:
                with watch.stage("label"):
                    labeller.add(number, images)
            with watch.stage("encode"):
                for feature, camera, kind in streams:
                    writer.add_image(feature, images[camera][kind])
        if labeller is not None:
            with watch.stage("label"):
                labeller.finish()
        with watch.stage("write"):
            archive = archive_of_record(record)
            card = renderer.card if renderer is not None else ""
            drawn = drawing_facts(scene, videos, settings.preset, backend=settings.backend, card=card)
            how = {**drawn, **failure_facts(scene, record)}
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
        disturbed=record.disturbed if record else (),
    )


STANDARD_LIBRARY = sysconfig.get_path("stdlib")


@dataclass(frozen=True, kw_only=True)
class Unit:
    """Attempts ``first`` to ``first + count - 1`` of a run."""

    run: str
    """Folder of the run."""
    settings: RunSettings
    """The run; passed on because the manifest in the folder might change before a worker reads it."""
    shard: tuple[int, int] = ALL
    """Shard of the run; it can be stopped separately."""
    index: int
    """Index of the unit."""
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
        say_alive()
        done[episode] = attempt_receipt(unit.settings, task, episode, run.episodes)
        journal.append(done[episode])
    return tuple(done[episode] for episode in unit.attempts if episode in done)


def attempt_receipt(settings: RunSettings, task: Task, episode: int, episodes: Path) -> Receipt:
    """Run one attempt; an error in any code fails only this attempt and is recorded with its location.

    Raises:
        MachineError: Memory, disk, device or a file of the run failed; the outcome of the attempt is unknown.
        HandloomError: No attempt of the run can be made: a package, a permission or the source is missing.
    """
    return guarded_receipt(episode, lambda: run_attempt(settings, task, episode, episodes))


def guarded_receipt(episode: int, attempt: Callable[[], Receipt]) -> Receipt:
    """Make an attempt; an error in it becomes the failure reason in its receipt.

    Args:
        episode: Attempt index.
        attempt: Function that makes the attempt.

    Raises:
        MachineError: Memory, disk, device or a file of the run failed; the outcome of the attempt is unknown.
        HandloomError: No attempt of the run can be made: a package, a permission or the source is missing.
    """
    try:
        return attempt()
    except (MachineError, SourceNotLoadedError, *OF_THE_SETTINGS):
        raise
    except (Exception, SystemExit) as error:
        kind = machine_fault(error)
        if kind:
            name = "" if isinstance(error, HandloomError) else f"{type(error).__name__}: "
            raise MachineError(
                f"attempt {episode} cannot continue: {name}{_said(error) or 'no memory is left'}", kind=kind
            ) from error
        return error_receipt(episode, error)


def error_receipt(episode: int, error: BaseException) -> Receipt:
    """Return the receipt of an attempt that ended in an error."""
    detail = f"{type(error).__name__}: {_said(error)} ({_place(error)})"
    return Receipt(episode=episode, success=False, stage="execute", reason=reason_of(error), detail=detail)


def _said(error: BaseException) -> str:
    """Return the message of an error; of a disk error, only the readable part."""
    return (getattr(error, "strerror", None) or str(error)) if isinstance(error, HandloomError) else str(error)


def reason_of(error: BaseException) -> str:
    """Return the typed reason of an error: ``state_error`` for a StateError, ``internal_error`` if not Handloom's."""
    if not isinstance(error, HandloomError):
        return "internal_error"
    ours = next(kind for kind in type(error).__mro__ if kind.__module__ == HandloomError.__module__)
    return re.sub(r"(?<!^)(?=[A-Z])", "_", ours.__name__).lower()


def _place(error: BaseException) -> str:
    """Return the file and line of an error: the calling line, if the error was raised inside the standard library."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if not f.filename.startswith(STANDARD_LIBRARY) or "site-packages" in f.filename]
    place = (ours or frames)[-1]
    return f"{Path(place.filename).name}:{place.lineno}"
