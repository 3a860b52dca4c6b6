"""Child processes for work that may crash, hang or exhaust memory: graphics drivers, untrusted files.

The readers of MuJoCo, USD and CoACD are native code. A file can make them allocate without end, never return, or crash.
``call_apart`` runs them in a child process with bounded time and memory, and returns their result.
"""

import atexit
import importlib
import os
import pickle
import resource
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from multiprocessing.connection import wait
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, NamedTuple

from handloom.errors import FileError, HandloomError

TIMEOUT = 60.0
"""Time limit for drawing an image or starting a child [s]."""
SECONDS = 15.0
"""CPU time that reading a file may take [s]."""
PATIENCE = 6.0
"""Wall-clock limit as a multiple of the CPU time, since the machine may be busy."""
MEMORY = 1_250_000_000
"""Memory limit while a file is read [bytes]."""
LARGE = 400_000_000
"""A child that still holds this much memory after a request [bytes] is replaced by a new one."""
LOOK = 0.5
"""Interval between checks of a slow child [s]."""
THREADS = 4
FOLLOWED = ("HANDLOOM_CACHE", "HOME", "XDG_CACHE_HOME")
"""Environment variables sent with every request, since readers look them up at each call."""
_SIZE = struct.Struct(">Q")


class Trial(NamedTuple):
    """Result of a trial."""

    error: str | None
    """The error, or None."""
    output: str
    """Output of the child."""


def run_trial(code: str, environment: Mapping[str, str] | None = None) -> Trial:
    """Run Python code in a child process, with extra environment variables."""
    try:
        child = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, **(environment or {})},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Trial(f"no answer after {TIMEOUT:.0f} s", "")
    if child.returncode == 0:
        return Trial(None, child.stdout + child.stderr)
    lines = child.stderr.strip().splitlines()
    return Trial(lines[-1] if lines else f"the trial ended with code {child.returncode}", child.stdout + child.stderr)


def call_apart(function: str, *arguments: Any, what: str, seconds: float = SECONDS, more: str = "") -> Any:
    """Call a function in a child process with bounded time and memory, and return its result.

    Args:
        function: ``module:function``.
        arguments: Values that can be pickled.
        what: Name of the input; error messages begin with it.
        seconds: Limit on its CPU time [s], or on wall-clock time if CPU time is unknown.
        more: Hint for the error message: how the user can grant more time.

    Raises:
        HandloomError: The function raised it.
        FileError: The function raised any other error, crashed, took too long or needed too much memory.
    """
    try:
        variables = {name: os.environ.get(name) for name in FOLLOWED}
        answer = _stage().call((function, arguments, os.getcwd(), variables, seconds), seconds)
    except TimeoutError as error:
        raise FileError(f"{what}: cannot be read in {seconds:g} s{more and '; '}{more}") from error
    if isinstance(answer, _Trouble):
        raise FileError(f"{what}: cannot be read: {answer.text}")
    if isinstance(answer, HandloomError):
        raise answer
    return answer


class _Trouble(NamedTuple):
    """How a call went wrong."""

    text: str


