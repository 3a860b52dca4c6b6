"""Work on a Ray cluster: stateless actors of one core each; items and results travel through Ray."""

import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

from handloom.engine.executors.executor import ENVIRONMENT, GAP, HANG_LIMIT, Finished, portable
from handloom.errors import InputError, MachineError, StateError, require

PATIENCE = 600.0
"""Time that a run waits for its first actor [s]: a cluster may have to start machines, and imports take a while."""
FAILED_STARTS = 3
"""Number of consecutive actors that fail to start after which the run stops; fewer if that is all of them."""


class RayExecutor:
    """Actors that pull items; actors without a free core wait, at no cost to the others.

    Args:
        workers: Number of actors; None for one per core of the cluster.
        address: Ray address of a running cluster; None starts one on this machine.
        timeout: Wall time after which an actor working on an item counts as hung and is killed [s].
    """

    shares_files = False

    def __init__(self, workers: int | None = None, *, address: str | None = None, timeout: float = HANG_LIMIT) -> None:
        if workers is not None and workers < 1:
            raise InputError(f"a run needs at least 1 worker, got {workers}")
        self.workers = workers or 0
        """Number of actors; 0 until ``connect`` has queried the cluster."""
        self.address = address
        self.timeout = timeout
        self._started_here = False

    def connect(self) -> None:
        """Connect to the cluster, or start one; does nothing if already connected.

        Raises:
            StateError: The cluster cannot be reached.
        """
        ray = require("ray", extra="ray")
        if not ray.is_initialized():
            # Without an address, Ray would join any cluster that this machine happens to know.
            here = {"address": "local", "include_dashboard": False, "num_cpus": self.workers or None}
            try:
                _knock(self.address or "")
                ray.init(**(here if self.address is None else {"address": self.address}), log_to_driver=False)
            except (OSError, RuntimeError, ValueError) as error:
                where = self.address or "this machine"
                raise StateError(
                    f"cannot reach Ray at {where}: {error}; check --ray-address and that the cluster is running"
                ) from error
            self._started_here = True
        self.workers = self.workers or max(1, int(ray.cluster_resources().get("CPU", 1)))

    def run(self, function: Callable[[Any], Any], items: Iterator[Any]) -> Iterator[Finished]:
        """Yield one ``Finished`` per item as they complete; a lost or hung actor gives one with ``crash`` set."""
        self.connect()
        ray = require("ray", extra="ray")
        actors = _Actors(ray, self.workers, function, self.timeout)
        try:
            while actors.hand_out(items):
                yield from actors.collect()
        finally:
            actors.end()
            if self._started_here:
                ray.shutdown()
                self._started_here = False


