"""``handloom verify RUN``: replay every episode and compare the bits."""

from json import dumps
from pathlib import Path

import tyro
from rich.console import Console
from rich.progress import track

from handloom.cli.generate import cores
from handloom.cli.plain import plain
from handloom.config import own_code
from handloom.dataset import check_layout
from handloom.engine import InlineExecutor, ProcessExecutor, verify_dataset
from handloom.engine.verify import archives_of, dataset_of
from handloom.errors import FileError

MOST_FAULTS = 100
"""Faults that are told to people; machines get all of them."""


def run(
    path: tyro.conf.Positional[Path], *, workers: int | None = None, allow_code: bool = False, json: bool = False
) -> int:
    """Simulate every episode of a dataset again, compare all states bit for bit, judge again, and check every file.

    Args:
        path: A run folder or a dataset.
        workers: Worker processes; default one per core; 0 runs in this process.
        allow_code: Run Python code that the archives name, such as an object my_module:my_function.
        json: Print one JSON object instead of a table.
    """
    if allow_code:
        own_code.allow_code()
    faults = [str(fault) for fault in check_layout(dataset_of(path))]
    try:
        total = len(archives_of(path))
    except FileError:  # The faults say why.
        total = 0
    count = workers if workers is not None else min(cores(), max(total, 1))
    executor = InlineExecutor() if count == 0 else ProcessExecutor(count)
    console = Console(stderr=True, quiet=json)
    replays = verify_dataset(path, executor) if total else ()
    verdicts = list(track(replays, "replaying", total=total, console=console, transient=True))
    verdicts.sort(key=lambda verdict: verdict.episode)
    good = sum(verdict.good for verdict in verdicts)
    if json:
        rows = [{"episode": v.episode, "verdict": v.verdict, "frames": v.frames, "detail": v.detail} for v in verdicts]
        print(dumps({"episodes": total, "verified": good, "faults": faults, "rows": rows}))
    else:
        for verdict in verdicts:
            if verdict.verdict != "exact":
                print(plain(f"{verdict.episode}  {verdict.verdict}: {verdict.detail}"))
        for fault in faults[:MOST_FAULTS]:
            print(plain(f"fault: {fault}"))
        if len(faults) > MOST_FAULTS:
            print(f"and {len(faults) - MOST_FAULTS} more faults")
        exact = sum(verdict.verdict == "exact" for verdict in verdicts)
        print(
            f"{exact} of {total} episodes replay bit for bit"
            + (f", {good - exact} within tolerance" if good > exact else "")
        )
    return 0 if total and good == total and not faults else 1
