"""``handloom coverage FOLDER``: which task files of a folder produce a demonstration, and why the others do not."""

import math
from dataclasses import asdict
from json import dumps
from pathlib import Path
from typing import Annotated, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from tyro.conf import Positional, arg

from handloom.bench.coverage import Coverage, FileCoverage, measure, reasons_of
from handloom.cli.flags import Number, OptionalFile, OptionalNumber, Overrides
from handloom.cli.terminal import plain
from handloom.cli.verbs.doctor import cores, tell_of_cold_kernels
from handloom.config import forbid_code
from handloom.errors import InputError

FAILURES_SHOWN = 20
"""Files without a demonstration to list with their last reason; the record has all of them."""
DETAIL = 200
"""Characters shown of a reason's detail."""


def run(
    folder: Annotated[Positional[Path], arg(metavar="FOLDER")],
    *,
    attempts: Number = 5,
    processes: OptionalNumber = None,
    seed: Number = 0,
    only: Annotated[str, arg(metavar="WORD", help_behavior_hint="")] = "",
    limit: Annotated[float, arg(metavar="SECONDS", help_behavior_hint="")] = math.inf,
    record: OptionalFile = None,
    set: Overrides = (),
    allow_outside: bool = False,
    json: bool = False,
) -> None:
    """Attempt every task file of a folder and print a table: family, robot, files, demonstrations, reasons.

    No images are drawn. A file is done after its first success. Missing assets are replaced by library objects, as
    with generate --proxy-assets. Repeating the command continues where it stopped; files that have changed are
    attempted again. Python code that a task names is never run by this command.

    Args:
        folder: The collection; folders inside are searched too. YAML files that are not tasks are skipped.
        attempts: Attempts per file, at most.
        processes: Worker processes; default one per core.
        seed: Seed of the attempts.
        only: Only files whose path contains this text, such as split_aloha/.
        limit: Seconds after which no new attempt starts. Default: no limit.
        record: JSON file of the attempts; repeating the command continues from it. Default: out/coverage_FOLDER.json.
        set: Overrides such as data.max_episode_length=500, applied to every file.
        allow_outside: Let tasks and their assets refer to files outside their own and surrounding folders and their
            asset root.
        json: Print one JSON object instead of the table.
    """
    if attempts < 1 or (processes is not None and processes < 1) or not limit > 0:
        raise InputError("--attempts and --processes must be at least 1, and --limit must be more than 0 s")
    forbid_code()
    tell_of_cold_kernels()
    record = record or Path("out") / f"coverage_{folder.resolve().name}.json"
    with _Display(record, quiet=json) as display:
        coverage = measure(
            folder,
            attempts=attempts,
            processes=processes or cores(),
            seed=seed,
            only=only,
            limit=limit,
            record=record,
            overrides=set,
            allow_outside=allow_outside,
            on_outcome=display.update,
        )
    if json:
        print(dumps(_values(coverage, folder, seed, attempts, record)))
    else:
        print(plain(_table(coverage)))
        print(plain(_ending(coverage, record)))


class _Display:
    """Shows how many files are done: a bar in a terminal, a line per file elsewhere."""

    def __init__(self, record: Path, *, quiet: bool) -> None:
        self.record, self.quiet = record, quiet
        console = Console(stderr=True, quiet=quiet)
        self.in_terminal = console.is_terminal
        self.progress = Progress(
            TextColumn("{task.description}"), BarColumn(bar_width=30), MofNCompleteColumn(), TimeElapsedColumn(),
            TimeRemainingColumn(), console=console, transient=True, disable=not self.in_terminal,
        )  # fmt: skip
        self.bar = self.progress.add_task("task files", total=None)
        self.told: set[str] | None = None
        """Number of files done so far; None before the first display."""

    def __enter__(self) -> "_Display":
        self.progress.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.progress.__exit__(None, None, None)

    def update(self, coverage: Coverage) -> None:
        """Show the files finished since the last call."""
        decided = {one.file.name: one for one in coverage.files if one.finished}
        words = f"task files, {coverage.runs} of {len(decided)} run"
        self.progress.update(self.bar, completed=len(decided), total=len(coverage.files), description=words)
        if self.told is None:
            self._say(f"{len(coverage.files)} task files" + _known(coverage, self.record))
            self.told = {name for name, one in decided.items() if one.file.mistake is None}
        for name in sorted(decided.keys() - self.told):
            if not self.in_terminal:
                self._say(_line(decided[name]))
        self.told |= decided.keys()

    def _say(self, text: str) -> None:
        if not self.quiet:
            self.progress.console.print(plain(text), markup=False, highlight=False, soft_wrap=True)


