"""``handloom generate TASK`` and ``handloom demo``: make demonstrations."""

import shlex
import signal
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Literal

import tyro

from handloom.cli.datasets.dataset import verify
from handloom.cli.datasets.view import live_page
from handloom.cli.flags import (
    Number,
    OptionalNumber,
    OptionalOutput,
    OptionalRobot,
    OptionalText,
    Output,
    Overrides,
    Seconds,
    Task,
)
from handloom.cli.runs.generate_display import FIRST_ATTEMPTS, GenerateDisplay, HopelessRun
from handloom.cli.runs.run_flags import USUAL_WRITING, Writing, drawing, local_executor
from handloom.cli.verbs.doctor import compile_kernels, cores
from handloom.config import own_code
from handloom.engine import (
    Executor,
    Goal,
    Receipt,
    RunDirectory,
    RunOutcome,
    RunSettings,
    generate_run,
    report_of,
)
from handloom.engine.executors.executor import HANG_LIMIT
from handloom.engine.executors.ray_executor import RayExecutor
from handloom.engine.executors.remote_attempt import Storage
from handloom.engine.reporting import write_page
from handloom.engine.reporting.page import dataset_sheet
from handloom.engine.runs.run_directory import ALL
from handloom.engine.runs.shards import is_uploaded, shard_goal, shard_place, upload_shard
from handloom.engine.trust import trust_task
from handloom.errors import InputError
from handloom.safe_paths import safe_name
from handloom.tasks import load_task
from handloom.tasks.config.loading import variety_notes

TURN_PER_METRE = 5.0
"""Rotation of a disturbed hand per metre of displacement [rad/m]."""


