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
from typing import Any, Protocol

from handloom.errors import InputError, StateError

MAX_TRIES = 3
"""Worker crashes that one work item may cause before it is recorded as failed: so many tries in all."""


@dataclass(frozen=True)
class Finished:
    """An item that was worked on."""

    item: Any
    result: Any = None
    """What the function returned."""
    crash: str = ""
    """Why there is no result: the worker died or hung; empty when there is one."""


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
            yield Finished(item, function(item))


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


@dataclass
class _Worker:
    process: BaseProcess
    pipe: Connection
    item: Any = None
    busy: bool = False
    begun: bool = False
    """Whether it has said that it works on its item; before that it imports and loads."""
    since: float = 0.0


class ProcessExecutor:
    """Spawned workers, one item each at a time.

    Args:
        workers: How many.
        timeout: Wall time after which a worker counts as hung and is killed [s].
    """

    shares_files = True

    def __init__(self, workers: int, *, timeout: float = 900.0) -> None:
        if workers < 1:
            raise InputError(f"a run needs at least 1 worker, got {workers}")
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
        ready = wait([w.pipe for w in busy] + [w.process.sentinel for w in busy], timeout=1.0)
        for worker in busy:
            if worker.pipe in ready or worker.process.sentinel in ready:
                finished = self._received(worker, pool)
                if finished is not None:
                    yield finished
            elif time.monotonic() - worker.since > (self.timeout if worker.begun else self.timeout + START_UP):
                worker.process.kill()
                pool.remove(worker)
                yield Finished(worker.item, crash=f"no result after {self.timeout:.0f} s of wall time")

    def _received(self, worker: _Worker, pool: list[_Worker]) -> Finished | None:
        """Return what a worker finished; None when it only said that it has begun."""
        try:
            kind, value = worker.pipe.recv()
        except (EOFError, OSError):
            worker.process.join(5.0)
            pool.remove(worker)
            return Finished(worker.item, crash=_cause(worker.process.exitcode))
        if kind == "begun":
            worker.begun, worker.since = True, time.monotonic()
            return None
        worker.busy = False
        if kind == "error":
            raise value
        return Finished(worker.item, value)


def _start(function: Callable[[Any], Any]) -> _Worker:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    before = {name: os.environ.get(name) for name in ENVIRONMENT}
    os.environ.update(ENVIRONMENT)
    try:
        process = context.Process(target=_work, args=(there, function), daemon=True)
        process.start()
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
    there.close()
    return _Worker(process, here)


def _work(pipe: Connection, function: Callable[[Any], Any]) -> None:
    """Run items until the parent goes away; Ctrl-C is the parent's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            item = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            pipe.send(("begun", None))
            answer = ("result", function(item))
        except Exception as error:
            answer = ("error", portable(error))
        try:
            pipe.send(answer)
        except OSError:
            return


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
