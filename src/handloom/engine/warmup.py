"""Compiles every kernel that an attempt uses, once per machine and version."""

import importlib
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from handloom.dataset.video.video_writer import VideoWriter
from handloom.engine.attempt import run_attempt
from handloom.engine.executors.executor import ProcessExecutor
from handloom.engine.runs.run_settings import RunSettings
from handloom.episode.columns import rendered_frames, video_features
from handloom.episode.loop import user_inputs
from handloom.errors import StateError
from handloom.kernels import GENERATE, STEPS, is_warm, warm_marker
from handloom.labels import EpisodeLabeller
from handloom.render import Renderer
from handloom.scene import build_scene
from handloom.tasks import load_task, sample_task
from handloom.values import EpisodeRecord

TASK = "fr3_pick_cube"
TINY = ("cameras.0.size=[16, 16]", "cameras.1.size=[16, 16]")


def warm_up(steps: Sequence[str] = GENERATE, *, on_step: Callable[[str, int, int], None] = lambda *_: None) -> None:
    """Compile and cache kernels by running a tiny example of each; finished steps are skipped.

    They compile in parallel, one process each. Workers that start afterwards read the cache.

    Args:
        steps: Rows of ``STEPS``.
        on_step: Called with the finished step, the number of finished steps and the total.
    """
    cold = [name for name in steps if not is_warm([name])]
    if not cold:
        return
    on_step(", ".join(cold), 0, len(cold))
    for done, finished in enumerate(ProcessExecutor(len(cold)).run(compile_step, iter(cold)), start=1):
        if finished.crash:
            raise StateError(f"compiling the kernels for {finished.item} failed: {finished.crash}")
        on_step(f"{finished.item} is ready", done, len(cold))
        warm_marker(finished.item).parent.mkdir(parents=True, exist_ok=True)
        warm_marker(finished.item).touch()


def compile_step(name: str) -> None:
    """Run one of the examples in a worker."""
    module, _, function = STEPS[name].code.partition(":")
    getattr(importlib.import_module(module), function)()


def plan_and_write() -> None:
    """Run one attempt without images."""
    task = load_task(TASK, overrides=TINY)
    with tempfile.TemporaryDirectory() as folder:
        run_attempt(RunSettings.of_task(task, seed=0, render="none"), task, 0, Path(folder))


def draw() -> None:
    """Render one image and encode it."""
    instance = sample_task(load_task(TASK, overrides=TINY), 0, 0)
    scene = build_scene(instance)
    images = Renderer(scene.world.model, "quality", looks=scene.looks).render(scene.world.data, instance.cameras)
    (feature, *_) = video_features(instance.cameras, "h264")
    with tempfile.TemporaryDirectory() as folder, VideoWriter(Path(folder) / "x.mp4", feature, fps=30) as video:
        video.add(images[instance.cameras[0].name]["rgb"])


def label() -> None:
    """Write all labels of a record of one frame."""
    instance = sample_task(load_task(TASK, overrides=TINY), 0, 0)
    scene = build_scene(instance)
    state = scene.world.save_state()
    asked, applied = np.full((1, scene.world.model.nu), np.nan), user_inputs(scene)[None]
    record = EpisodeRecord(instance=instance, states=np.array([state, state]), asked=asked, applied=applied)
    with tempfile.TemporaryDirectory() as folder:
        labeller = EpisodeLabeller(scene, record, ["all"], Path(folder))
        for number, images in enumerate(rendered_frames(scene, record, preset="fast", kinds=labeller.images)):
            labeller.add(number, images)
        labeller.finish()


def pour() -> None:
    """Run one physics step of a scene with grains."""
    build_scene(sample_task(load_task("fr3_pour_cup_bowl"), 0, 0)).world.step()
