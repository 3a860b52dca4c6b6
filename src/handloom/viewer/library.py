"""The arguments of ``handloom view``: datasets, runs, evaluations and tasks, by their keys in URLs."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handloom.engine.runs.run_directory import MANIFEST, RunDirectory
from handloom.errors import InputError, NotFoundError, unknown_name
from handloom.viewer.episode_source import DatasetSource, EpisodeSource, RunSource

INFO = Path("meta") / "info.json"
DEEPEST = 4
"""Number of levels below a given folder that are searched for datasets."""
MOST = 200
"""Maximum number of datasets in a folder."""
INSIDE = ("data", "videos", "extras", "meta", "episodes", "journal", "inputs", "report")
"""Folders inside datasets and runs, which are not searched."""


@dataclass(frozen=True, kw_only=True)
class Shelf:
    """One argument of the command line."""

    key: str
    name: str
    """Display name."""
    kind: str
    """``run``, ``evaluation`` or ``dataset``."""
    path: Path


@dataclass(frozen=True, kw_only=True)
class LiveRun:
    """State known only while this program makes a run."""

    wanted: int
    """Number of demonstrations or attempts to make."""
    counts_successes: bool
    """Whether ``goal`` counts demonstrations."""
    workers: int


class Library:
    """Everything that the page may show; nothing else is accessible through it.

    Args:
        paths: Datasets, runs, evaluations, and folders that contain them.
        tasks: Names or files of tasks.
        live: The run that this program makes, the first of the paths; None if it makes none.
    """

    def __init__(self, paths: Sequence[Path] = (), tasks: Sequence[str] = (), *, live: LiveRun | None = None) -> None:
        self.tasks, self.live = tuple(tasks), live
        self._lock = threading.Lock()
        self._sources: dict[tuple[str, Path], EpisodeSource] = {}
        self.shelves: dict[str, Shelf] = {}
        found = [shelf for path in paths for shelf in _found(path)]
        names = _short_names([path for path, _ in found])
        for number, ((path, kind), name) in enumerate(zip(found, names, strict=True)):
            self.shelves[f"d{number}"] = Shelf(key=f"d{number}", name=name, kind=kind, path=path)

    def shelf(self, key: str) -> Shelf:
        """Return a shelf by its key."""
        if key not in self.shelves:
            raise unknown_name("dataset", key, self.shelves)
        return self.shelves[key]

    def sources(self, key: str) -> tuple[EpisodeSource, ...]:
        """Return the current content of a shelf: for a run, its dataset, its failures, and episodes not yet merged."""
        shelf = self.shelf(key)
        places = [("", shelf.path, DatasetSource)]
        if shelf.kind != "dataset":
            run = RunDirectory.open(shelf.path)
            places = [
                ("", run.dataset, DatasetSource),
                ("f", run.failures, DatasetSource),
                ("p", run.episodes, RunSource),
            ]
        found: list[EpisodeSource] = []
        with self._lock:
            for ending, path, kind in places:
                there = any(path.glob("episode_*")) if kind is RunSource else (path / INFO).is_file()
                if not there:
                    self._sources.pop((key, path), None)
                    continue
                if (key, path) not in self._sources:
                    name = shelf.name + {"": "", "f": " failures", "p": " in progress"}[ending]
                    self._sources[key, path] = kind(f"{key}{ending}", name, path)
                found.append(self._sources[key, path])
        return tuple(found)

    def source(self, key: str) -> EpisodeSource:
        """Return a source by its key: that of its shelf, followed by ``f`` for failures or ``p`` for those in progress.

        Raises:
            NotFoundError: There is none.
        """
        shelf = key.rstrip("fp")
        for source in self.sources(shelf):
            if source.key == key:
                return source
        raise NotFoundError(f"{self.shelf(shelf).name} has nothing under {key!r}")

    def run(self, key: str) -> RunDirectory | None:
        """Return the run of a shelf, if it is one."""
        shelf = self.shelf(key)
        return RunDirectory.open(shelf.path) if shelf.kind != "dataset" else None

    def described(self) -> list[dict[str, Any]]:
        """Return the shelves as plain values."""
        return [{"key": shelf.key, "name": shelf.name, "kind": shelf.kind} for shelf in self.shelves.values()]


def _found(path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the contents of a path, with their kind."""
    if not path.exists():
        raise InputError(
            f"{path}: there is no such folder; give a dataset, a run, a task, or a folder that contains them"
        )
    kind = _kind(path)
    if kind is not None:
        yield path, kind
        return
    found = sorted(_below(path, DEEPEST)) if path.is_dir() else []
    if not found:
        raise InputError(f"{path} contains no dataset and no run: there is no meta/info.json and no {MANIFEST} in it")
    if len(found) > MOST:
        raise InputError(f"{path} contains {len(found)} datasets, but at most {MOST} are shown; give a subfolder")
    yield from found


def _kind(path: Path) -> str | None:
    if (path / MANIFEST).is_file():
        return "evaluation" if (path / "evaluation.json").is_file() else "run"
    return "dataset" if (path / INFO).is_file() else None


def _below(path: Path, levels: int) -> Iterator[tuple[Path, str]]:
    for folder in path.iterdir():
        if folder.is_symlink() or not folder.is_dir() or folder.name.startswith(".") or folder.name in INSIDE:
            continue
        if (kind := _kind(folder)) is not None:
            yield folder, kind
        elif levels > 1:
            yield from _below(folder, levels - 1)


def _short_names(paths: Sequence[Path]) -> list[str]:
    """Return the shortest path suffixes that distinguish the paths; a dataset inside a run includes the run's name."""
    whole = [path.resolve().parts for path in paths]
    names = []
    for parts in whole:
        length = 2 if parts[-1] in ("dataset", "failures", "rendered") else 1
        while length < len(parts) and sum(other[-length:] == parts[-length:] for other in whole) > 1:
            length += 1
        names.append("/".join(parts[-length:]).lstrip("/"))
    return names
