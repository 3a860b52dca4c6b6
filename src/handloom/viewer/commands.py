"""The command line that reproduces exactly one episode."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from handloom.engine.runs.run_directory import MANIFEST, RunDirectory
from handloom.engine.runs.run_settings import RunSettings
from handloom.engine.sources import EXPERT
from handloom.errors import HandloomError
from handloom.safe_paths import safe_name
from handloom.tasks import load_task

MOST_OVERRIDES = 20
"""Maximum number of overrides in a command; a task with more differences is a different task."""


def make_command(root: Path, *, task: str | None, seed: int | None, attempt: int | None) -> str:
    """Return the command that reproduces an attempt, or an empty string.

    Args:
        root: Folder of the dataset, or of the run.
        task: Name of the task in the dataset.
        seed: Seed of the run.
        attempt: Index of the attempt.
    """
    if not task or seed is None or attempt is None:
        return ""
    settings = _settings(root)
    words = ["handloom", "generate"]
    if settings is None or settings.task_name != task:
        try:
            load_task(task)
        except (HandloomError, OSError):
            return ""
        return shlex.join([*words, task, *_which(task, seed, attempt)])
    if settings.source != EXPERT and ":" not in settings.source:
        return ""
    named, overrides = _as_named(settings)
    if overrides is None:
        return ""
    options = [] if settings.source == EXPERT else ["--source", settings.source]
    for name, default in (("preset", "balanced"), ("codec", "h264"), ("render", "now")):
        if (value := getattr(settings, name)) != default:
            options += [f"--{name}", value]
    for name, default in (("columns", ("canonical",)), ("lerobot_features", ())):
        if (values := getattr(settings, name)) != default:
            options += [f"--{name.replace('_', '-')}", *values]
    if overrides:
        options += ["--set", *overrides]
    return shlex.join([*words, named, *_which(task, seed, attempt), *options])


def _which(task: str, seed: int, attempt: int) -> list[str]:
    folder = f"out/{safe_name(f'{task}_seed{seed}_attempt{attempt}')}"
    return ["--seed", str(seed), "--only", str(attempt), "--keep-failures", "-o", folder]


def _settings(root: Path) -> RunSettings | None:
    """Return the settings of the run that made a dataset, if its manifest exists."""
    for folder in (root, root.parent):
        if (folder / MANIFEST).is_file():
            try:
                return RunDirectory.open(folder).settings
            except (HandloomError, OSError):
                return None
    return None


def _as_named(settings: RunSettings) -> tuple[str, list[str] | None]:
    """Return the user's name for the task, and the overrides that turn it into the run's task; None if too many."""
    for name in (settings.task_name, settings.task_path):
        try:
            present = RunSettings.of_task(load_task(name), seed=settings.seed).task
        except (HandloomError, OSError):
            continue
        found = list(_differences(present, settings.task, ""))
        if len(found) <= MOST_OVERRIDES and all(path for path, _ in found):
            return name, [f"{path}={json.dumps(value)}" for path, value in found]
    return settings.task_name, None


def _differences(present: Any, wanted: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the dotted keys, and their values, that must be changed to turn one task into another."""
    if isinstance(present, dict) and isinstance(wanted, dict):
        if set(present) - set(wanted):
            yield path, wanted
            return
        for key, value in wanted.items():
            yield from _differences(present.get(key), value, f"{path}.{key}" if path else str(key))
    elif isinstance(present, list) and isinstance(wanted, list) and len(present) == len(wanted):
        for number, (one, other) in enumerate(zip(present, wanted, strict=True)):
            yield from _differences(one, other, f"{path}.{number}")
    elif present != wanted:
        yield path, wanted