class _Stage:
    """The child process; it is reused, since starting one takes longer than reading most files."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._search_path: str | None = None
        self._lock = Lock()
        atexit.register(self._end)

    def call(self, request: Any, seconds: float) -> Any:
        """Return the child's answer, or the way in which it ended.

        Raises:
            TimeoutError: It did not appear in time.
        """
        with self._lock:
            child = self._started()
            assert child.stdin is not None
            try:
                with suppress(BrokenPipeError):
                    _send(child.stdin, request)
                answer, last = _received(child, seconds)
            except TimeoutError:
                self._end()
                raise
            except EOFError:
                code = self._end()
                how = f"crashed with {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
                return _Trouble(f"its reader {how}")
            if last:
                self._end()
            return answer

    def _started(self) -> "subprocess.Popen[bytes]":
        search_path = os.environ.get("PYTHONPATH")  # Read when Python starts: a change needs a new child.
        if self._child is not None and self._child.poll() is None and self._search_path == search_path:
            return self._child
        self._end()
        self._search_path = search_path
        self._child = subprocess.Popen(
            # -P: no imports from the working folder, which may hold the untrusted files.
            [sys.executable, "-P", "-m", "handloom.child_process"],
            env={**os.environ, "OMP_NUM_THREADS": str(min(THREADS, os.cpu_count() or 1)), "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        try:
            _received(self._child, TIMEOUT)
        except (EOFError, TimeoutError) as error:
            raise FileError(f"a process that reads files cannot be started: exit code {self._end()}") from error
        return self._child

    def _end(self) -> int:
        """End the child, if there is one, and return its exit code."""
        child, self._child = self._child, None
        if child is None:
            return 0
        for pipe in (child.stdin, child.stdout):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()
        try:
            return child.wait(0.5)
        except subprocess.TimeoutExpired:
            child.kill()
            return child.wait()


def _send(pipe: BinaryIO | Any, value: Any) -> None:
    content = pickle.dumps(value)
    pipe.write(_SIZE.pack(len(content)) + content)
    pipe.flush()


def _received(child: "subprocess.Popen[bytes]", seconds: float) -> Any:
    """Return the next value of the child.

    Raises:
        TimeoutError: It did not appear in time.
        EOFError: The child ends without one.
    """
    assert child.stdout is not None
    pipe, content, begun = child.stdout.fileno(), bytearray(), _worked(child.pid)
    end, last = time.monotonic() + seconds, time.monotonic() + PATIENCE * seconds
    while len(content) < _SIZE.size or len(content) < _SIZE.size + _SIZE.unpack_from(content)[0]:
        if not wait([pipe], max(0.05, min(end - time.monotonic(), LOOK))):
            if time.monotonic() < end or (time.monotonic() < last and _worked(child.pid) - begun < seconds):
                continue
            raise TimeoutError
        part = os.read(pipe, 1 << 20)
        if not part:
            raise EOFError
        content += part
    return pickle.loads(memoryview(content)[_SIZE.size :])


def _worked(pid: int) -> float:
    """Return the CPU time of a process [s]; infinite if unknown, so that only wall-clock time counts."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return float("inf")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@cache
def _stage() -> _Stage:
    return _Stage()


def _serve() -> None:
    """Serve requests in the child until there are no more."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # Keeps output of libraries out of the answers.
    for number in (signal.SIGINT, signal.SIGTERM):  # These reach the whole process group; the parent handles them.
        signal.signal(number, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _send(answers, None)
    while size := requests.read(_SIZE.size):
        function, arguments, folder, variables, seconds = pickle.loads(requests.read(_SIZE.unpack(size)[0]))
        signal.alarm(round(PATIENCE * seconds) + 5)  # In case the parent has died.
        os.chdir(folder)
        for name, value in variables.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})
        answer = _carried_out(function, arguments)
        last = _resident() > LARGE
        _send(answers, (answer, last))
        signal.alarm(0)
        if last:
            return


def _carried_out(function: str, arguments: tuple[Any, ...]) -> Any:
    module, _, name = function.partition(":")
    try:
        return getattr(importlib.import_module(module), name)(*arguments)
    except MemoryError:
        return _Trouble(f"it needs more than {MEMORY / 1e9:.2g} GB of memory")
    except HandloomError as error:
        return type(error)(str(error))  # Without its attributes, which may be large or impossible to pickle.
    except Exception as error:
        return _Trouble(f"{type(error).__name__}: {' '.join(str(error).split())[:500]}")


def _resident() -> int:
    """Return the resident memory of this process [bytes]; 0 if unknown."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0
    return pages * resource.getpagesize()


if __name__ == "__main__":
    # Under its own name, so that both sides pickle the same classes.
    importlib.import_module("handloom.child_process")._serve()
