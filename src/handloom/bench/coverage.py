"""Attempt each task file of a folder until it succeeds, with stand-ins for missing assets."""

import math
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from handloom.bench.trials import TrialOutcome, TrialRecord, attempt_outcome, attempts_in_time, fingerprint
from handloom.config import read_document
from handloom.config.own_code import with_permission
from handloom.engine import ProcessExecutor
from handloom.engine.attempt import error_receipt, reason_of
from handloom.engine.executors.executor import Finished
from handloom.engine.executors.machine_faults import OF_THE_SETTINGS
from handloom.engine.warmup import warm_up
from handloom.errors import HandloomError, InputError
from handloom.tasks import Task, load_task

STAND_INS = "proxy_assets=true"
"""Override that replaces missing assets by library objects."""
TASK_KEYS = {"tasks", "skills"}
"""A YAML file without any of these at its top level, such as a robot, camera or arena file, is not a task."""
SHARED_WORDS = re.compile(r"left|right|both|train|test|val|v\d+", re.IGNORECASE)
"""Folders that distinguish files of one family: arms, splits and versions."""
NUMBERED = re.compile(r"([_-]?(part)?\d+)+$")
"""End of a file name that distinguishes it from others of its family."""
PASSING = {"memory", "files", "devices", "killed"}
"""Faults of the machine; the next call repeats an attempt that ended with one."""


@dataclass(frozen=True, kw_only=True)
class FileTrial:
    """One attempt at a task file, as passed to a worker."""

    name: str
    """Name of the file in the collection."""
    file: Path
    index: int
    """Index in the file's list of tasks."""
    overrides: tuple[str, ...]
    allow_outside: bool
    seed: int
    episode: int


@dataclass(frozen=True, kw_only=True)
class CollectedFile:
    """A task file of a collection."""

    path: Path
    """The file, relative to the folder of the collection."""
    index: int = 0
    """Index in the file's list of tasks."""
    family: str
    """Common part of related files: the path without robots, arms, splits and numbers."""
    robot: str
    """Robot that performs it; ``-`` if the file cannot be read."""
    fingerprint: str = ""
    """Fingerprint of the resolved task; empty if the file cannot be read."""
    stand_ins: int = 0
    """Missing assets replaced by library objects."""
    mistake: TrialOutcome | None = None
    """Reason why it cannot be read."""

    @property
    def name(self) -> str:
        """``folder/file.yaml``, and for the second task of a file ``folder/file.yaml[1]``."""
        return self.path.as_posix() + (f"[{self.index}]" if self.index else "")


@dataclass(frozen=True, kw_only=True)
class FileCoverage:
    """Outcome of a task file."""

    file: CollectedFile
    outcomes: tuple[TrialOutcome, ...]
    """Its attempts up to the first success, or the mistake because of which the file cannot be read."""
    finished: bool
    """Whether it succeeded, or used all its attempts."""

    @property
    def success(self) -> bool:
        """Whether an attempt succeeded."""
        return any(outcome.success for outcome in self.outcomes)


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """Outcome of a collection."""

    files: tuple[FileCoverage, ...]
    others: int
    """YAML files in the folder that are not tasks."""
    known: int
    """Attempts that were already in the record."""

    @property
    def runs(self) -> int:
        """Files that produce a demonstration."""
        return sum(file.success for file in self.files)

    def rows(self) -> list[tuple[str, str, tuple[FileCoverage, ...]]]:
        """Return family, robot and files of each kind, in alphabetical order."""
        kinds = sorted({(one.file.family, one.file.robot) for one in self.files})
        return [(*kind, tuple(one for one in self.files if (one.file.family, one.file.robot) == kind))
                for kind in kinds]  # fmt: skip


def reasons_of(files: Sequence[FileCoverage]) -> Counter[str]:
    """Count the reasons of failed attempts in files without a demonstration."""
    return Counter(outcome.reason for one in files if not one.success for outcome in one.outcomes)


