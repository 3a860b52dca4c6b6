"""The interface of executors, the one that runs in this process, and a pool of worker processes."""

import multiprocessing
import os
import pickle
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from threading import Thread
from typing import Any, Protocol

from handloom.engine.executors.machine_faults import crash_fault
from handloom.errors import InputError, MachineError, StateError

MAX_TRIES = 3
"""Total number of tries of a work item that crashes its worker, after which it is recorded as failed."""
HANG_LIMIT = 900.0
"""Default wall time after which a worker that shows no progress counts as hung [s]."""


@dataclass(frozen=True)
class Finished:
    """A finished work item."""

    item: Any
    result: Any = None
    """Return value of the function."""
    crash: str = ""
    """Why there is no result: the worker died or hung; empty if there is a result."""
    fault: str = ""
    """Kind of machine fault that was the cause, see ``MachineError``; empty if the work itself was the cause."""


class Executor(Protocol):
    """Applies a function to items in any order. Results must not depend on which executor runs them."""

    workers: int
    """Number of items processed at the same time."""
    shares_files: bool
    """Whether workers see the folders of this process; if not, episodes are returned as results."""

    def run(self, function: Callable[[Any], Any], items: Iterator[Any]) -> Iterator[Finished]:
        """Yield one ``Finished`` per item; the next item is taken when a worker is free.

        Args:
            function: A function of one argument that can be pickled.
            items: Small picklable values; consumed lazily, so that the caller can stop by ending the iterator.
        """
        ...


class InlineExecutor:
    """Runs everything here, one item after the other."""

    workers = 1
    shares_files = True

    def run(self, function: Callable[[Any], Any], items: Iterator[Any]) -> Iterator[Finished]:
        """Yield one ``Finished`` per item, in order."""
        for item in items:
            try:
                yield Finished(item, function(item))
            except MachineError as error:
                yield _faulty(item, error)


def with_retries(executor: Executor, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Finished]:
    """Yield one ``Finished`` per item; if its worker is lost it is retried, ``MAX_TRIES`` times in all."""
    todo = list(items)
    for tries_left in reversed(range(MAX_TRIES)):
        lost = []
        for finished in executor.run(function, iter(todo)):
            if finished.crash and tries_left:
                lost.append(finished.item)
            else:
                yield finished
        todo = lost


