"""Processes that work for this one: tasks are handed out by the caller itself, without threads in between."""

import traceback
from collections import deque
from collections.abc import Callable, Sequence
from multiprocessing import connection, get_context
from typing import Any

from handloom.errors import StateError

AHEAD = 3
"""Tasks given to a process at a time, so that it need not wait for this one."""

PATIENCE = 5.0
"""Time that a process has to finish its tasks when the pool is closed [s]."""


class PoolTask:
    """A call in another process."""

    def __init__(self, call: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.call, self.arguments = call, arguments
        self.begun = self.done = self.cancelled = False
        self.result: Any = None

    @property
    def over(self) -> bool:
        """Whether no process works on this task or will."""
        return self.done or (self.cancelled and not self.begun)

    def cancel(self) -> None:
        """Do not begin this task if it has not begun yet."""
        self.cancelled = True


class WorkerPool:
    """A fixed number of processes, each connected by its own pipe.

    An executor of the standard library hands tasks through two threads, each of which waits up to 5 ms for a busy
    interpreter. Here the caller sends and receives: in :meth:`submit` and :meth:`collect`.

    Args:
        processes: How many; with one, tasks run in this process at once.
        begin: Called in every process first.
    """

    def __init__(self, processes: int, begin: Callable[[], None]) -> None:
        self._pipes: list[Any] = []
        self._processes: list[Any] = []
        self._sent: list[deque[PoolTask]] = []
        self._pending: deque[PoolTask] = deque()
        if processes < 2:
            return
        context = get_context("spawn")
        for _ in range(processes):
            here, there = context.Pipe()
            process = context.Process(target=_work, args=(there, begin), daemon=True)
            process.start()
            there.close()
            self._pipes.append(here)
            self._processes.append(process)
            self._sent.append(deque())
        for pipe in self._pipes:
            _receive(pipe)

    def submit(self, call: Callable[..., Any], *arguments: Any, urgent: bool = False) -> PoolTask:
        """Run a call in some process, tasks of one urgency in the given order; its result is in the returned task."""
        task = PoolTask(call, arguments)
        if not self._pipes:
            task.result, task.done = call(*arguments), True
            return task
        if urgent:
            self._pending.appendleft(task)
        else:
            self._pending.append(task)
        self._hand_out()
        return task

    def collect(self, timeout: float = 0.0) -> bool:
        """Take results that have arrived, waiting for the first one for up to some time [s]; return if any has."""
        if not any(self._sent):
            return False
        ready = connection.wait(self._pipes, timeout)
        for pipe in ready:
            sent = self._sent[self._pipes.index(pipe)]
            ok, result = _receive(pipe)
            task = sent.popleft()
            if not ok:
                raise StateError(f"a process that verifies paths failed:\n{result}")
            task.result, task.done = result, True
        if ready:
            self._hand_out()
        return bool(ready)

    def close(self) -> None:
        """End the processes."""
        for pipe in self._pipes:
            try:
                pipe.send(None)
            except OSError:
                continue
        for process in self._processes:
            process.join(PATIENCE)
            if process.is_alive():
                process.terminate()
                process.join()
        for pipe in self._pipes:
            pipe.close()
        self._pipes, self._processes, self._sent = [], [], []

    def _hand_out(self) -> None:
        """Give pending tasks to the processes with the fewest."""
        while self._pending:
            least = min(range(len(self._pipes)), key=lambda k: len(self._sent[k]))
            if len(self._sent[least]) >= AHEAD:
                return
            task = self._pending.popleft()
            if task.cancelled:
                continue
            self._pipes[least].send((task.call, task.arguments))
            self._sent[least].append(task)
            task.begun = True


def _receive(pipe: Any) -> Any:
    try:
        return pipe.recv()
    except (EOFError, OSError):
        raise StateError("a process that verifies paths ended unexpectedly; see its messages above") from None


def _work(pipe: Any, begin: Callable[[], None]) -> None:
    begin()
    pipe.send(None)
    while True:
        try:
            message: tuple[Callable[..., Any], Sequence[Any]] | None = pipe.recv()
        except (EOFError, OSError):
            return
        if message is None:
            return
        call, arguments = message
        try:
            told = True, call(*arguments)
        except Exception:
            told = False, traceback.format_exc()
        pipe.send(told)