def run(
    task: Task,
    *,
    robot: OptionalRobot = None,
    n: Annotated[
        int | None,
        tyro.conf.arg(aliases=["-n", "--episodes"], name="successes", metavar="N", help_behavior_hint="(default: 10)"),
    ] = None,
    attempts: OptionalNumber = None,
    only: OptionalNumber = None,
    output: OptionalOutput = None,
    overwrite: bool = False,
    seed: Number = 0,
    source: Annotated[str, tyro.conf.arg(metavar="SOURCE")] = "expert",
    workers: OptionalNumber = None,
    executor: Literal["process", "inline", "ray"] = "process",
    ray_address: OptionalText = None,
    staging: Annotated[str | None, tyro.conf.arg(metavar="URL", help_behavior_hint="")] = None,
    writing: Writing = USUAL_WRITING,
    disturb: Annotated[float, tyro.conf.arg(metavar="METRES")] = 0.0,
    keep: Literal["successes", "failures", "balanced"] = "successes",
    keep_going: bool = False,
    max_attempts: OptionalNumber = None,
    attempt_seconds: Seconds = HANG_LIMIT,
    skip_stuck: bool = False,
    unit_size: OptionalNumber = None,
    shard: Annotated[str, tyro.conf.arg(metavar="I/N")] = "0/1",
    upload: Annotated[str | None, tyro.conf.arg(metavar="URL", help_behavior_hint="")] = None,
    proxy_assets: bool = False,
    set: Overrides = (),
    allow_code: bool = False,
    allow_outside: bool = False,
    view: bool = False,
    json: bool = False,
) -> int:
    """Make demonstrations of a task and write them as a LeRobot v3 dataset; repeating the command resumes.

    Args:
        task: A task of the library, or a YAML file.
        robot: Robot for tasks that any robot can do: a name or a folder. Default: the robot named in the file.
        n: Number of demonstrations to make: the successful attempts with the lowest numbers.
        attempts: Number of attempts to make instead, regardless of their outcome.
        only: Make only this attempt, counting from 0; a longer run makes exactly the same episode under this number.
        output: Folder of the run; its dataset/ is the dataset. Default: out/TASK, with --robot out/TASK_ROBOT.
        overwrite: Delete the run in that folder and start over; a folder with anything else in it is left alone.
        seed: Seed of the run.
        source: Performs the task: the scripted expert, or your own class, written my_module:MySource.
        workers: Worker processes; default one per core, of this machine or of the Ray cluster.
        executor: Where attempts run: in worker processes, inline in this process, or on a Ray cluster (extra ray).
        ray_address: Address of a running Ray cluster; the default starts one on this machine.
        staging: On Ray: pass episodes through this URL, s3://bucket/folder or gs://bucket/folder (extra cloud),
            instead of through Ray itself.
        writing: What is rendered and written.
        disturb: Push the hand off its path by about this distance [m] and rotate it by 5 rad per metre of it; the
            recorded action stays the expert's command. 0.02 suits tasks at a table. Sets the task's key disturbance.
        keep_going: Continue even if the first attempts all failed for the same reason.
        keep: What to write: successes; also failures, into a separate dataset with the reason and the frame in which
            each went wrong; or balanced, which makes attempts until there are as many failures as successes.
        max_attempts: Limit on the attempts; default ten per demonstration.
        attempt_seconds: Wall time after which an attempt without a result is killed and retried alone; after three such
            tries the run stops without recording it.
        skip_stuck: Count attempts as failed after they ran out of memory or time, or lost their worker, three times.
        unit_size: Attempts per work unit of a new run; default 4, fewer in short runs so that all workers finish
            together.
        shard: i/N, for job arrays that share the folder: run every N-th unit, starting at i, of the attempts that are
            certain to be needed; the shard that finishes last runs any further attempts and merges.
        upload: With --shard and --attempts: machines share only this URL, s3://bucket/folder (extra cloud). This
            machine makes part i of the attempts in its own folder and uploads it as a dataset; handloom merge URL
            combines all parts.
        proxy_assets: Replace missing asset files with library objects of the same category.
        set: Overrides such as data.max_episode_length=500.
        allow_code: Run Python code that the task refers to, such as a skill my_module:MySkill.
        allow_outside: Let the task and its assets refer to files outside its own and surrounding folders.
        view: Serve the page of handloom view during the run; its address is printed (extra view).
        json: Print the report as JSON instead of the progress display.
    """
    if allow_code:
        own_code.allow_code()
    own_code.allow_code(source)  # Named by the user on the command line.
    overrides = (*set, "proxy_assets=true") if proxy_assets else set
    if disturb:
        overrides = (*overrides, f"disturbance={{position: {disturb}, rotation: {TURN_PER_METRE * disturb}}}")
    loaded = load_task(task, overrides=overrides, allow_outside=allow_outside, robot=robot)
    trust_task(loaded)
    for line in loaded.stand_ins:
        print(f"stand-in: {line}", file=sys.stderr)
    for line in () if json else variety_notes(loaded):
        print(f"note: {line}", file=sys.stderr)
    goal = _goal(n, attempts, only, max_attempts, balanced=keep == "balanced")
    settings = RunSettings.of_task(
        loaded,
        seed=seed,
        source=source,
        unit_size=unit_size if unit_size is not None else unit_size_of(goal, workers or cores()),
        **writing.settings(keep_failures=keep != "successes"),
        balanced=keep == "balanced",
    )
    part = _shard(shard)
    if staging is not None:
        if executor != "ray":
            raise InputError("--staging is for --executor ray; local workers write directly into the run folder")
        Storage(staging).check()
    chosen = _executor(executor, workers, attempt_seconds, ray_address)
    if n is None and attempts is None and only is None and not json:
        print(f"making {goal.successes} demonstrations; -n N makes another number", file=sys.stderr)
    folder = output or Path("out") / safe_name(loaded.name if robot is None else f"{loaded.name}_{robot}")
    if overwrite:
        if part != ALL:
            raise InputError("--overwrite is for whole runs: each --shard would delete the work of the others")
        RunDirectory.discard(folder)
    place = "" if upload is None else shard_place(upload, part)
    if place:
        goal = shard_goal(goal, part)
        if is_uploaded(place):
            print(f"this shard is done: {place}")
            return 0
        part = ALL
    directory = RunDirectory.begin(folder, settings)
    compile_kernels(writing.kernels())
    with drawing(chosen, writing.backend, writing.render):
        code = generate_shown(
            directory,
            goal,
            chosen,
            name=task,
            shard=part,
            staging=staging or "",
            keep_going=keep_going,
            skip_stuck=skip_stuck,
            view=view,
            json=json,
        )
    if place and code == 0:
        upload_shard(directory, place)
        print(f"uploaded: {place}")
    return code


