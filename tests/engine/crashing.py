"""Work for the executor tests: functions that workers import by name."""

import os
import signal
import subprocess
import time
from pathlib import Path

from handloom.engine.executors.executor import say_alive


def square(value: int) -> int:
    return value * value


def die_once(path: str) -> str:
    """Kill the worker the first time, answer the second."""
    if not Path(path).exists():
        Path(path).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "alive"


def hang(value: int) -> int:
    if value == 1:
        time.sleep(60)
    return value


def segfault(_: int) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def told_to_stop(_: int) -> str:
    """Get the signals that a terminal, systemd or Slurm sends to a whole group."""
    for number in (signal.SIGTERM, signal.SIGINT):
        os.kill(os.getpid(), number)
    time.sleep(0.1)
    return "alive"


def end_a_child(_: int) -> int:
    child = subprocess.Popen(["sleep", "60"])
    child.terminate()
    return child.wait(30)


def get_on(steps: int) -> int:
    """Take long, and say after every step that it gets on."""
    for _ in range(steps):
        time.sleep(0.5)
        say_alive()
    return steps


class UnportableError(Exception):
    """An error that cannot be made again from its words alone."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} and {second}")


def fail(_: int) -> None:
    raise UnportableError("this", "that")


def nap(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


class Unloadable:
    """Pickles, and fails where it is read."""

    def __reduce__(self):
        return (_missing, ())

    def __call__(self, _: int) -> None:
        raise AssertionError("never received")


def _missing() -> None:
    raise ModuleNotFoundError("No module named 'handloom'")
