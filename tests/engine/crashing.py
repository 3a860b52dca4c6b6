"""Work for the executor tests: functions that workers import by name."""

import os
import signal
import time
from pathlib import Path


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
