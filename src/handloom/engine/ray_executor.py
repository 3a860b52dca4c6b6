"""Work units on a Ray cluster: stateless actors, results as files on a shared path, receipts through Ray."""

import time
from collections.abc import Callable, Iterator
from typing import Any

from handloom.engine.executor import Finished
from handloom.engine.process_executor import ENVIRONMENT
from handloom.errors import InputError, StateError, require


class RayExecutor:
    """Actors of one core each that pull items.

    Args:
        workers: How many actors.
        address: Ray address of a running cluster; None starts one on this machine.
        timeout: Wall time after which an actor counts as hung and is killed [s].
    """

    def __init__(self, workers: int, *, address: str | None = None, timeout: float = 900.0) -> None:
        if workers < 1:
            raise InputError(f"a run needs at least 1 worker, got {workers}")
        self.workers = workers
        self.address = address
        self.timeout = timeout

    def run(self, function: Callable[[Any], Any], items: Iterator[Any]) -> Iterator[Finished]:
        """Yield one ``Finished`` per item as they come; a lost or hung actor gives one with ``crash`` set."""
        ray = require("ray", extra="ray")
        started_here = not ray.is_initialized()
        if started_here:
            self._connect(ray)
        actors = _Actors(ray, self.workers)
        try:
            while True:
                actors.hand_out(function, items)
                if not actors.busy:
                    return
                yield from actors.collect(self.timeout)
        finally:
            actors.end()
            if started_here:
                ray.shutdown()

    def _connect(self, ray: Any) -> None:
        try:
            if self.address is None:
                ray.init(include_dashboard=False, num_cpus=self.workers, log_to_driver=False)
            else:
                ray.init(address=self.address, log_to_driver=False)
        except (ConnectionError, RuntimeError, ValueError) as error:
            where = self.address or "this machine"
            raise StateError(f"cannot reach Ray at {where}: {error}; check --ray-address and that it runs") from error


class _Actors:
    """The actors of one run and what each is doing."""

    def __init__(self, ray: Any, count: int) -> None:
        self.ray = ray
        self.count = count
        self.free: list[Any] = []
        self.busy: dict[Any, tuple[Any, Any, float]] = {}
        """Pending answer > (actor, item, since)."""
        self._actor = ray.remote(num_cpus=1, max_restarts=0, runtime_env={"env_vars": ENVIRONMENT})(_Worker)

    def hand_out(self, function: Callable[[Any], Any], items: Iterator[Any]) -> None:
        """Give every free actor an item, starting actors as long as there is work for them."""
        while len(self.busy) < self.count:
            try:
                item = next(items)
            except StopIteration:
                return
            actor = self.free.pop() if self.free else self._actor.remote()
            self.busy[actor.work.remote(function, item)] = (actor, item, time.monotonic())

    def collect(self, timeout: float) -> Iterator[Finished]:
        """Wait until something happens and yield what finished or was lost."""
        ready, _ = self.ray.wait(list(self.busy), num_returns=1, timeout=1.0)
        for answer in ready:
            actor, item, _ = self.busy.pop(answer)
            try:
                kind, value = self.ray.get(answer)
            except self.ray.exceptions.RayActorError as error:
                yield Finished(item, crash=f"the actor was lost: {str(error).splitlines()[0]}")
                continue
            self.free.append(actor)
            if kind == "error":
                raise value
            yield Finished(item, value)
        for answer, (actor, item, since) in list(self.busy.items()):
            if time.monotonic() - since > timeout:
                del self.busy[answer]
                self.ray.kill(actor)
                yield Finished(item, crash=f"no result after {timeout:.0f} s of wall time")

    def end(self) -> None:
        """Let all actors go."""
        for actor in [*self.free, *(actor for actor, _, _ in self.busy.values())]:
            self.ray.kill(actor)


class _Worker:
    """An actor: runs one item after the other and keeps nothing."""

    def work(self, function: Callable[[Any], Any], item: Any) -> tuple[str, Any]:
        """Return the result, or the error to raise in the parent, so that an error is not taken for a lost actor."""
        try:
            return "result", function(item)
        except Exception as error:
            return "error", error
