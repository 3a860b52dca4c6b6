"""A task: its config, its arena and where they were written."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from handloom.config import Document, find_file
from handloom.config.own_code import allowed_folders
from handloom.config.search import asset_roots, demand_inside, search_folders
from handloom.scene.object_config import ArenaConfig
from handloom.tasks.config.task_config import TaskConfig


@dataclass(frozen=True)
class Task:
    """A task that was read and checked."""

    name: str
    """File stem, e.g. ``fr3_pick_cube``."""
    config: TaskConfig
    arena: ArenaConfig
    path: Path
    """File of the task; relative paths start in its folder."""
    document: Document | None = field(default=None, repr=False, compare=False)
    """Lines of the file, for messages; a resumed run has none."""
    root: tuple[str | int, ...] = ()
    """Keys that lead to the task inside its file."""
    notices: tuple[str, ...] = field(default=(), compare=False)
    """One line for every key that is accepted but has no effect."""
    stand_ins: tuple[str, ...] = field(default=(), compare=False)
    """One line per missing asset, with the library object that replaces it."""

    own_folders: tuple[Path, ...] = field(default=(), compare=False)
    """Folders that the user named, beside the file: that of ``--robot``."""
    _found: dict[tuple[str, str], Path | None] = field(default_factory=dict, repr=False, compare=False)
    """Earlier lookups; a task names the same few places many times."""
    _beginnings: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False, compare=False)
    """First part of a path > asset folders that have it."""
    robot_sources: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """Name of a robot > its entry and the source of its description, filled on demand."""

    def where(self, *keys: str | int) -> str:
        """Return ``file:line: key.path`` of a key of this task, as it was written, as messages start."""
        if self.document is None:
            return f"{self.path}: {'.'.join(map(str, keys))}"
        full = (*self.root, *keys)
        shown = self.document.as_written(full)[len(self.root) :]
        return f"{self.document.mark(full)}: {'.'.join(map(str, shown))}"

    def wrote(self, *keys: str | int) -> bool:
        """Return whether a key was written in a file, not filled in; all keys count as written if no file is known."""
        return self.document is None or (*self.root, *keys) in self.document.marks

    @cached_property
    def asset_folders(self) -> tuple[Path, ...]:
        """Folders in which a relative asset path is looked up, in order."""
        return (*self.folders_around, *asset_roots(self.asset_root, self.folders_around), *self.own_folders)

    @cached_property
    def folders_around(self) -> tuple[Path, ...]:
        """The folder of the task file and those around it, nearest first, and the working folder."""
        return search_folders(self.path.resolve().parent, allow_outside=self.config.allow_outside)

    def folder(self, name: str | Path) -> Path | None:
        """Return the first folder of a relative path, as assets are looked up; None if there is none."""
        return self._first("folder", str(name), os.path.isdir)

    def file(self, name: str | Path) -> Path | None:
        """Return the first file of a path, as assets are looked up; None if there is none."""
        return self._first("file", str(name), os.path.isfile)

    def _first(self, kind: str, name: str, exists: Callable[[str], bool]) -> Path | None:
        key = (kind, name)
        if key not in self._found:
            own = os.path.expanduser(name) if name.startswith("~") else name
            places = (os.path.join(folder, own) for folder in self._folders_with(own.partition(os.sep)[0]))
            self._found[key] = next((Path(place) for place in places if exists(place)), None)
        return self._found[key]

    def _folders_with(self, first: str) -> tuple[str, ...]:
        """Return the asset folders that have the first part of a path: most of its many assets begin with a few."""
        if first not in self._beginnings:
            folders = map(str, self.asset_folders)
            found = (folder for folder in folders if not first or os.path.exists(os.path.join(folder, first)))
            self._beginnings[first] = tuple(found)
        return self._beginnings[first]

    def find(self, name: str, *, what: str) -> Path:
        """Return the file or folder the task names, looked up near its file and in the asset root.

        Args:
            name: Path as written in the task.
            what: Start of the error message: file, line and key.
        """
        key = ("find", name)
        if key not in self._found:
            self._found[key] = self._find(name, what)
        return self._found[key] or self._find(name, what)

    def _find(self, name: str, what: str) -> Path:
        place = None if name.startswith("~") else self._first("any", name, os.path.exists)
        if place is not None:
            return self.inside(place, what)
        return find_file(
            name,
            near=self.path.parent,
            asset_root=self.asset_root,
            what=what,
            allow_outside=self.config.allow_outside,
            folders=self.asset_folders,
        )

    def inside(self, place: Path, what: str) -> Path:
        """Return a file or folder that the task names, unless it lies outside its folders and was not allowed.

        Args:
            place: What was found.
            what: Start of the error message: file, line and key.
        """
        if not self.config.allow_outside:
            demand_inside(place, (*self.asset_folders, *allowed_folders()), what=what)
        return place

    @property
    def asset_root(self) -> Path | None:
        """Last place where relative paths are looked up."""
        return Path(self.config.asset_root).expanduser() if self.config.asset_root else None
