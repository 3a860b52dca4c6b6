"""Draws recorded episodes again: other cameras, sizes, lights or presets over the same states."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from handloom.dataset import merge_episodes, read_archive, record_of_archive
from handloom.engine.attempt import Stopwatch, write_episode
from handloom.engine.executor import Executor
from handloom.engine.run_directory import RunDirectory
from handloom.engine.run_settings import RunSettings
from handloom.engine.verify import archives_of
from handloom.errors import StateError
from handloom.scene import build_scene
from handloom.seeding import generator
from handloom.tasks.lights import sample_lights
from handloom.values import TaskInstance


@dataclass(frozen=True, kw_only=True)
class Look:
    """What changes when an episode is drawn again; nothing in it touches physics."""

    size: tuple[int, int] | None = None
    """Width and height of every camera [px]; None keeps them."""
    relight: int | None = None
    """Seed of new lights; None keeps the recorded ones."""

    def applied(self, instance: TaskInstance, settings: RunSettings) -> TaskInstance:
        """Return the instance with this look."""
        if self.size is not None:
            instance = replace(instance, cameras=tuple(c.resized(*self.size) for c in instance.cameras))
        if self.relight is not None:
            env_map = settings.loaded_task().config.env_map.model_copy(update={"apply_randomization": True})
            rng = generator(self.relight, instance.episode, "relight")
            instance = replace(instance, lights=sample_lights(env_map, rng))
        return instance


@dataclass(frozen=True, kw_only=True)
class _Job:
    archive: str
    out: str
    settings: RunSettings
    look: Look


def rerender_run(
    run: RunDirectory,
    out: Path,
    executor: Executor,
    *,
    look: Look | None = None,
    preset: str,
    codec: str,
    on_episode: Callable[[], None] = lambda: None,
) -> Path:
    """Draw every demonstration of a run again and write a dataset of its own.

    Args:
        run: The run whose dataset holds the archives.
        out: Folder of the new dataset.
        executor: Runs the episodes.
        look: What changes; None changes nothing but the preset.
        preset: fast, balanced or quality.
        codec: Video codec.
        on_episode: Called after each episode.
    """
    settings = run.settings.model_copy(update={"render": "now", "preset": preset, "codec": codec})
    episodes = out.with_name(f"{out.name}.episodes")
    archives = archives_of(run.path)
    jobs = [_Job(archive=str(a), out=str(episodes), settings=settings, look=look or Look()) for a in archives]
    folders = []
    for finished in executor.run(rerender_episode, iter(jobs)):
        if finished.crash:
            raise StateError(f"drawing {finished.item.archive} failed: {finished.crash}; run the same command again")
        folders.append(Path(finished.result))
        on_episode()
    return merge_episodes(sorted(folders), out, replace=True)


def rerender_episode(job: _Job) -> str:
    """Draw one archive again and return the folder of the new episode."""
    record = record_of_archive(read_archive(Path(job.archive)))
    record = replace(record, instance=job.look.applied(record.instance, job.settings))
    return str(write_episode(job.settings, build_scene(record.instance), record, Path(job.out), Stopwatch()))
