"""A task: its config, its arena and where they were written."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from handloom.config import Document
from handloom.config.search import MAX_PARENTS
from handloom.scene.object_config import ArenaConfig
from handloom.tasks.task_config import TaskConfig


@dataclass(frozen=True)
class Task:
    """A task that was read and checked."""

    name: str
    """File stem, e.g. ``fr3_pick_cube``."""
    config: TaskConfig
    arena: ArenaConfig
    path: Path
    """The file it came from; relative paths in it start here."""
    document: Document | None = field(default=None, repr=False, compare=False)
    """Lines of the file, for messages; a run that was resumed has none."""
    root: tuple[str | int, ...] = ()
    """Where in the file the task is."""
    notices: tuple[str, ...] = field(default=(), compare=False)
    """One line for every key that is accepted and has no effect, and for every texture that another stands in for."""

    def where(self, *keys: str | int) -> str:
        """Return ``file:line: key.path`` of a key of this task, as messages start."""
        dotted = ".".join(str(key) for key in keys)
        place = self.path if self.document is None else self.document.mark((*self.root, *keys))
        return f"{place}: {dotted}"

    @cached_property
    def asset_folders(self) -> tuple[Path, ...]:
        """Folders a relative asset path is looked up in, in order."""
        parents = list(self.path.resolve().parents)[: MAX_PARENTS + 1]
        return (*parents, *([self.asset_root] if self.asset_root else []))

    @property
    def asset_root(self) -> Path | None:
        """Last place where relative paths are looked up."""
        return Path(self.config.asset_root) if self.config.asset_root else None
