"""``handloom generate TASK``: the main job."""

import os
import shlex
import signal
import sys
from pathlib import Path
from typing import Annotated, Literal

import tyro

from handloom.cli.progress import GenerateDisplay
from handloom.cli.warmup import compile_kernels
from handloom.config import own_code
from handloom.engine import (
    Executor,
    Goal,
    InlineExecutor,
    ProcessExecutor,
    RunDirectory,
    RunOutcome,
    RunSettings,
    generate_run,
    report_of,
)
from handloom.engine.ray_executor import RayExecutor
from handloom.engine.storage import Storage
from handloom.errors import InputError
from handloom.tasks import load_task


def run(
    task: tyro.conf.Positional[str],
    *,
    n: Annotated[int | None, tyro.conf.arg(aliases=["-n"], name="successes")] = None,
    attempts: int | None = None,
    output: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None,
    seed: int = 0,
    source: str = "expert",
    workers: int | None = None,
    executor: Literal["process", "inline", "ray"] = "process",
    ray_address: str | None = None,
    staging: str | None = None,
    render: Literal["now", "later", "none"] = "now",
    preset: str = "balanced",
    codec: str = "h264",
    columns: tuple[str, ...] = ("canonical",),
    lerobot_features: tuple[str, ...] = (),
    keep_failures: bool = False,
    max_attempts: int | None = None,
    unit_size: int | None = None,
    shard: str = "0/1",
    proxy_assets: bool = False,
    set: tuple[str, ...] = (),
    allow_code: bool = False,
    allow_outside: bool = False,
    json: bool = False,
) -> int:
    """Make demonstrations of a task and write them as a LeRobot v3 dataset; the same command again resumes.

    Args:
        task: A task of the library, or a YAML file.
        n: Demonstrations wanted: the lowest-numbered successful attempts.
        attempts: Attempts to make instead, whatever comes out.
        output: Folder of the run; its dataset/ is the dataset. Default: out/TASK.
        seed: Seed of the run.
        source: Who carries the task out: the scripted expert, or a class of yours, written my_module:MySource.
        workers: Worker processes; default one per core, of this machine or of the Ray cluster.
        executor: Where work runs: in worker processes, inline in this one, or on a Ray cluster (extra ray).
        ray_address: Address of a running Ray cluster; default starts one here.
        staging: On Ray: hand episodes over by way of this URL, s3://bucket/folder or gs://bucket/folder (extra cloud),
            instead of through Ray itself.
        render: Draw the cameras now, later with `handloom render`, or not at all.
        preset: How much work goes into a picture: fast, balanced or quality.
        codec: Video codec: h264 or av1.
        columns: Names of the columns: canonical (observation.state, action, poses), reference (states.*, actions.*,
            master_actions.*) or both.
        lerobot_features: What LeRobot reads from 0.6 on only: depth (a stream per camera), language (sub-tasks in the
            frames).
        keep_failures: Also write failed attempts, into a dataset of their own.
        max_attempts: Bound on the attempts; default ten per demonstration.
        unit_size: Attempts per work unit of a new run; default 4, fewer in short runs so that all workers end together.
        shard: i/N: run every N-th unit from i on, for job arrays that share the folder; merge with handloom merge.
        proxy_assets: Replace asset files that are not there by library objects of the same category.
        set: Overrides such as data.max_episode_length=500.
        allow_code: Run Python code that the task names, such as a skill my_module:MySkill.
        allow_outside: Let the task and its assets name files outside its folder, those around it and its asset root.
        json: Print the report as JSON instead of the progress display.
    """
    if allow_code:
        own_code.allow_code()
    own_code.allow_code(source)  # Named by the user himself.
    overrides = (*set, "proxy_assets=true") if proxy_assets else set
    loaded = load_task(task, overrides=overrides, allow_outside=allow_outside)
    goal = Goal(
        successes=n if n is not None or attempts is not None else 10, attempts=attempts, max_attempts=max_attempts
    )
    settings = RunSettings.of_task(
        loaded,
        seed=seed,
        source=source,
        unit_size=unit_size if unit_size is not None else _unit_size(goal, workers or cores()),
        render=render,
        preset=preset,
        codec=codec,
        columns=columns,
        lerobot_features=lerobot_features,
        keep_failures=keep_failures,
    )
    part = _shard(shard)
    if staging is not None:
        if executor != "ray":
            raise InputError("--staging is for --executor ray; workers of this machine write into the run folder")
        Storage(staging).check()
    chosen = _executor(executor, workers, ray_address)
    directory = RunDirectory.begin(output or Path("out") / loaded.name, settings)
    compile_kernels()
    display = GenerateDisplay(goal, quiet=json)
    with display, _stop_on_interrupt(directory.stop_file(part), display):
        outcome = generate_run(directory, goal, chosen, shard=part, staging=staging or "", on_receipts=display.update)
    return _tell(outcome, goal, workers=chosen.workers, as_json=json)


def _unit_size(goal: Goal, workers: int) -> int:
    """Return a unit size that leaves every worker several units."""
    wanted = goal.successes or goal.bound
    return min(4, max(1, wanted // (8 * max(workers, 1))))


def _executor(name: str, workers: int | None, ray_address: str | None) -> Executor:
    if name == "ray":
        cluster = RayExecutor(workers, address=ray_address)
        cluster.connect()
        return cluster
    return InlineExecutor() if name == "inline" else ProcessExecutor(cores() if workers is None else workers)


def _tell(outcome: RunOutcome, goal: Goal, *, workers: int, as_json: bool) -> int:
    from json import dumps

    from handloom.cli.report import print_report

    report = report_of(outcome.receipts.values())
    if as_json:
        print(dumps(report.to_json(workers=workers)))
    else:
        print_report(report, workers=workers)
    if not outcome.complete:
        print(f"not complete; go on with: {shlex.join(['handloom', *sys.argv[1:]])}", file=sys.stderr)
        return 1
    if report.episodes == 0:
        print(
            f"no attempt of {report.attempts} succeeded, so there is no dataset; see the reasons above", file=sys.stderr
        )
        return 1
    if not as_json:
        print(f"dataset: {outcome.run.dataset}")
        print(f"check:   handloom verify {outcome.run.path}")
    if goal.successes is None or report.episodes >= goal.successes:
        return 0
    print(
        f"{report.episodes} of {goal.successes} demonstrations after {report.attempts} attempts; for more, give the "
        "same command a larger --max-attempts",
        file=sys.stderr,
    )
    return 1


def _shard(text: str) -> tuple[int, int]:
    first, _, count = text.partition("/")
    if not (first.isdecimal() and count.isdecimal() and int(first) < int(count)):
        raise InputError(f"--shard is written i/N with i from 0 to N-1, e.g. 0/4, got {text!r}")
    return int(first), int(count)


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _stop_on_interrupt:  # noqa: N801 - reads as a statement
    """While inside, Ctrl-C, or the end that a job scheduler announces, lets the workers finish their present attempt.

    A second one ends at once.
    """

    def __init__(self, stop_file: Path, display: GenerateDisplay) -> None:
        self.stop_file = stop_file
        self.display = display

    def __enter__(self) -> None:
        self.before = {number: signal.signal(number, self._interrupt) for number in (signal.SIGINT, signal.SIGTERM)}

    def __exit__(self, *_: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def _interrupt(self, *_: object) -> None:
        if self.stop_file.exists():
            raise KeyboardInterrupt
        self.stop_file.touch()
        self.display.note("finishing the attempts that are running; Ctrl-C again ends at once")
