"""``kill -9`` at any moment, then the same command again: the dataset an undisturbed run would have written."""

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = [
    *(sys.executable, "-m", "handloom", "generate", "fr3_pick_cube", "-n", "5", "--workers", "2", "--unit-size", "1"),
    *("--set", "cameras.0.size=[32, 32]", "cameras.1.size=[32, 32]"),
]
MOMENTS = 20


def digest(run: Path) -> dict[str, str]:
    """Return the hash of every file of the dataset: data, videos, archives, statistics."""
    files = sorted(file for file in (run / "dataset").rglob("*") if file.is_file())
    return {str(file.relative_to(run)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def start(run: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*COMMAND, "-o", str(run)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    )


def finish(process: subprocess.Popen[bytes]) -> int:
    _, error = process.communicate()
    assert b"Traceback" not in error, error.decode()
    return process.returncode


def one_worker_of(process: subprocess.Popen[bytes], chance: random.Random) -> int | None:
    """Return the process id of a worker, if one is there by now."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    workers = []
    for pid in map(int, children.read_text().split()):
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            workers += [pid] if b"spawn_main" in file.read() else []
    return chance.choice(workers) if workers else None


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="finds workers in /proc")
def test_killed_runs_end_with_the_same_bytes(tmp_path):
    begin = time.monotonic()
    assert finish(start(tmp_path / "undisturbed")) == 0
    duration = time.monotonic() - begin
    expected = digest(tmp_path / "undisturbed")
    assert sum("states.npz" in name for name in expected) == 5
    chance = random.Random(0)
    for trial in range(MOMENTS):
        run = tmp_path / f"killed_{trial}"
        process = start(run)
        moment = chance.uniform(0.0, duration)
        time.sleep(moment)
        who = ("a worker", "the parent", "everything")[trial % 3]
        killed = one_worker_of(process, chance) if who == "a worker" and process.poll() is None else None
        if killed is not None:
            os.kill(killed, signal.SIGKILL)
            assert finish(process) == 0, "a run survives the loss of a worker"
        elif who == "everything":
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        else:
            process.kill()  # its workers notice and end
            process.communicate()
        assert finish(start(run)) == 0
        assert digest(run) == expected
        left = [folder.name for folder in run.glob("episodes/*")]
        assert all(name > "episode_000004" and "partial" not in name for name in left), "only attempts beyond the goal"
        sys.stdout.write(f"{moment:5.1f} s: {who} killed, {len(expected)} files with the same bytes\n")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_finishes_what_it_does_and_says_how_to_go_on(number, tmp_path):
    run = tmp_path / "run"
    process = start(run)
    while not list(run.glob("journal/*")):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(number)
    _, error = process.communicate()
    assert process.returncode == 1
    assert b"go on with: handloom generate fr3_pick_cube -n 5" in error
    assert 1 <= len(list(run.glob("episodes/episode_*"))) < 5
    assert finish(start(run)) == 0
    assert sum("states.npz" in name for name in digest(run)) == 5