class _Actors:
    """The actors of one run and their current work.

    Only an actor that has reported that it runs gets an item: an actor that waits for a core neither blocks an item
    nor counts as hung.
    """

    def __init__(self, ray: Any, count: int, function: Callable[[Any], Any], timeout: float) -> None:
        self.ray, self.count, self.timeout = ray, count, timeout
        self.starting: dict[Any, Any] = {}
        """Pending start report > actor."""
        self.free: list[Any] = []
        self.busy: dict[Any, tuple[Any, Any, float]] = {}
        """Pending answer > (actor, item, since)."""
        self._function = ray.put(function)
        self._actor = ray.remote(num_cpus=1, max_restarts=0, runtime_env={"env_vars": ENVIRONMENT})(_Worker)
        self._next: list[Any] = []
        """The next item, if no actor has been free for it yet."""
        self._failed_starts = 0
        self._idle_since = time.monotonic()

    def hand_out(self, items: Iterator[Any]) -> bool:
        """Give every free actor an item and start actors while there is work; return whether work is left."""
        while True:
            if not self._next:
                try:
                    self._next = [next(items)]
                except StopIteration:
                    return bool(self.busy)
            if not self.free:
                break
            actor, item = self.free.pop(), self._next.pop()
            self.busy[actor.work.remote(item)] = (actor, item, time.monotonic())
        while len(self.starting) + len(self.busy) < self.count:
            actor = self._actor.remote(self._function)
            self.starting[actor.ready.remote()] = actor
        return True

    def collect(self) -> Iterator[Finished]:
        """Wait for an event, then yield the items that finished or were lost."""
        looked = time.monotonic()
        ready, _ = self.ray.wait([*self.starting, *self.busy], num_returns=1, timeout=1.0)
        gap = time.monotonic() - looked
        if gap > GAP:  # This process was stopped; the waiting times of the actors' answers are unknown.
            self.busy = {answer: (actor, item, since + gap) for answer, (actor, item, since) in self.busy.items()}
        for answer in ready:
            if answer in self.starting:
                self._started(answer)
            else:
                yield self._answered(answer)
        now = time.monotonic()
        for answer, (actor, item, since) in list(self.busy.items()):
            if now - since > self.timeout:
                del self.busy[answer]
                self.ray.kill(actor)
                yield Finished(item, crash=f"no result after {self.timeout:.0f} s of wall time", fault="time")
        if self.free or self.busy:
            self._idle_since = now
        elif now - self._idle_since > PATIENCE:
            have, free = (
                cores.get("CPU", 0) for cores in (self.ray.cluster_resources(), self.ray.available_resources())
            )
            raise StateError(
                f"no actor could be started in {PATIENCE:.0f} s: the cluster has {have:g} cores, {free:g} of them free"
            )

    def _started(self, answer: Any) -> None:
        actor = self.starting.pop(answer)
        try:
            self.ray.get(answer)
        except self.ray.exceptions.RayError as error:
            self._failed_starts += 1
            if self._failed_starts >= max(FAILED_STARTS, self.count):
                raise StateError(f"actors cannot be started: {_last_line(error)}") from error
            return
        self._failed_starts = 0
        self.free.append(actor)

    def _answered(self, answer: Any) -> Finished:
        actor, item, _ = self.busy.pop(answer)
        try:
            kind, value = self.ray.get(answer)
        except self.ray.exceptions.RayTaskError as error:
            raise StateError(f"a worker failed with {_last_line(error)}") from error
        except self.ray.exceptions.RayError as error:  # The actor is gone, or the machine that held its answer.
            return Finished(item, crash=f"the actor was lost: {_first_line(error)}", fault=_fault(error))
        if isinstance(value, MachineError):
            self.ray.kill(actor)  # A fresh actor has no leftovers of the failure.
            return Finished(item, crash=str(value), fault=value.kind)
        self.free.append(actor)
        if kind == "error":
            raise value
        return Finished(item, value)

    def end(self) -> None:
        """Release all actors."""
        for actor in [*self.starting.values(), *self.free, *(actor for actor, _, _ in self.busy.values())]:
            self.ray.kill(actor)


class _Worker:
    """An actor that runs one item at a time and keeps no state."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def ready(self) -> None:
        """Return once the actor runs and everything is imported."""

    def work(self, item: Any) -> tuple[str, Any]:
        """Return the result, or the error to raise in the parent, so that an error does not look like a lost actor."""
        try:
            return "result", self.function(item)
        except Exception as error:
            return "error", portable(error)


def _knock(address: str) -> None:
    """Raise OSError if nothing listens at an address with a port: Ray itself would retry for ten minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host, int(port)), timeout=10.0).close()


def _fault(error: Exception) -> str:
    """Return the kind of machine fault that killed an actor; empty if its own code may have crashed it."""
    text = str(error).lower()
    if type(error).__name__ == "OutOfMemoryError" or "out of memory" in text.replace("running out of memory", ""):
        return "memory"
    return "killed" if "node" in type(error).__name__.lower() or "node was terminated" in text else ""


def _first_line(error: Exception) -> str:
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)


def _last_line(error: Exception) -> str:
    """Return the line of a remote traceback with the error itself."""
    return next((line for line in reversed(str(error).splitlines()) if line.strip()), type(error).__name__)
