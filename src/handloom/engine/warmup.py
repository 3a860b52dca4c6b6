"""Compiles every kernel that an attempt uses, once per machine and version."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from handloom.engine.attempt import run_attempt
from handloom.engine.run_settings import RunSettings
from handloom.kernels import cache_folder
from handloom.motion.warmup import warmup as warm_up_motion
from handloom.tasks import load_task

TASK = "fr3_pick_cube"
TINY = ("cameras.0.size=[16, 16]", "cameras.1.size=[16, 16]")
PRESETS = ("fast", "balanced", "quality")


def is_warm() -> bool:
    """Return whether the kernels of this version were compiled on this machine."""
    return _marker().is_file()


def warm_up(*, on_step: Callable[[str, int, int], None] = lambda *_: None) -> None:
    """Compile and cache all kernels by running real, tiny attempts; does nothing when that was done before.

    Worker processes that start afterwards read the cache instead of compiling the same kernels side by side.

    Args:
        on_step: Told what is being compiled, how many steps are done and how many there are.
    """
    if is_warm():
        return
    warm_up_motion(on_step=on_step)
    task = load_task(TASK, overrides=TINY)
    with tempfile.TemporaryDirectory() as folder:
        for step, preset in enumerate(PRESETS):
            on_step(f"an attempt with {preset} pictures", step, len(PRESETS))
            settings = RunSettings.of_task(task, seed=0, preset=preset)
            run_attempt(settings, task, 0, Path(folder) / preset)
    on_step("done", len(PRESETS), len(PRESETS))
    _marker().parent.mkdir(parents=True, exist_ok=True)
    _marker().touch()


def _marker() -> Path:
    return cache_folder() / "warm"
