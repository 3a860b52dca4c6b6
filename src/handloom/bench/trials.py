"""Attempts at many tasks in several processes, and the record file from which a measurement continues."""

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from handloom.bench.result import machine_facts
from handloom.bench.tasks import attempt_task
from handloom.dataset.files.durable import atomic_write
from handloom.engine import Executor, InlineExecutor, ProcessExecutor
from handloom.engine.attempt import guarded_receipt
from handloom.engine.executors.executor import Finished
from handloom.engine.runs.journal import Receipt
from handloom.errors import InputError
from handloom.tasks import Task
from handloom.version import VERSION

FORMAT = 1
"""Version of the record file."""
SAVE_EVERY = 10.0
"""Interval at which the record is written while attempts finish [s]."""


@dataclass(frozen=True, kw_only=True)
class TrialOutcome:
    """Outcome of an attempt, as stored in the record."""

    episode: int
    success: bool
    reason: str = ""
    detail: str = ""
    episode_s: float = 0.0
    """Length of the episode [s]."""
    cpu_s: float = 0.0
    """CPU time from sampling to the last frame [s]."""

    @classmethod
    def of(cls, receipt: Receipt, cpu_s: float) -> "TrialOutcome":
        """Return the outcome of an attempt for the record."""
        return cls(
            episode=receipt.episode,
            success=receipt.success,
            reason="" if receipt.success else receipt.reason,
            detail="" if receipt.success else receipt.detail,
            episode_s=receipt.frames / receipt.fps if receipt.fps else 0.0,
            cpu_s=cpu_s,
        )


def attempt_outcome(task: Task, seed: int, episode: int) -> TrialOutcome:
    """Let the expert attempt a task once, without images; an error becomes the failure reason."""
    begin = time.process_time()
    receipt = guarded_receipt(episode, lambda: attempt_task(task, seed, episode).receipt)
    return TrialOutcome.of(receipt, time.process_time() - begin)


def executor_of(processes: int) -> Executor:
    """Return an executor with this many worker processes; for 1, one that runs everything in this process."""
    return InlineExecutor() if processes == 1 else ProcessExecutor(processes)


def attempts_in_time(
    executor: Executor, function: Callable[[Any], Any], trials: Iterable[Any], *, until: float
) -> Iterator[Finished]:
    """Yield attempts as they end; none starts after the time is up.

    Args:
        executor: Where they are made.
        function: Makes an attempt, in a worker.
        trials: Its arguments, one after another; taken when a worker is free.
        until: Time after which no attempt starts, by the monotonic clock [s].
    """
    yield from executor.run(function, (trial for trial in trials if time.monotonic() < until))


def fingerprint(task: Task, *more: str) -> str:
    """Return a hash of a resolved task, and of further texts that it depends on."""
    plain = [task.config.model_dump(mode="json"), task.arena.model_dump(mode="json"), *more]
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:16]


class TrialRecord:
    """Outcomes by task, stored in a JSON file; those of tasks that have changed since are dropped.

    Args:
        file: The file; None stores nothing.
        verb: The command that writes it, for messages, such as ``bench pack``.
        of: Settings common to all attempts, such as the seed; a file with other settings is refused.
        prints: Task > fingerprint.

    Raises:
        InputError: The file is not a record, or has other settings.
    """

    def __init__(self, file: Path | None, *, verb: str, of: Mapping[str, Any], prints: Mapping[str, str]) -> None:
        self.file, self.verb, self.of, self.prints = file, verb, dict(of), prints
        self.outcomes: dict[str, list[TrialOutcome]] = {name: [] for name in prints}
        """Task > its attempts."""
        self._read()
        self._saved = time.monotonic()

    def add(self, name: str, outcome: TrialOutcome) -> None:
        """Add an attempt; the file is written at intervals."""
        self.outcomes[name].append(outcome)
        if time.monotonic() - self._saved > SAVE_EVERY:
            self.write()

    def write(self) -> None:
        """Write the file; outcomes of tasks not requested this time stay in it."""
        self._saved = time.monotonic()
        if self.file is None:
            return
        kept: dict[str, Any] = {}
        if self.file.exists():
            stored = json.loads(self.file.read_text(encoding="utf-8"))["tasks"]
            kept = {name: entry for name, entry in stored.items() if name not in self.prints}
        tasks = {
            name: {
                "task": self.prints[name],
                "outcomes": [asdict(one) for one in sorted(outcomes, key=lambda o: o.episode)],
            }
            for name, outcomes in self.outcomes.items()
        }
        values = {"format": FORMAT, **self.of, "handloom": VERSION, "machine": machine_facts()}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(self.file) as partial:
            partial.write_text(json.dumps({**values, "tasks": {**kept, **tasks}}, indent=1), encoding="utf-8")

    def _read(self) -> None:
        if self.file is None or not self.file.exists():
            return
        try:
            values = json.loads(self.file.read_text(encoding="utf-8"))
            form, of = values["format"], {key: values.get(key) for key in self.of}
            entries = {name: (entry["task"], [TrialOutcome(**one) for one in entry["outcomes"]])
                       for name, entry in values["tasks"].items()}  # fmt: skip
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{self.file}: not a record of {self.verb} ({error}); name another file") from error
        if (form, of) != (FORMAT, self.of):
            theirs = ", ".join(f"{key} {value}" for key, value in of.items())
            ours = ", ".join(f"{key} {value}" for key, value in self.of.items())
            raise InputError(f"{self.file}: a record of {theirs}, not of {ours}; name another file with --record")
        for name, (known, outcomes) in entries.items():
            if self.prints.get(name) == known:
                self.outcomes[name] = outcomes
