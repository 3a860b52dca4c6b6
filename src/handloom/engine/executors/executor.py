"""Who runs work: the interface of executors, the one in this process, and a pool of worker processes."""

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
"""Worker crashes that one work item may cause before it is recorded as failed: so many tries in all."""
HANG_LIMIT = 900.0
"""Wall time after which a worker that gives no sign of progress counts as hung, unless told otherwise [s]."""


@dataclass(frozen=True)
class Finished:
    """An item that was worked on."""

    item: Any
    result: Any = None
    """What the function returned."""
    crash: str = ""
    """Why there is no result: the worker died or hung; empty when there is one."""
    fault: str = ""
    """Kind of fault of the machine that was to blame, see ``MachineError``; empty when the work itself was."""


class Executor(Protocol):
    """Applies a function to items in any order. Results must not depend on which executor runs them."""

    workers: int
    """How many items are worked on at the same time."""
    shares_files: bool
    """Whether workers see the folders of this process; where they do not, episodes come back as results."""

    def run(self, function: Callable[[Any], Any], items: Iterator[Any]) -> Iterator[Finished]:
        """Yield one ``Finished`` per item; the next item is taken when a worker is free.

        Args:
            function: A function of one argument that can be pickled.
            items: Small picklable values; taken lazily, so that the caller can stop by ending the iterator.
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
    """Yield one ``Finished`` per item; one whose worker was lost is tried again by another, ``MAX_TRIES`` in all."""
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
    """Return the error if it can be pickled, else one that says its type and message."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return StateError(f"a worker failed with {type(error).__name__}: {error}")
    return error


ENVIRONMENT: dict[str, str] = {
    **dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"], "1"),
    "MALLOC_MMAP_THRESHOLD_": "1048576",
}
"""What workers are started with. One worker uses one core: several threads in each of several workers only get in each
other's way. Blocks of a megabyte and more, such as a world's, go back to the system when they are freed: left to
itself, glibc takes to keeping them, and the holes between what stays grow from attempt to attempt."""


START_UP = 180.0
"""Further time a worker gets before it begins: imports on a busy machine must not look like a hang [s]."""
GAP = 10.0
"""The workers are checked every second. When so much time passed instead [s], the machine was suspended or this
process was stopped, and so were they: that time does not count."""


@dataclass
class _Worker:
    process: BaseProcess
    pipe: Connection
    item: Any = None
    busy: bool = False
    begun: bool = False
    """Whether it has said that it works on its item; before that it imports and loads."""
    since: float = 0.0
    """When it got its item or last said that it gets on, by the monotonic clock [s]."""


class ProcessExecutor:
    """Spawned workers, one item each at a time.

    Args:
        workers: How many.
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
        """Yield one ``Finished`` per item as they come; a dead or hung worker gives one with ``crash`` set."""
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
            with suppress(OSError):  # One that died while it was idle is found when its answer is waited for.
                free.pipe.send(item)

    def _collect(self, busy: list[_Worker], pool: list[_Worker]) -> Iterator[Finished]:
        """Wait until something happens and yield what finished or died."""
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
        """Return what a worker finished; None if it has only reported its start."""
        try:
            kind, value = worker.pipe.recv()
        except (EOFError, OSError):
            worker.process.join(5.0)
            pool.remove(worker)
            code = worker.process.exitcode
            # One that ended before it began had not looked at its item yet.
            return Finished(worker.item, crash=_cause(code), fault=crash_fault(code) if worker.begun else "devices")
        if kind == "begun":
            worker.begun, worker.since = True, time.monotonic()
            return None
        worker.busy = False
        if isinstance(value, MachineError):
            pool.remove(worker)  # What it still holds, or has half made, is in no one's way.
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
    # The worker inherits this: signals to the whole group wait until it has said what it does with them.
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
"""Signals after which the parent lets its workers finish; a terminal, systemd or Slurm sends them to all processes."""

_to_parent: list[Connection] = []
"""In a worker: the pipe to its parent."""


def say_alive() -> None:
    """Say, from within the work on an item, that it gets on: from here on it has the whole time limit again."""
    for pipe in _to_parent:
        pipe.send(("begun", None))


def _work(pipe: Connection, function: Callable[[Any], Any]) -> None:
    """Run items until the parent goes away; Ctrl-C and SIGTERM are the parent's to handle."""
    _to_parent[:] = [pipe]
    for number in WIND_DOWN:
        # Not SIG_IGN, which processes that a source starts would inherit: they could no longer be terminated.
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
    """End this worker when its parent was killed: what it would still finish, the next run makes again."""
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