def survey(
    folder: Path, *, only: str = "", overrides: Sequence[str] = (), allow_outside: bool = False
) -> tuple[list[CollectedFile], int]:
    """Read the task files of a folder and those below it.

    Args:
        folder: The collection.
        only: Only files whose path below the folder contains this text.
        overrides: Changes to every task, such as ``data.max_episode_length=500``.
        allow_outside: Tasks may name files outside their own and surrounding folders.

    Returns:
        The files by name, and the number of YAML files that are not tasks.

    Raises:
        InputError: There is no such folder, or no task file in it.
    """
    if not folder.is_dir():
        what = "is a file; handloom check and generate take one" if folder.is_file() else "there is no such folder"
        raise InputError(f"{folder}: {what}; coverage takes a folder of task files")
    files = [file for file in sorted(folder.rglob("*.y*ml")) if file.is_file()]
    if not files:
        raise InputError(f"{folder}: no YAML file in it or below it; give the folder that contains the task files")
    chosen = [file for file in files if only in file.relative_to(folder).as_posix()]
    if not chosen:
        raise InputError(f"{folder}: none of its {len(files)} YAML files has {only!r} in its path; try another --only")
    read = [_collected(folder, file, tuple(overrides), allow_outside) for file in chosen]
    found = [one for tasks in read for one in tasks]
    if not found:
        keys = " or ".join(f"{key!r}" for key in sorted(TASK_KEYS))
        raise InputError(f"{folder}: {len(chosen)} YAML files, none of them a task: a task file has a key {keys}")
    return found, sum(not tasks for tasks in read)


def measure(
    folder: Path,
    *,
    attempts: int = 5,
    processes: int = 1,
    seed: int = 0,
    only: str = "",
    limit: float = math.inf,
    record: Path | None = None,
    overrides: Sequence[str] = (),
    allow_outside: bool = False,
    on_outcome: Callable[[Coverage], None] = lambda _: None,
) -> Coverage:
    """Attempt every task file of a folder, without images, until it succeeds.

    Args:
        folder: The collection.
        attempts: Maximum number of attempts per file.
        processes: Worker processes.
        seed: Seed of the attempts.
        only: Only files whose path below the folder contains this text.
        limit: No attempt starts after this time [s].
        record: JSON file of the outcomes; files that have not changed since are not attempted again.
        overrides: Changes to every task.
        allow_outside: Tasks may name files outside their own and surrounding folders.
        on_outcome: Called with the state after the files have been read and after every attempt.

    Raises:
        InputError: There is nothing to attempt, or the record belongs to something else.
    """
    begin = time.monotonic()
    if attempts < 1 or processes < 1 or not limit > 0:
        raise InputError("attempts, processes and the time limit must be positive")
    overrides = (STAND_INS, *overrides)
    files, others = survey(folder, only=only, overrides=overrides, allow_outside=allow_outside)
    readable = [file for file in files if file.mistake is None]
    prints = {file.name: file.fingerprint for file in readable}
    of = {"coverage": "task files", "seed": seed}
    done = TrialRecord(record, verb="coverage", of=of, prints=prints)
    known = sum(map(len, done.outcomes.values()))
    passing: dict[str, list[TrialOutcome]] = {file.name: [] for file in files}

    def state() -> Coverage:
        covered = (_covered(file, done.outcomes.get(file.name, []), passing[file.name], attempts) for file in files)
        return Coverage(files=tuple(covered), others=others, known=known)

    def trials() -> Iterator[FileTrial]:
        for episode in range(attempts):  # One attempt of each file first, so that the limit affects all files evenly.
            for file in readable:
                if not any(one.success or one.episode == episode for one in done.outcomes[file.name]):
                    yield FileTrial(
                        name=file.name,
                        file=folder / file.path,
                        index=file.index,
                        overrides=overrides,
                        allow_outside=allow_outside,
                        seed=seed,
                        episode=episode,
                    )

    on_outcome(state())
    if any(not one.finished for one in state().files):
        warm_up()
    try:
        work = with_permission(run_file_trial)
        # Use a worker even for one process: a file that crashes MuJoCo then kills the worker, not this process.
        for finished in attempts_in_time(ProcessExecutor(processes), work, trials(), until=begin + limit):
            if finished.fault in PASSING:
                passing[finished.item.name].append(_crashed(finished))
            else:
                done.add(finished.item.name, finished.result or _crashed(finished))
            on_outcome(state())
    finally:
        done.write()
    return state()


def run_file_trial(trial: FileTrial) -> TrialOutcome:
    """Make one attempt, in a worker; anything the file lacks, such as a permission, becomes the failure reason."""
    try:
        task = _loaded(trial.file, trial.index, trial.overrides, trial.allow_outside)
        return attempt_outcome(task, trial.seed, trial.episode)
    except OF_THE_SETTINGS as error:
        return TrialOutcome.of(error_receipt(trial.episode, error), 0.0)


