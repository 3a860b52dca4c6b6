"""``bench scale``: merging, resuming, growing, reporting, verifying and viewing a run, each in its own process."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from handloom.bench.datasets.repeated_episodes import make_attempts, write_task
from handloom.bench.result import BenchResult
from handloom.dataset.lerobot.file_list import read_list
from handloom.engine.runs.run_directory import RunDirectory
from handloom.engine.runs.run_settings import RunSettings
from handloom.errors import MachineError
from handloom.tasks import load_task

DISTINCT = 300
"""Real episodes; a file system allows 65,000 links to a file, which bounds the attempts at 19 million."""
ADDED = 10
"""Attempts added to the finished run."""
SAMPLE = 50
"""Episodes replayed by ``verify --sample``."""

CERTIFY = """
import sys
from pathlib import Path
from handloom.engine.lineage import write_certificate
write_certificate(Path(sys.argv[1]))
"""
VIEW = """
import sys
from pathlib import Path
from handloom.viewer.episode_source import DatasetSource
source = DatasetSource("dataset", "dataset", Path(sys.argv[1]))
last = source.table().count - 1
source.oddness()
assert source.frames(last).num_rows and source.archive(last).instance["episode"] == last
"""
READ = """
import random, sys
from handloom.dataset import DatasetReader
dataset = DatasetReader(sys.argv[1])
for index in random.Random(0).sample(range(dataset.episode_count), 20):
    assert dataset.frames(index) and dataset.archive(index).instance["episode"] == index
"""


def run(*, attempts: int = 2000) -> BenchResult:
    """Measure in CPU time, with wall time and the machine's load beside it.

    Each step is a command in a process of its own, whose start counts.

    Args:
        attempts: Size of the run. A million needs 40 GB in the folder for temporary files (``TMPDIR``).
    """
    with tempfile.TemporaryDirectory(prefix="scale-") as name:
        folder = Path(name)
        task, place = write_task(folder), folder / "run"
        directory = RunDirectory.begin(place, RunSettings.of_task(load_task(str(task)), seed=0, render="none"))
        begin = time.perf_counter(), time.process_time()
        make_attempts(directory, attempts, distinct=DISTINCT)
        spent = {"wall_s": time.perf_counter() - begin[0], "cpu_s": time.process_time() - begin[1]}
        rows = [{"name": "make the episodes", **spent}]
        rows += _rows(task, place, attempts)
    return BenchResult(bench="scale", rows=tuple(rows))


def _rows(task: Path, place: Path, attempts: int) -> list[dict[str, Any]]:
    generate = ["generate", str(task), "--render", "none", "--executor", "inline", "-o", str(place), "--attempts"]
    dataset, alone = place / "dataset", place.parent / "dataset"
    rows = [_measured("merge", [*generate, str(attempts)])]
    rows[0]["cpu_ms_per_episode"] = 1e3 * rows[0]["cpu_s"] / attempts
    rows[0] |= _size(dataset)
    rows.append(_measured("resume, no work left", [*generate, str(attempts)]))
    rows.append(_measured(f"add {ADDED} episodes", [*generate, str(attempts + ADDED)]))
    rows.append(_measured("report", ["report", str(place)]))
    rows.append(_measured("certificate", ["-c", CERTIFY, str(place)]))
    # Beside its run, scenes would be compared with those that the task gives, which repeated episodes do not have.
    dataset.rename(alone)
    sample = ["--sample", str(min(SAMPLE, attempts)), "--seed", "0", "--workers", "0"]
    rows.append(_measured(f"verify --sample {SAMPLE}", ["verify", str(alone), *sample]))
    rows.append(_measured("open in the viewer", ["-c", VIEW, str(alone)]))
    rows.append(_measured("read 20 random episodes", ["-c", READ, str(alone)]))
    return rows


def _measured(name: str, words: Sequence[str]) -> dict[str, Any]:
    """Run a command line, or code, in a new process; return what it took.

    Raises:
        MachineError: It failed.
    """
    command = [sys.executable, *([] if words[0] == "-c" else ["-m", "handloom"]), *words]
    begin, load = time.perf_counter(), os.getloadavg()[0]
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        said = output.read().decode(errors="replace")
    if child.returncode:
        raise MachineError(f"{name} ended with {child.returncode}: {said[-2000:]}")
    return {
        "name": name,
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "system_s": usage.ru_stime,
        "wall_s": time.perf_counter() - begin,
        "load": max(load, os.getloadavg()[0]),
        "peak_gb": usage.ru_maxrss * 1024 / 1e9,
    }


def _size(dataset: Path) -> dict[str, Any]:
    """Return the number of files of a dataset and their size."""
    listing = read_list(dataset)
    return {"files": len(listing) + 1, "gb": sum(entry["bytes"] for entry in listing.values()) / 1e9}