def _known(coverage: Coverage, record: Path) -> str:
    return f"; {coverage.known} attempts were read from {record}" if coverage.known else ""


def _line(one: FileCoverage) -> str:
    """Return a line about a file: whether it runs, in how many attempts, and the last reason."""
    if one.success:
        return f"ok    {one.file.name}" + (f" (attempt {len(one.outcomes)})" if len(one.outcomes) > 1 else "")
    last = one.outcomes[-1] if one.outcomes else None
    why = "not attempted yet" if last is None else f"{last.reason}: {last.detail}"
    short = " ".join(why.split())
    return f"fails {one.file.name}: {short if len(short) <= DETAIL else short[:DETAIL] + '...'}"


def _table(coverage: Coverage) -> str:
    """Return a row per family and robot."""
    rows = [("family", "robot", "files", "run", "reasons of files that do not")]
    for family, robot, files in coverage.rows():
        reasons = ", ".join(f"{count} {reason}" for reason, count in reasons_of(files).most_common())
        rows.append((family, robot, str(len(files)), str(sum(one.success for one in files)), reasons))
    widths = [max(len(row[k]) for row in rows) for k in range(4)]
    return "\n".join(
        f"{row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]:>{widths[3]}}  {row[4]}".rstrip()
        for row in rows
    )


def _ending(coverage: Coverage, record: Path) -> str:
    """Return the total, the files that fail, and the number of files left."""
    failed = [one for one in coverage.files if one.finished and not one.success]
    lines = [_line(one) for one in failed[:FAILURES_SHOWN]]
    if len(failed) > FAILURES_SHOWN:
        lines.append(f"... and {len(failed) - FAILURES_SHOWN} more; {record} has every attempt")
    lines.append(f"{coverage.runs} of {len(coverage.files)} task files produce a demonstration")
    left = sum(not one.finished for one in coverage.files)
    if left:
        lines.append(f"{left} are not done: the time limit was reached; the same command continues from {record}")
    if coverage.others:
        lines.append(f"{coverage.others} YAML files are not tasks and were skipped")
    return "\n".join(lines)


def _values(coverage: Coverage, folder: Path, seed: int, attempts: int, record: Path) -> dict[str, Any]:
    """Return the same figures for programs."""
    return {
        "coverage": str(folder),
        "seed": seed,
        "attempts": attempts,
        "record": str(record),
        "task_files": len(coverage.files),
        "run": coverage.runs,
        "undecided": sum(not one.finished for one in coverage.files),
        "other_yaml_files": coverage.others,
        "rows": [
            {
                "family": family,
                "robot": robot,
                "files": len(files),
                "run": sum(one.success for one in files),
                "reasons": dict(reasons_of(files).most_common()),
            }
            for family, robot, files in coverage.rows()
        ],
        "files": [
            {
                "file": one.file.name,
                "family": one.file.family,
                "robot": one.file.robot,
                "stand_ins": one.file.stand_ins,
                "success": one.success,
                "finished": one.finished,
                "outcomes": [asdict(outcome) for outcome in one.outcomes],
            }
            for one in coverage.files
        ],
    }