@lru_cache(maxsize=256)
def _loaded(file: Path, index: int, overrides: tuple[str, ...], allow_outside: bool) -> Task:
    return load_task(file, index=index, overrides=overrides, allow_outside=allow_outside)


def _collected(folder: Path, file: Path, overrides: tuple[str, ...], allow_outside: bool) -> list[CollectedFile]:
    """Read the tasks of a file; empty if it has none."""
    path, found = file.relative_to(folder), []
    for index in range(MOST_TASKS):
        try:
            task = load_task(file, index=index, overrides=overrides, allow_outside=allow_outside)
        except Exception as error:  # A bug of ours affects this file, not the others.
            if not index and isinstance(error, HandloomError) and not _is_task(file):
                return []
            mistake = _mistake(error)
            found.append(CollectedFile(path=path, index=index, family=family_of(path, ()), robot="-", mistake=mistake))
            break
        found.append(_described(path, index, task))
        if index + 1 >= _count(file, task):
            break
    return found


def _mistake(error: Exception) -> TrialOutcome:
    """Return why a file cannot be read: our error messages as they are, our bugs with their location."""
    if isinstance(error, HandloomError):
        return TrialOutcome(episode=0, success=False, reason=reason_of(error), detail=str(error))
    return TrialOutcome.of(error_receipt(0, error), 0.0)


MOST_TASKS = 1000
"""Maximum number of tasks in one file."""


def _count(file: Path, task: Task) -> int:
    """Return the number of tasks in a file; 1 if it is a task itself."""
    listed = task.document.values if task.root and task.document is not None else None
    if listed is None:  # Tasks of one scene are treated as if each had its own file.
        listed = read_document(file, inherit=False).values if "tasks:" in file.read_text(encoding="utf-8") else {}
    tasks = listed.get("tasks") if isinstance(listed, dict) else None
    return len(tasks) if isinstance(tasks, list) else 1


def _described(path: Path, index: int, task: Task) -> CollectedFile:
    config = task.config
    robots = list(dict.fromkeys(Path(robot.robot_config_file).stem for robot in config.robots))
    named = [*(robot.robot_config_file for robot in config.robots), *(camera.camera_file for camera in config.cameras)]
    texts = [found.read_text(encoding="utf-8") for word in named if word and (found := task.file(word)) is not None]
    return CollectedFile(
        path=path,
        index=index,
        family=family_of(path, [*robots, *(robot.name for robot in config.robots)]),
        robot="+".join(robots),
        fingerprint=fingerprint(task, *task.stand_ins, *texts),
        stand_ins=len(task.stand_ins),
    )


def _is_task(file: Path) -> bool:
    try:
        values = read_document(file, inherit=False).values
    except (HandloomError, OSError, ValueError):
        return True  # Unknown if the file is not YAML; the user sees the mistake.
    return isinstance(values, dict) and bool(TASK_KEYS & values.keys())


def family_of(path: Path, robots: Sequence[str]) -> str:
    """Return the family of a file: its folders, or its name if it is in none.

    Args:
        path: The file, relative to the folder of the collection.
        robots: Names of its robots, which the family leaves out.
    """
    kept = [part for part in path.parts[:-1] if part not in robots and not SHARED_WORDS.fullmatch(part)]
    return "/".join(kept) or NUMBERED.sub("", path.stem) or path.stem


def _covered(
    file: CollectedFile, outcomes: Sequence[TrialOutcome], passing: Sequence[TrialOutcome], attempts: int
) -> FileCoverage:
    """Judge a file by its attempts up to the first success, even if later attempts ended earlier."""
    if file.mistake is not None:
        return FileCoverage(file=file, outcomes=(file.mistake,), finished=True)
    ordered = sorted((one for one in (*outcomes, *passing) if one.episode < attempts), key=lambda one: one.episode)
    first = next((k for k, one in enumerate(ordered) if one.success), len(ordered))
    finished = first < len(ordered) or len(ordered) >= attempts
    return FileCoverage(file=file, outcomes=tuple(ordered[: first + 1]), finished=finished)


def _crashed(finished: Finished) -> TrialOutcome:
    reason = finished.fault or "crash"
    return TrialOutcome(episode=finished.item.episode, success=False, reason=reason, detail=finished.crash)
