"""A work unit: a short range of attempts that one worker runs."""

import errno
import sysconfig
import traceback
from dataclasses import dataclass
from pathlib import Path

from handloom.engine.attempt import run_attempt
from handloom.engine.receipt import Receipt
from handloom.engine.run_directory import ALL, RunDirectory
from handloom.engine.run_settings import RunSettings
from handloom.errors import FileError, HandloomError
from handloom.tasks import Task

OF_THE_MACHINE = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO, errno.ENOMEM, errno.EMFILE, errno.ENFILE}
)
"""Errors of the operating system that every further attempt would meet, too: disk, memory, open files."""

STANDARD_LIBRARY = sysconfig.get_path("stdlib")


@dataclass(frozen=True, kw_only=True)
class Unit:
    """Attempts ``first`` to ``first + count - 1`` of a run."""

    run: str
    """Folder of the run."""
    settings: RunSettings
    """The run; a worker that read it from the folder could have another one in mind."""
    shard: tuple[int, int] = ALL
    """Part of the run that is being made; it can be stopped by itself."""
    index: int
    """Number of the unit."""
    first: int
    count: int

    @property
    def attempts(self) -> range:
        """Attempt indices."""
        return range(self.first, self.first + self.count)


def run_unit(unit: Unit) -> tuple[Receipt, ...]:
    """Run the attempts of a unit that have no receipt yet; results are files, the return value is small."""
    run, task = RunDirectory(Path(unit.run), unit.settings), unit.settings.loaded_task()
    journal = run.journal(unit.index)
    done = journal.read()
    for episode in unit.attempts:
        if episode in done:
            continue
        if run.stop_file(unit.shard).exists():
            break
        done[episode] = attempt_receipt(unit.settings, task, episode, run.episodes)
        journal.append(done[episode])
    return tuple(done[episode] for episode in unit.attempts if episode in done)


def attempt_receipt(settings: RunSettings, task: Task, episode: int, episodes: Path) -> Receipt:
    """Run one attempt; a fault in the code, ours or the user's, fails this attempt with its place, not the run.

    Errors of the disk, the memory or the input concern every attempt and stop the run: they pass through.
    """
    try:
        return run_attempt(settings, task, episode, episodes)
    except (HandloomError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno in OF_THE_MACHINE:
            raise FileError(error.errno, f"attempt {episode} cannot go on: {error}") from error
        detail = f"{type(error).__name__}: {error} ({_place(error)})"
        return Receipt(episode=episode, success=False, stage="execute", reason="internal_error", detail=detail)


def _place(error: Exception) -> str:
    """Return the file and line of an error: where the standard library was called, if the error is from inside it."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if not f.filename.startswith(STANDARD_LIBRARY) or "site-packages" in f.filename]
    place = (ours or frames)[-1]
    return f"{Path(place.filename).name}:{place.lineno}"
