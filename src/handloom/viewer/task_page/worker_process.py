"""Parent side of the task page's child process: starts it, sends requests, stops it."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import wait
from typing import Any

from handloom.errors import StateError
from handloom.viewer.scene3d.container import event, sized, unpacked

PATIENCE = 120.0
"""Time limit for starting the child [s]; a machine that has never run Handloom compiles its kernels first."""
BEAT = 0.5
"""Interval of the keep-alive events to a waiting page [s]."""
LAST_WORDS = 3.0
"""Time a child has to cancel its work before it is killed [s]."""
QUEUE = 20.0
"""Time for which a request waits for the previous one [s]."""


class WorkerProcess:
    """A child process that is kept between requests, since starting it takes longer than most requests."""

    def __init__(self) -> None:
        self._children: list[subprocess.Popen[bytes]] = []
        self._lock = threading.Lock()
        # Nothing else would stop the child when the program or its page ends.
        self._finalizer = weakref.finalize(self, _end, self._children)

    @property
    def child(self) -> "subprocess.Popen[bytes] | None":
        """The child, if there is one."""
        return self._children[-1] if self._children else None

    def ask(self, request: dict[str, Any], *, seconds: float, instead: bool = False) -> Iterator[bytes]:
        """Yield the events of a request, each preceded by its length; closing the iterator stops the work.

        The last event is ``done``. ``beat`` events are keep-alives.

        Args:
            request: The request.
            seconds: Time limit [s].
            instead: Stop an earlier request; otherwise this one waits for it.
        """
        if instead and self._lock.locked():
            self._interrupt()
        if not self._lock.acquire(timeout=QUEUE):
            raise StateError("the previous request is still running; try again")
        try:
            yield from self._answers(request, time.monotonic() + seconds, seconds)
        finally:
            self._lock.release()

    def close(self) -> None:
        """End the child."""
        _end(self._children)

    def _answers(self, request: dict[str, Any], end: float, seconds: float) -> Iterator[bytes]:
        finished = False
        try:
            child = self._started()
            assert child.stdin is not None
            child.stdin.write(json.dumps(request).encode() + b"\n")
            child.stdin.flush()
            while not finished:
                content = _next_event(child, min(BEAT, end - time.monotonic()))
                if content is None and time.monotonic() >= end:
                    text = f"this took longer than {seconds:.0f} s and was stopped; handloom generate has no such limit"
                    yield sized(event("fault", text=text))
                    break
                finished = content is not None and _kind(content) == "done"
                if not finished:
                    yield sized(event("beat") if content is None else content)
        except (BrokenPipeError, EOFError):
            code = None if self.child is None else self.child.wait()
            yield sized(event("fault", text=f"the worker process ended with code {code}; try again"))
            self.close()
            finished = True
        finally:
            if not finished:
                self._stop()
        yield sized(event("done"))

    def _stop(self) -> None:
        """Cancel the child's work; kill it if it does not respond."""
        child = self.child
        if child is None:
            return
        self._interrupt()
        last = time.monotonic() + LAST_WORDS
        try:
            while time.monotonic() < last:
                content = _next_event(child, last - time.monotonic())
                if content is not None and _kind(content) == "done":
                    return
        except EOFError:
            pass
        self.close()

    def _interrupt(self) -> None:
        child = self.child
        if child is not None:
            with suppress(OSError):
                child.send_signal(signal.SIGUSR1)

    def _started(self) -> "subprocess.Popen[bytes]":
        if self.child is not None and self.child.poll() is None:
            return self.child
        self.close()
        child = subprocess.Popen(
            # Not from the working folder, which may contain untrusted modules.
            [sys.executable, "-P", "-m", "handloom.viewer.task_page.task_worker"],
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._children.append(child)
        try:
            first = _next_event(child, PATIENCE)
        except EOFError as error:
            raise StateError("the process that samples scenes cannot be started; try handloom doctor") from error
        if first is None:
            self.close()
            raise StateError(f"the process that samples scenes did not start in {PATIENCE:.0f} s")
        return child


def _end(children: "list[subprocess.Popen[bytes]]") -> None:
    """End child processes and forget them."""
    while children:
        child = children.pop()
        child.kill()
        child.wait()
        for pipe in (child.stdin, child.stdout):
            assert pipe is not None
            with suppress(OSError):
                pipe.close()


def _kind(content: bytes) -> str:
    return str(unpacked(content)[0]["kind"])


def _next_event(child: "subprocess.Popen[bytes]", seconds: float) -> bytes | None:
    """Return the next event, or None if none starts within a few seconds.

    Raises:
        EOFError: The child ended.
    """
    assert child.stdout is not None
    pipe = child.stdout.fileno()
    if not wait([pipe], max(0.0, seconds)):
        return None
    return _read(pipe, int.from_bytes(_read(pipe, 4), "little"))


def _read(pipe: int, count: int) -> bytes:
    content = bytearray()
    while len(content) < count:
        part = os.read(pipe, min(count - len(content), 1 << 20))
        if not part:
            raise EOFError
        content += part
    return bytes(content)
