"""Renders recorded episodes again: other cameras, sizes, lights, textures or presets for the same states."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from handloom.config import Config, load_config
from handloom.config.own_code import is_outside_allowed, with_permission
from handloom.dataset import DatasetReader, folder_name, merge_episodes
from handloom.dataset.files.durable import interrupted_calls, json_bytes, name_of_call, remove_folder
from handloom.dataset.files.reading import damage_named
from handloom.dataset.files.replacing import check_replaceable, settle
from handloom.engine.attempt import Stopwatch, write_episode
from handloom.engine.executors.executor import MAX_TRIES, Executor, with_retries
from handloom.engine.runs.merge_run import merge_options
from handloom.engine.runs.run_directory import DATASETS, MANIFEST, RunDirectory
from handloom.engine.runs.run_settings import RunSettings
from handloom.engine.trust import archives_of, dataset_of, trusted_record
from handloom.errors import FileError, InputError, StateError
from handloom.scene import build_scene
from handloom.scene.camera_config import CameraConfig
from handloom.seeding import generator
from handloom.tasks.sampling.cameras import sample_cameras
from handloom.tasks.sampling.lights import sample_lights
from handloom.tasks.sampling.textures import LOOKS
from handloom.values import ObjectInstance, TaskInstance


class CameraList(Config):
    """A file of cameras, written as in a task."""

    cameras: tuple[CameraConfig, ...] = Field(min_length=1)


@dataclass(frozen=True, kw_only=True)
class RenderOverrides:
    """Settings for rendering recorded episodes again; none of them changes the physics.

    Plain values, so that they can be sent to workers on other machines.
    """

    cameras: tuple[dict[str, Any], ...] = ()
    """Cameras that replace the recorded ones, as a task file describes them; empty keeps those."""
    size: tuple[int, int] | None = None
    """Width and height of every camera [px]; None keeps them."""
    relight: int | None = None
    """Seed of new lights; None keeps the recorded ones."""
    retexture: int | None = None
    """Seed of new textures, of the same kinds; None keeps the recorded ones."""

    def __post_init__(self) -> None:
        """Refuse settings that cannot be rendered."""
        if self.size is not None and min(self.size) < 1:
            raise InputError(f"size: an image must be at least 1 pixel wide and high, got {self.size}")
        for name, seed in (("relight", self.relight), ("retexture", self.retexture)):
            if seed is not None and seed < 0:
                raise InputError(f"{name}: a seed must be 0 or more, got {seed}")

    def applied(self, instance: TaskInstance, settings: RunSettings) -> TaskInstance:
        """Return the instance with this look; it depends only on the episode, not on the worker."""
        if self.cameras:
            instance = replace(instance, cameras=self._sampled_cameras(instance, settings))
        if self.size is not None:
            instance = replace(instance, cameras=tuple(c.resized(*self.size) for c in instance.cameras))
        if self.relight is not None:
            env_map = settings.loaded_task().config.env_map.model_copy(update={"apply_randomization": True})
            rng = generator(self.relight, instance.episode, "relight")
            instance = replace(instance, lights=sample_lights(env_map, rng))
        if self.retexture is not None:
            rng = generator(self.retexture, instance.episode, "retexture")
            instance = replace(instance, objects=tuple(_retextured(obj, rng) for obj in instance.objects))
        return instance

    def _sampled_cameras(self, instance: TaskInstance, settings: RunSettings) -> Any:
        task = settings.loaded_task()
        entries = tuple(CameraConfig.model_validate(entry) for entry in self.cameras)
        # Neither the manifest nor the camera file can allow files elsewhere.
        allowed = {"cameras": entries, "allow_outside": is_outside_allowed()}
        task = replace(task, config=task.config.model_copy(update=allowed))
        rng = generator(settings.seed, instance.episode, "cameras", task=task.name)
        return sample_cameras(task, rng, instance.objects, instance.robots)


def read_cameras(file: Path) -> tuple[dict[str, Any], ...]:
    """Read a camera file: a YAML file with the key ``cameras``, as in a task."""
    return tuple(camera.model_dump(mode="json") for camera in load_config(file, CameraList).cameras)


def _retextured(obj: ObjectInstance, rng: np.random.Generator) -> ObjectInstance:
    """Return an object with new seeds for its textures."""
    seed = int(
        rng.integers(LOOKS)
    )  # Sampled for every object, so that an object without a texture changes nothing for the others.
    changed = {
        name: {**values, "texture_seed": seed}
        for name, values in (("parameters", obj.parameters), ("look", obj.look))
        if values.get("texture")
    }
    return replace(obj, **changed)


MOST_PIXELS = 2**24
"""Maximum pixels of all cameras together, about 4,000 squared; rendering them takes half a gigabyte."""


@dataclass(frozen=True, kw_only=True)
class _Job:
    archive: str
    folder: str
    settings: RunSettings
    look: RenderOverrides


def rerender_run(
    run: RunDirectory,
    out: Path,
    executor: Executor,
    *,
    look: RenderOverrides | None = None,
    preset: str,
    backend: str = "cpu",
    codec: str = "h264",
    depth: bool = False,
    segmentation: bool = False,
    labels: tuple[str, ...] | None = None,
    on_episode: Callable[[], None] = lambda: None,
) -> Path:
    """Render every demonstration of a run again into a new dataset; called again after a kill, it continues.

    Args:
        run: The run whose dataset contains the archives.
        out: Folder of the new dataset. Only an earlier rendering of this run is replaced.
        executor: Runs the episodes.
        look: Changes to the look; None changes only the preset.
        preset: fast, balanced or quality.
        backend: cpu or cuda.
        codec: Video codec.
        depth: Also write a depth stream per camera, which LeRobot reads from 0.6 on.
        segmentation: Also write a stream of instance ids per camera.
        labels: Kinds of labels to write; None: those of the run.
        on_episode: Called after each episode.

    Raises:
        FileError: Something else is at ``out``.
    """
    look = look or RenderOverrides()
    _check_output(run, out)
    settings = drawn_settings(
        run.settings,
        preset=preset,
        backend=backend,
        codec=codec,
        depth=depth,
        segmentation=segmentation,
        labels=labels,
    )
    # Named for the render settings: only the same call resumes a killed one.
    episodes = name_of_call(out, json_bytes([settings.fingerprint(), asdict(look)]))
    jobs = [
        _Job(archive=str(archive), folder=str(episodes / folder_name(index)), settings=settings, look=look)
        for index, archive in enumerate(archives_of(run.path))
    ]
    _draw_all(jobs, executor, on_episode)
    merge_episodes([Path(job.folder) for job in jobs], out, options=merge_options(settings), replace=True)
    for left in {episodes, *interrupted_calls(out)}:
        remove_folder(left)
    return out


def _check_output(run: RunDirectory, out: Path) -> None:
    """Refuse an output folder that contains anything but an earlier rendering of the same states.

    Raises:
        FileError: It does.
    """
    settle(out)
    check_replaceable(out)
    if not (out / "meta" / "info.json").is_file():
        return
    own = (out.resolve().parent / MANIFEST).is_file() and out.resolve().name in DATASETS
    if own or not _state_hashes(out) <= _state_hashes(dataset_of(run.path)):
        what = "the dataset of a run" if own else "episodes that are not from this run"
        raise FileError(
            f"{out} contains {what}, so it is not replaced by a rendering of {run.path}; nothing was changed; choose "
            "another folder with -o"
        )


def _state_hashes(dataset: Path) -> set[str]:
    """Return an identity of the episodes of a dataset that does not depend on their looks."""
    return {str(episode.columns.get("state_hash")) for episode in DatasetReader(dataset).episodes}


def _draw_all(jobs: list[_Job], executor: Executor, on_episode: Callable[[], None]) -> None:
    """Render every episode; if its worker dies, another worker renders it again."""
    failed = ""
    for finished in with_retries(executor, with_permission(rerender_episode), jobs):
        if finished.crash:
            failed = f"rendering {finished.item.archive} failed {MAX_TRIES} times: {finished.crash}"
        else:
            on_episode()
    if failed:
        raise StateError(f"{failed}; the other episodes are rendered, and the same command continues from there")


def rerender_episode(job: _Job) -> None:
    """Render one archive again, unless that has already been done."""
    folder = Path(job.folder)
    if folder.is_dir():
        return
    with damage_named(Path(job.archive)):
        _, record = trusted_record(Path(job.archive))
        record = replace(record, instance=job.look.applied(record.instance, job.settings))
        pixels = sum(camera.width * camera.height for camera in record.instance.cameras)
        if pixels > MOST_PIXELS:
            raise InputError(f"its cameras have {pixels} pixels; the limit is {MOST_PIXELS}; give a smaller --size")
        write_episode(job.settings, build_scene(record.instance), record, folder, Stopwatch())


def drawn_settings(
    settings: RunSettings,
    *,
    preset: str,
    backend: str = "cpu",
    codec: str,
    depth: bool,
    segmentation: bool = False,
    labels: tuple[str, ...] | None = None,
) -> RunSettings:
    """Return the settings of a run with other render options; refuses unknown names."""
    streams = {"depth": depth, "segmentation": segmentation}
    features = [name for name in settings.lerobot_features if name not in streams]
    features += [name for name, wanted in streams.items() if wanted]
    changes: dict[str, Any] = {"render": "now", "preset": preset, "backend": backend, "codec": codec}
    changes["lerobot_features"] = tuple(features)
    if labels is not None:
        changes["labels"] = labels
    return RunSettings.model_validate(settings.model_dump() | changes)
