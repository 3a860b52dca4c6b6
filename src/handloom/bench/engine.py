"""The whole pipeline, from sampling to a merged dataset, with the time of each stage."""

import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from handloom.bench.result import BenchResult
from handloom.dataset import DatasetReader, EpisodeFolder, extract_episode, folder_name
from handloom.dataset.episodes.episode_folder import SHEET
from handloom.dataset.files.durable import json_bytes
from handloom.engine import (
    Executor,
    Goal,
    InlineExecutor,
    ProcessExecutor,
    Receipt,
    RunDirectory,
    RunSettings,
    generate_run,
    report_of,
)
from handloom.engine.warmup import warm_up
from handloom.errors import StateError
from handloom.tasks import Task, load_task

BUDGET_MS = {"sample": 5, "build": 5, "plan": 15, "physics": 60, "render": 120, "encode": 40, "write": 5}
"""Budget of each stage, in milliseconds per simulated second and core."""


def run(task: str = "fr3_pick_place", episodes: int = 24) -> BenchResult:
    """Generate with one and two workers and with every preset, and merge increasing numbers of episodes.

    Args:
        task: Task of the library with two cameras of 224 x 224 pixels.
        episodes: Demonstrations per worker; more give steadier figures. Two workers make twice as many, so that the
            start of a worker has the same weight in both rows.
    """
    warm_up()
    loaded = load_task(task)
    few = max(2, episodes // 6)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        one = _generated(loaded, folder / "one", "1 worker", ProcessExecutor(1), episodes)
        two = _generated(loaded, folder / "two", "2 workers", ProcessExecutor(2), 2 * episodes, workers=2)
        two["scaling"] = two["episodes_per_hour"] / one["episodes_per_hour"]
        presets = [
            _generated(loaded, folder / preset, f"preset {preset}, inline", InlineExecutor(), few, preset=preset)
            for preset in ("fast", "balanced", "quality")
        ]
        dataset = DatasetReader(folder / "balanced" / "dataset")
        made = [extract_episode(dataset, e.index, folder / folder_name(e.index)) for e in dataset.episodes]
        growth = [_grown(loaded, folder / f"grown_{count}", made, count) for count in (10, 100, 1000)]
        growth += _extended(loaded, folder)
    total = sum(BUDGET_MS.values())
    budget = {f"{stage}_ms": float(value) for stage, value in BUDGET_MS.items()}
    rows = (one, two, *presets, {"name": "time budget of the design", "realtime_factor": 1000.0 / total, **budget})
    return BenchResult(bench="engine", rows=(*rows, *growth))


def _generated(
    task: Task,
    folder: Path,
    name: str,
    executor: Executor,
    episodes: int,
    *,
    workers: int = 1,
    preset: str = "balanced",
) -> dict[str, Any]:
    """Generate a run and return its figures; milliseconds are per simulated second and core."""
    directory = RunDirectory.begin(folder, RunSettings.of_task(task, seed=0, unit_size=1, preset=preset))
    begin = time.perf_counter()
    outcome = generate_run(directory, Goal(successes=episodes), executor)
    wall = time.perf_counter() - begin
    report = report_of(outcome.receipts.values())
    if not report.episodes:
        raise StateError(f"no attempt of {report.attempts} at {task.name} succeeded, so there is nothing to measure")
    seconds = report.robot_hours * 3600.0
    return {
        "name": f"handloom {task.name}, {name}",
        "episodes": report.episodes,
        "success_rate": report.success_rate,
        "episodes_per_hour": 3600.0 * report.episodes / wall,
        "robot_hours_per_wall_hour": seconds / wall,
        "robot_hours_per_wall_hour_and_core": seconds / wall / workers,
        "realtime_factor": report.realtime_factor,
        "cpu_realtime_factor": report.cpu_realtime_factor,
        **{f"{stage}_ms": 1000.0 * report.worker_seconds.get(stage, 0.0) / seconds for stage in BUDGET_MS},
    }


def _grown(task: Task, folder: Path, made: list[EpisodeFolder], count: int) -> dict[str, Any]:
    """Merge a run of many episodes (copies of a few), and measure the time per episode.

    This is all the engine's work that could grow with the existing data: reading journals, checking the goal, planning
    locations, copying rows and packets.
    """
    target = RunDirectory.begin(folder, RunSettings.of_task(task, seed=0))
    _fill(target, made, count)
    begin = time.perf_counter()
    generate_run(target, Goal(attempts=count), InlineExecutor())
    spent = time.perf_counter() - begin
    return {"name": f"handloom resume and merge, {count} episodes", "episodes": count, "merge_ms": 1e3 * spent / count}


def _fill(target: RunDirectory, made: list[EpisodeFolder], count: int) -> None:
    """Put many finished episodes (copies of a few) into a run."""
    for index in range(count):
        original = made[index % len(made)]
        copy = target.episodes / folder_name(index)
        copy.mkdir(parents=True)
        for name in original.sheet["files"]:
            os.link(original.path / name, copy / name)
        outcome = replace(original.outcome, index=index)
        (copy / SHEET).write_bytes(json_bytes({**original.sheet, "outcome": outcome.to_json()}))
        unit = target.journal(index // target.settings.unit_size)
        unit.append(Receipt(episode=index, success=True, frames=original.length))


MORE = 10
"""Episodes added to a finished run."""


def _extended(task: Task, folder: Path) -> list[dict[str, Any]]:
    """Generate ten more episodes in finished runs without images, a short and a long one, and compare.

    Measured in CPU time: the ten episodes are the same work in both, and the existing ones should cost nothing.
    """
    first = RunDirectory.begin(folder / "undrawn", RunSettings.of_task(task, seed=0, unit_size=1, render="none"))
    generate_run(first, Goal(successes=4), InlineExecutor())
    reader = DatasetReader(first.dataset)
    made = [extract_episode(reader, e.index, folder / "taken" / folder_name(e.index)) for e in reader.episodes]
    rows: list[dict[str, Any]] = []
    for count in (100, 2000):
        target = RunDirectory.begin(folder / f"more_{count}", first.settings)
        _fill(target, made, count)
        generate_run(target, Goal(attempts=count), InlineExecutor())
        begin = time.process_time()
        generate_run(target, Goal(attempts=count + MORE), InlineExecutor())
        spent = time.process_time() - begin
        rows.append({"name": f"handloom {MORE} more episodes onto {count}", "episodes": MORE, "cpu_s": spent})
        rows[-1]["cost_ratio"] = spent / rows[0]["cpu_s"]
    return rows
