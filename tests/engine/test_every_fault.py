"""200 attempts of which 20 fail in every way: 180 episodes, 20 typed reasons, and the same bytes after kills."""

import hashlib
import importlib
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from handloom.engine import RunDirectory

sys.path.insert(0, str(Path(__file__).parent))
faulty_source = importlib.import_module("faulty_source")

pytestmark = pytest.mark.slow
ATTEMPTS = int(os.environ.get("HANDLOOM_FAULT_ATTEMPTS", "200"))
"""Fewer take less time; attempts that fail come from the seventh on, every ninth."""


def start(folder: Path, task: Path) -> "subprocess.Popen[str]":
    words = [
        "generate",
        str(task),
        "--attempts",
        str(ATTEMPTS),
        "-o",
        str(folder),
        "--render",
        "none",
        "--workers",
        "2",
    ]
    words += ["--source", "faulty_source:Every", "--skip-stuck", "--attempt-seconds", "20"]
    marks = folder.with_name(f"{folder.name}_marks")
    marks.mkdir(exist_ok=True)
    paths = [str(Path(__file__).parent), *filter(None, sys.path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), faulty_source.MARKS: str(marks)}
    command = [sys.executable, "-m", "handloom", *words]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def digest(folder: Path) -> dict[str, str]:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def outcomes(folder: Path) -> dict[int, str]:
    return {episode: receipt.reason for episode, receipt in RunDirectory.open(folder).receipts().items()}


def test_every_fault_is_a_typed_reason_and_a_killed_run_ends_with_the_same_bytes(tmp_path: Path):
    task = tmp_path / "turn_wrist.yaml"
    task.write_text(faulty_source.TASK)
    process = start(tmp_path / "run", task)
    out, error = process.communicate()
    assert process.returncode == 0, error
    assert "Traceback" not in error
    faults = {k: str(name).split()[0] for k, name in faulty_source.Every.faults.items() if isinstance(name, str)}
    expected = {k: faults.get(k, "") for k in range(ATTEMPTS)}
    assert outcomes(tmp_path / "run") == expected
    if ATTEMPTS == 200:
        assert Counter(bool(reason) for reason in expected.values()) == {False: 180, True: 20}
    assert len(list((tmp_path / "run" / "dataset" / "extras").iterdir())) == list(expected.values()).count("")
    sys.stdout.write(out)

    killed = tmp_path / "killed"
    for share in (0.2, 0.7):
        process = start(killed, task)
        while process.poll() is None and (not killed.exists() or len(lines(killed)) < share * ATTEMPTS):
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    process = start(killed, task)
    _, error = process.communicate()
    assert process.returncode == 0, error
    assert outcomes(killed) == expected
    assert digest(killed / "dataset") == digest(tmp_path / "run" / "dataset")


def lines(folder: Path) -> list[str]:
    return [line for file in (folder / "journal").glob("*") for line in file.read_text().splitlines()]
