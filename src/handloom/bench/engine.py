"""The whole line, from sampling to an episode folder, with the time each stage takes."""

import tempfile
import time
from pathlib import Path

from handloom.bench.result import BenchResult
from handloom.engine import Goal, InlineExecutor, ProcessExecutor, RunDirectory, RunSettings, generate_run, report_of
from handloom.engine.warmup import warm_up
from handloom.tasks import load_task

BUDGET_MS = {"sample": 5, "build": 5, "plan": 15, "physics": 60, "render": 120, "encode": 40, "write": 5}
"""Milliseconds per simulated second and core that the design allows each stage."""


def run(task: str = "fr3_pick_cube", episodes: int = 16) -> BenchResult:
    """Generate episodes with one process, then with two workers, and compare with the time budget.

    Args:
        task: Task of the library with two cameras of 224 x 224 pixels.
        episodes: Demonstrations per row; more give steadier figures.
    """
    warm_up()
    loaded = load_task(task)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, executor in (
            ("1 worker", ProcessExecutor(1)),
            ("2 workers", ProcessExecutor(2)),
            ("inline", InlineExecutor()),
        ):
            settings = RunSettings.of_task(loaded, seed=0)
            directory = RunDirectory.begin(Path(folder) / name.replace(" ", "_"), settings)
            begin = time.perf_counter()
            outcome = generate_run(directory, Goal(successes=episodes), executor)
            wall = time.perf_counter() - begin
            report = report_of(outcome.receipts.values())
            seconds = report.robot_hours * 3600.0
            rows.append(
                {
                    "name": f"handloom {task}, {name}",
                    "episodes": report.episodes,
                    "success_rate": report.success_rate,
                    "episodes_per_hour": 3600.0 * report.episodes / wall,
                    "robot_hours_per_wall_hour": seconds / wall,
                    "realtime_factor": report.realtime_factor,
                    **{f"{stage}_ms": 1000.0 * report.worker_seconds.get(stage, 0.0) / seconds for stage in BUDGET_MS},
                }
            )
    total = sum(BUDGET_MS.values())
    budget = {f"{stage}_ms": float(value) for stage, value in BUDGET_MS.items()}
    rows.append({"name": "time budget of the design", "realtime_factor": 1000.0 / total, **budget})
    return BenchResult(bench="engine", rows=tuple(rows))
