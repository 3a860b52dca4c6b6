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
    *(sys.executable, "-m", "handloom", "generate", "fr3_pick_cube", "-n", "6", "--workers", "2", "--unit-size", "1"),
    *("--set", "cameras.0.size=[48, 48]", "cameras.1.size=[48, 48]"),
]


def digest(run: Path) -> dict[str, str]:
    files = [*(run / "dataset" / "data").rglob("*.parquet"), *(run / "dataset" / "extras").rglob("states.npz")]
    return {str(f.relative_to(run)): hashlib.sha256(f.read_bytes()).hexdigest() for f in sorted(files)}


def generate(run: Path) -> None:
    subprocess.run([*COMMAND, "-o", str(run)], check=True, capture_output=True)


@pytest.mark.slow
def test_killed_runs_end_with_the_same_bytes(tmp_path):
    generate(tmp_path / "undisturbed")
    expected = digest(tmp_path / "undisturbed")
    assert len(expected) == 7
    moments = random.Random(0)
    for trial in range(6):
        run = tmp_path / f"killed_{trial}"
        process = subprocess.Popen(
            [*COMMAND, "-o", str(run)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        time.sleep(moments.uniform(0.5, 12.0))
        if trial % 2:
            os.killpg(process.pid, signal.SIGKILL)  # the whole run
        else:
            process.kill()  # the parent alone; its workers notice and end
        process.wait()
        generate(run)
        assert digest(run) == expected