def portable(error: Exception) -> Exception:
    """Return the error if it can be pickled, otherwise one that states its type and message."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return StateError(f"a worker failed with {type(error).__name__}: {error}")
    return error


ENVIRONMENT: dict[str, str] = {
    **dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"], "1"),
    "MALLOC_MMAP_THRESHOLD_": "1048576",
}
"""Environment of the workers. One worker uses one core: several threads in each of several workers would only compete
with each other. Blocks of a megabyte or more, such as those of a world, are returned to the system when they are
freed: by default, glibc starts to keep them, and fragmentation grows from attempt to attempt."""


START_UP = 180.0
"""Extra time for a worker before its first item: imports on a busy machine must not look like a hang [s]."""
GAP = 10.0
"""The workers are checked every second. If this much time has passed instead [s], the machine was suspended or this
process was stopped, together with the workers: that time does not count."""


@dataclass
class _Worker:
    process: BaseProcess
    pipe: Connection
    item: Any = None
    busy: bool = False
    begun: bool = False
    """Whether it has reported that it is working on its item; before that it imports and loads."""
    since: float = 0.0
    """When it received its item or last reported progress, by the monotonic clock [s]."""


class ProcessExecutor:
    """Spawned workers, each with one item at a time.

    Args:
        workers: Number of workers.
        timeout: Wall time without progress after which a worker counts as hung and is killed [s].
    """

    shares_files = True

    def __init__(self, workers: int, *, timeout: float = HANG_LIMIT) -> None:
        if workers < 1:
            raise InputError(f"a run needs at least 1 worker, got {workers}")
        if not timeout > 0:
            raise InputError(f"an attempt needs some time before it counts as hung, got {timeout:g} s")
        self.workers = workers
        self.timeout = timeout

    def run(self, function: Callable[[Any], Any], items: Iterator[Any]) -> Iterator[Finished]:
        """Yield one ``Finished`` per item as they complete; a dead or hung worker gives one with ``crash`` set."""
        pool: list[_Worker] = []
        try:
            while True:
                self._hand_out(function, items, pool)
                busy = [worker for worker in pool if worker.busy]
                if not busy:
                    return
                yield from self._collect(busy, pool)
        finally:
            for worker in pool:
                _end(worker)

    def _hand_out(self, function: Callable[[Any], Any], items: Iterator[Any], pool: list[_Worker]) -> None:
        """Give every free worker an item, starting workers as long as there is work for them."""
        while True:
            free = next((worker for worker in pool if not worker.busy), None)
            if free is None and len(pool) >= self.workers:
                return
            try:
                item = next(items)
            except StopIteration:
                return
            if free is None:
                free = _start(function)
                pool.append(free)
            free.item, free.busy, free.begun, free.since = item, True, False, time.monotonic()
            with suppress(OSError):  # A worker that died while idle is noticed when waiting for its answer.
                free.pipe.send(item)

    def _collect(self, busy: list[_Worker], pool: list[_Worker]) -> Iterator[Finished]:
        """Wait for an event, then yield the items that finished and those whose worker died."""
        looked = time.monotonic()
        ready = wait([w.pipe for w in busy] + [w.process.sentinel for w in busy], timeout=1.0)
        gap = time.monotonic() - looked
        for worker in busy:
            worker.since += gap if gap > GAP else 0.0
            if worker.pipe in ready or worker.process.sentinel in ready:
                finished = self._received(worker, pool)
                if finished is not None:
                    yield finished
            elif time.monotonic() - worker.since > (self.timeout if worker.begun else self.timeout + START_UP):
                worker.process.kill()
                pool.remove(worker)
                crash = f"no result after {self.timeout:.0f} s of wall time"
                yield Finished(worker.item, crash=crash, fault="time")

    def _received(self, worker: _Worker, pool: list[_Worker]) -> Finished | None:
        """Return the item that a worker finished; None if it has only reported its start."""
        try:
            kind, value = worker.pipe.recv()
        except (EOFError, OSError):
            worker.process.join(5.0)
            pool.remove(worker)
            code = worker.process.exitcode
            # A worker that ended before it reported its start had not touched its item yet.
            return Finished(worker.item, crash=_cause(code), fault=crash_fault(code) if worker.begun else "devices")
        if kind == "begun":
            worker.begun, worker.since = True, time.monotonic()
            return None
        worker.busy = False
        if isinstance(value, MachineError):
            pool.remove(worker)  # Its remaining locks and half-written files are harmless.
            _end(worker)
            return _faulty(worker.item, value)
        if kind == "error":
            raise value
        return Finished(worker.item, value)


def _start(function: Callable[[Any], Any]) -> _Worker:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    before = {name: os.environ.get(name) for name in ENVIRONMENT}
    os.environ.update(ENVIRONMENT)
    # The worker inherits this: signals to the whole group wait until it has installed its handlers.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, WIND_DOWN)
    try:
        process = context.Process(target=_work, args=(there, function), daemon=True)
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
    there.close()
    return _Worker(process, here)


WIND_DOWN = (signal.SIGINT, signal.SIGTERM)
"""Signals on which the parent lets its workers finish; a terminal, systemd or Slurm sends them to all processes."""

_to_parent: list[Connection] = []
"""In a worker: the pipe to its parent."""


def say_alive() -> None:
    """Report progress from within the work on an item, which restarts its time limit."""
    for pipe in _to_parent:
        pipe.send(("begun", None))


def _work(pipe: Connection, function: Callable[[Any], Any]) -> None:
    """Run items until the parent is gone; Ctrl-C and SIGTERM are left to the parent."""
    _to_parent[:] = [pipe]
    for number in WIND_DOWN:
        # Not SIG_IGN: processes started by a source would inherit it and could no longer be terminated.
        signal.signal(number, lambda *_: None)
        signal.siginterrupt(number, False)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, WIND_DOWN)
    Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            item = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            say_alive()
            answer = ("result", function(item))
        except Exception as error:
            answer = ("error", portable(error))
        try:
            pipe.send(answer)
        except OSError:
            return


def _end_with_parent() -> None:
    """End this worker if its parent was killed: the next run repeats its unfinished work."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _faulty(item: Any, error: MachineError) -> Finished:
    return Finished(item, crash=str(error), fault=error.kind)


def _end(worker: _Worker) -> None:
    worker.pipe.close()
    worker.process.join(0.5 if not worker.busy else 0.0)
    if worker.process.is_alive():
        worker.process.kill()
        worker.process.join()


def _cause(exitcode: int | None) -> str:
    if exitcode is not None and exitcode < 0:
        name = signal.Signals(-exitcode).name
        hint = " (out of memory?)" if name == "SIGKILL" else ""
        return f"the worker was ended by {name}{hint}"
    return f"the worker exited with code {exitcode}"
