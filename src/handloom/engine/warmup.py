"""Compiles every kernel that an attempt uses, once per machine and version."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from handloom.dataset.video_writer import VideoWriter
from handloom.engine.attempt import run_attempt
from handloom.engine.executor import ProcessExecutor
from handloom.engine.run_settings import RunSettings
from handloom.episode.columns import rendered_frames, video_features
from handloom.episode.loop import user_inputs
from handloom.errors import StateError
from handloom.kernels import warm_marker
from handloom.labels import EpisodeLabeller
from handloom.motion_generation import RmpFlow, RmpFlowSmoothed, load_supported_motion_policy_config
from handloom.render import Renderer
from handloom.scene import build_scene
from handloom.tasks import load_task, sample_task
from handloom.values import EpisodeRecord

TASK = "fr3_pick_cube"
TINY = ("cameras.0.size=[16, 16]", "cameras.1.size=[16, 16]")


def is_warm() -> bool:
    """Return whether the kernels of this version were compiled on this machine."""
    return warm_marker().is_file()


def warm_up(*, on_step: Callable[[str, int, int], None] = lambda *_: None) -> None:
    """Compile and cache all kernels by running a tiny example of each; does nothing when that was done before.

    They compile side by side, a process each. Workers that start afterwards read the cache.

    Args:
        on_step: Told what is finished, how many steps are done and how many there are.
    """
    if is_warm():
        return
    on_step(", ".join(STEPS), 0, len(STEPS))
    for done, finished in enumerate(ProcessExecutor(len(STEPS)).run(compile_step, iter(STEPS)), start=1):
        if finished.crash:
            raise StateError(f"compiling the kernels for {finished.item} failed: {finished.crash}")
        on_step(f"{finished.item} is ready", done, len(STEPS))
    warm_marker().parent.mkdir(parents=True, exist_ok=True)
    warm_marker().touch()


def compile_step(name: str) -> None:
    """Run one of the examples, in a worker."""
    STEPS[name]()


def _plan_and_write() -> None:
    task = load_task(TASK, overrides=TINY)
    with tempfile.TemporaryDirectory() as folder:
        run_attempt(RunSettings.of_task(task, seed=0, render="none"), task, 0, Path(folder))


def _draw() -> None:
    instance = sample_task(load_task(TASK, overrides=TINY), 0, 0)
    scene = build_scene(instance)
    images = Renderer(scene.world.model, "quality").render(scene.world.data, instance.cameras)
    with tempfile.TemporaryDirectory() as folder:
        _label(Path(folder))
    (feature, *_) = video_features(instance.cameras, "h264")
    with tempfile.TemporaryDirectory() as folder, VideoWriter(Path(folder) / "x.mp4", feature, fps=30) as video:
        video.add(images[instance.cameras[0].name]["rgb"])


def _label(folder: Path) -> None:
    """Compile the kernels of labels on a record of one frame."""
    instance = sample_task(load_task(TASK, overrides=TINY), 0, 0)
    scene = build_scene(instance)
    state = scene.world.save_state()
    asked, applied = np.full((1, scene.world.model.nu), np.nan), user_inputs(scene)[None]
    record = EpisodeRecord(instance=instance, states=np.array([state, state]), asked=asked, applied=applied)
    labeller = EpisodeLabeller(scene, record, ["all"], folder)
    for number, images in enumerate(rendered_frames(scene, record, preset="fast", kinds=labeller.images)):
        labeller.add(number, images)
    labeller.finish()


def _pour() -> None:
    build_scene(sample_task(load_task("fr3_pour_cup_bowl"), 0, 0)).world.step()


def _follow() -> None:
    policy = RmpFlow(**(load_supported_motion_policy_config("fr3") or {}))
    q, none = policy.robot.default_q, np.zeros(0)
    for smoothed in (policy, RmpFlowSmoothed(**(load_supported_motion_policy_config("fr3") or {}))):
        smoothed.set_end_effector_target((0.4, 0.0, 0.4))
        smoothed.compute_joint_targets(q, np.zeros_like(q), none, none, smoothed.maximum_substep_size)


STEPS = {"drawing": _draw, "planning": _plan_and_write, "motion policies": _follow, "pouring": _pour}
"""What is compiled side by side; the longer step first."""