def generate_shown(
    directory: RunDirectory,
    goal: Goal,
    executor: Executor,
    *,
    name: str,
    shard: tuple[int, int] = ALL,
    staging: str = "",
    keep_going: bool = False,
    skip_stuck: bool = False,
    view: bool = False,
    json: bool = False,
) -> int:
    """Run attempts with the progress display until the goal is reached, print the outcome, return the exit code.

    Args:
        directory: The run.
        goal: When to stop.
        executor: Runs the attempts.
        name: Task name as given by the user.
        shard: Part of the run.
        staging: URL through which episodes are returned.
        keep_going: Continue even if the first attempts all failed for the same reason.
        skip_stuck: Count attempts as failed after they ran out of memory or time, or lost their worker, three times.
        view: Serve a page that shows the progress.
        json: Print the report as JSON instead of the progress display.
    """
    display = GenerateDisplay(goal, quiet=json, advise=True)
    stop_file = directory.stop_file(shard)
    hopeless = HopelessRun(stop_file, enabled=goal.successes is not None and not keep_going)

    def on_receipts(receipts: dict[int, Receipt]) -> None:
        display.update(receipts)
        hopeless.update(receipts)

    with ExitStack() as stack:
        if view:
            address = stack.enter_context(live_page(directory.path, goal, workers=executor.workers))
            print(f"open in a browser: {address}", file=sys.stderr, flush=True)
        stack.enter_context(display)
        stack.enter_context(_stop_on_interrupt(stop_file, display))
        outcome = generate_run(
            directory, goal, executor, shard=shard, staging=staging, skip_stuck=skip_stuck, on_receipts=on_receipts
        )
    if hopeless.reason:
        print(
            f"stopped: attempts 0 to {FIRST_ATTEMPTS - 1} all failed with {hopeless.reason}; see below, and "
            f"handloom check {name}; --keep-going continues regardless",
            file=sys.stderr,
        )
    return _tell(outcome, goal, workers=executor.workers, as_json=json)


def _goal(n: int | None, attempts: int | None, only: int | None, max_attempts: int | None, *, balanced: bool) -> Goal:
    """Return the goal set by the flags; default ten demonstrations."""
    if only is not None:
        if n is not None or attempts is not None or max_attempts is not None:
            raise InputError("--only makes one attempt; omit -n, --attempts and --max-attempts")
        if only < 0:
            raise InputError(f"--only takes the number of an attempt, 0 the first, got {only}")
        return Goal(attempts=only + 1, first=only)
    successes = n if n is not None or attempts is not None else 10
    failures = successes if balanced and attempts is None else None
    return Goal(successes=successes, attempts=attempts, max_attempts=max_attempts, failures=failures)


def unit_size_of(goal: Goal, workers: int) -> int:
    """Return a unit size that leaves every worker several units."""
    wanted = goal.successes or goal.bound
    return min(4, max(1, wanted // (8 * max(workers, 1))))


def _executor(name: str, workers: int | None, timeout: float, ray_address: str | None) -> Executor:
    """Return the executor selected by the flags."""
    if name == "ray":
        cluster = RayExecutor(workers, address=ray_address, timeout=timeout)
        cluster.connect()
        return cluster
    return local_executor(name, workers, timeout)


def _kept_failures(outcome: RunOutcome) -> bool:
    return (outcome.run.failures / "meta").is_dir()


def _tell(outcome: RunOutcome, goal: Goal, *, workers: int, as_json: bool) -> int:
    from json import dumps

    from handloom.cli.datasets.report import print_report

    report = report_of(outcome.receipts.values())
    if as_json:
        print(dumps(report.to_json(workers=workers)))
    else:
        print_report(report, workers=workers)
    if outcome.shard_done:
        print(
            "this shard is done; the last shard to finish merges, or the same command once all are done",
            file=sys.stderr,
        )
        return 0
    if not outcome.complete:
        print(f"not complete; continue with: {shlex.join(['handloom', *sys.argv[1:]])}", file=sys.stderr)
        return 1
    if report.episodes == 0:
        kept = f"; the failed ones are in {outcome.run.failures}" if _kept_failures(outcome) else ""
        print(
            f"no attempt of {report.attempts} succeeded, so there is no dataset; see the reasons above{kept}",
            file=sys.stderr,
        )
        return 1
    if not as_json:
        print(f"dataset: {outcome.run.dataset}")
        print(f"failed:  {outcome.run.failures}\n" if _kept_failures(outcome) else "", end="")
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


class _stop_on_interrupt:  # noqa: N801 - reads as a statement
    """While inside, SIGINT (Ctrl-C) and SIGTERM (a job scheduler) let the workers finish their current attempt.

    A second signal stops at once.
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
        self.display.note("finishing the running attempts; press Ctrl-C again to stop at once")


def demo(
    *,
    task: Annotated[str, tyro.conf.arg(metavar="TASK")] = "fr3_pick_place",
    episodes: Annotated[int, tyro.conf.arg(aliases=["-n"], metavar="N")] = 10,
    output: Output = Path("out/demo"),
) -> int:
    """Generate and verify a few demonstrations, draw them on one sheet, and suggest what to try next.

    Args:
        task: A task of the library, or a YAML file.
        episodes: Number of demonstrations.
        output: Folder of the run.
    """
    failed = run(task, n=episodes, output=output) or verify(output)
    if failed:
        return failed
    print(f"image:   {dataset_sheet(output / 'dataset', output / 'contact_sheet.png', episodes=episodes)}")
    print(f"page:    {write_page(RunDirectory.open(output), output / 'report', workers=cores())}")
    print(f"try:     handloom generate {task} -n 100 -o out/first")
    return 0
