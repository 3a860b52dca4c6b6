"""A disk that takes no more ends a run with one message; the same command goes on when there is room."""

import os
import resource
import subprocess
import sys
from pathlib import Path

from rest_task import REST

COMMAND = [
    *(sys.executable, "-m", "handloom", "generate", "rest.yaml", "-n", "2", "--workers", "1", "--unit-size", "1"),
]


def generate(run: Path, *, largest_file: int | None) -> subprocess.CompletedProcess[str]:
    # A limit on the size of files makes the system refuse writes as a full disk does, without filling one.
    def limit() -> None:
        if largest_file is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

    (run.parent / "rest.yaml").write_text(REST)
    # Where the disk is full it is a worker that notices; with room enough a worker would only cost its start.
    executor = "inline" if largest_file is None else "process"
    command = [*COMMAND, "-o", str(run), "--executor", executor]
    # Python does not notice that bytecode was cut off at the limit, and every later import would fail.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        command, cwd=run.parent, env=environment, preexec_fn=limit, capture_output=True, text=True, check=False
    )


def test_a_full_disk_ends_the_run_with_one_message_and_nothing_half_written(tmp_path):
    run = tmp_path / "run"
    full = generate(run, largest_file=4_000)
    assert full.returncode == 2
    (message,) = full.stderr.strip().splitlines()
    assert message.startswith("handloom generate: cannot write")
    assert "exceed the allowed file size" in message
    assert not (run / "dataset").exists()
    assert not list((run / "episodes").glob("episode_*"))
    enough = generate(run, largest_file=None)
    assert enough.returncode == 0, enough.stderr
    assert len(list((run / "dataset" / "extras").iterdir())) == 2
