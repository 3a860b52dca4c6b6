"""Conversion of takes to episodes, in a separate process while the operator continues, or in this one."""

import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from handloom.config.own_code import with_permission
from handloom.dataset.files.durable import PARTIAL, remove_folder, sync_folder
from handloom.engine.attempt import Stopwatch, receipt_of, write_episode
from handloom.engine.executors.executor import ProcessExecutor
from handloom.engine.runs.journal import Receipt
from handloom.engine.runs.run_settings import RunSettings
from handloom.scene import build_scene
from handloom.teleop.keeping.takes import Take
from handloom.values import EpisodeRecord

PAUSES = (0.2, 1.0)
"""Pauses before each retry of a failed save [s]; after the last one the operator is informed."""
AGAIN = 15.0
"""Time after which it is then retried automatically [s]."""
NICE = 10
"""Niceness of the saving process, for a lower priority than the process that drives the robot."""
logger = logging.getLogger("handloom.teleop")


@dataclass(frozen=True, kw_only=True)
class SaveJob:
    """A take on disk that is to become an episode."""

    take: Take
    record: EpisodeRecord
    settings: RunSettings
    folder: Path
    """Folder of the episode."""


def written(job: SaveJob) -> Receipt:
    """Write the episode of a take and return its receipt, which is not yet in the journal."""
    watch = Stopwatch()
    # An existing episode of another take stays until the new one is complete. A kill before the rename leaves the take.
    fresh = job.folder.with_name(f"{job.folder.name}{PARTIAL}-take")
    remove_folder(fresh)
    write_episode(job.settings, build_scene(job.record.instance), job.record, fresh, watch)
    remove_folder(job.folder)
    fresh.rename(job.folder)
    sync_folder(job.folder.parent)
    return replace(receipt_of(job.record, watch), take=job.take.number)


def written_aside(job: SaveJob) -> Receipt:
    """Do the same at a lower priority than the process that drives the robot."""
    os.setpriority(os.PRIO_PROCESS, 0, NICE)
    return written(job)


class InlineSaver:
    """Saves synchronously in this process.

    Args:
        done: Called after every written episode.
    """

    def __init__(self, done: Callable[[SaveJob, Receipt], None]) -> None:
        self._done = done

    def submit(self, job: SaveJob) -> None:
        """Save a take; errors of the operating system lead to two retries and are then raised."""
        for pause in PAUSES:
            try:
                return self._done(job, written(job))
            except (OSError, MemoryError) as error:
                logger.warning("teleop: saving failed and is retried: %s", error)
                time.sleep(pause)
        self._done(job, written(job))

    def retry(self) -> None:
        """Nothing is ever pending."""

    def close(self) -> list[Take]:
        """Nothing is ever pending."""
        return []


class BackgroundSaver:
    """Saves takes one by one in a separate process, and keeps those that could not be saved.

    Args:
        done: Called in the saver's thread after every written episode.
        tell: Called with the number of pending takes and the problem that prevents saving, empty if there is none.
        function: Writes an episode.
    """

    def __init__(
        self,
        done: Callable[[SaveJob, Receipt], None],
        tell: Callable[[int, str], None],
        *,
        function: Callable[[SaveJob], Receipt] = written_aside,
    ) -> None:
        self._done, self._tell = done, tell
        self._function = with_permission(function)
        self._changed = threading.Condition()
        self._jobs: deque[SaveJob] = deque()
        self._closing = False
        self._asked = False
        self._thread: threading.Thread | None = None

    def submit(self, job: SaveJob) -> None:
        """Queue a take for saving."""
        with self._changed:
            self._jobs.append(job)
            self._asked = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="saver", daemon=True)
                self._thread.start()
            self._changed.notify_all()
        self._tell(len(self._jobs), "")

    def retry(self) -> None:
        """Retry failed saves at once."""
        with self._changed:
            self._asked = True
            self._changed.notify_all()

    def close(self) -> list[Take]:
        """Wait until everything is saved or has failed again; return the remaining takes."""
        with self._changed:
            self._closing = self._asked = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()
        return [job.take for job in self._jobs]

    def _run(self) -> None:
        failures = 0
        while True:
            try:
                for finished in ProcessExecutor(1).run(self._function, self._turns()):
                    if finished.crash:
                        raise OSError(finished.crash)
                    self._done(finished.item, finished.result)
                    with self._changed:
                        self._jobs.popleft()
                    failures = 0
                    self._tell(len(self._jobs), "")
                return
            except Exception as error:  # Any error: the take is on disk and in memory, and this thread must not end.
                logger.warning("teleop: saving failed: %s", error)
                failures += 1
                if failures > len(PAUSES) and self._gives_up(str(error) or type(error).__name__):
                    return
                time.sleep(PAUSES[min(failures, len(PAUSES)) - 1])

    def _turns(self) -> Iterator[SaveJob]:
        """Yield the next job until the saver is closed; a job stays in the queue until it is done."""
        while True:
            with self._changed:
                while not self._jobs:
                    if self._closing:
                        return
                    self._changed.wait()
                job = self._jobs[0]
            yield job

    def _gives_up(self, why: str) -> bool:
        """Inform the operator and wait for a retry; return True if the saver is being closed."""
        with self._changed:
            if self._closing:
                return True
            self._asked = False
        self._tell(len(self._jobs), why)
        with self._changed:
            if not self._asked:
                self._changed.wait(AGAIN)
        return False
