"""A task: its config, its arena and where they were written."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from handloom.config import Document, find_file
from handloom.config.search import demand_inside, enclosing_folders
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
    """Lines of the file, for messages; a run that was resumed has none."""
    root: tuple[str | int, ...] = ()
    """Keys that lead to the task inside its file."""
    notices: tuple[str, ...] = field(default=(), compare=False)
    """One line for every key that is accepted and has no effect, and for every texture that was replaced."""

    def where(self, *keys: str | int) -> str:
        """Return ``file:line: key.path`` of a key of this task, as messages start."""
        dotted = ".".join(str(key) for key in keys)
        place = self.path if self.document is None else self.document.mark((*self.root, *keys))
        return f"{place}: {dotted}"

    @cached_property
    def asset_folders(self) -> tuple[Path, ...]:
        """Folders a relative asset path is looked up in, in order."""
        around = enclosing_folders(self.path.resolve().parent, allow_outside=self.config.allow_outside)
        return (*around, *([self.asset_root] if self.asset_root else []))

    def find(self, name: str, *, what: str) -> Path:
        """Return the file or folder the task names, looked up near its file and in the asset root.

        Args:
            name: Path as written in the task.
            what: Start of the error message: file, line and key.
        """
        near, allowed = self.path.parent, self.config.allow_outside
        return find_file(name, near=near, asset_root=self.asset_root, what=what, allow_outside=allowed)

    def inside(self, place: Path, what: str) -> Path:
        """Return a file or folder that the task names, unless it lies outside its folders and was not allowed.

        Args:
            place: What was found.
            what: Start of the error message: file, line and key.
        """
        if not self.config.allow_outside:
            demand_inside(place, self.asset_folders, what=what)
        return place

    @property
    def asset_root(self) -> Path | None:
        """Last place where relative paths are looked up."""
        return Path(self.config.asset_root) if self.config.asset_root else None
