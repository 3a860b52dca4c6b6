"""Runs verbs in processes of their own with bounded memory and CPU time, and measures what they used.

As a program it is the process they are forked from, so that importing everything is paid for once.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MEMORY = 6 * 2**30
"""More than this a verb cannot have; what it may have is for the tests to say [bytes]."""
PROCESSOR_S = 60
WALL_S = 300
MODULES = ("dataset", "report")


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of a verb."""

    code: int
    """Exit code; minus the signal that ended it."""
    out: str
    error: str
    peak_bytes: int
    """Largest resident memory."""
    cpu_s: float
    wall_s: float

    @property
    def crashed(self) -> bool:
        """Whether it ended in any other way than with an answer."""
        return "Traceback" in self.error + self.out or self.code not in (0, 1, 2)


class VerbRunner:
    """Runs verbs one after the other."""

    def __init__(self) -> None:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "COLUMNS": "200"}
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def __enter__(self) -> "VerbRunner":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def run(self, words: list[str], folder: Path) -> Outcome:
        """Run ``handloom words...`` with ``folder`` as the working folder."""
        self._process.stdin.write(json.dumps({"words": words, "folder": str(folder)}) + "\n")
        self._process.stdin.flush()
        return Outcome(**json.loads(self._process.stdout.readline()))


def serve() -> None:
    import importlib

    from handloom.engine.warmup import compile_step

    for name in MODULES:
        importlib.import_module(f"handloom.cli.datasets.{name}")
    compile_step("drawing")  # Loads what every verb that draws or simulates would load in its own process.
    for line in sys.stdin:
        sys.stdout.write(json.dumps(forked(**json.loads(line))) + "\n")
        sys.stdout.flush()


def forked(words: list[str], folder: str) -> dict[str, Any]:
    """Run a verb in a child and wait for it."""
    logs = [Path(folder) / f"verb.{name}" for name in ("out", "err")]
    begin = time.monotonic()
    child = os.fork()
    if child == 0:
        work(words, folder, logs)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
    signal.alarm(WALL_S)
    _, status, used = os.wait4(child, 0)
    signal.alarm(0)
    texts = [log.read_text(errors="replace") for log in logs]
    return {
        "code": os.waitstatus_to_exitcode(status),
        "out": texts[0],
        "error": texts[1],
        "peak_bytes": used.ru_maxrss * 1024,
        "cpu_s": used.ru_utime + used.ru_stime,
        "wall_s": time.monotonic() - begin,
    }


def work(words: list[str], folder: str, logs: list[Path]) -> None:
    """Be the child: run a verb and leave."""
    from handloom.cli.main import main

    code = 70
    try:
        os.chdir(folder)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number, log in zip((1, 2), logs, strict=True):
            os.dup2(os.open(log, os.O_CREAT | os.O_TRUNC | os.O_WRONLY), number)
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_S, PROCESSOR_S))
        code = main(words)
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 70
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    serve()
