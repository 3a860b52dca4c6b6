"""A task: its config, its arena and where they were written."""

from dataclasses import dataclass, field
from pathlib import Path

from handloom.config import Document, unused_keys
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

    @property
    def notices(self) -> tuple[str, ...]:
        """One line for every key that is accepted and has no effect."""
        return (*unused_keys(self.config), *unused_keys(self.arena, "arena"))

    def where(self, *keys: str | int) -> str:
        """Return ``file:line: key.path`` of a key of this task, as messages start."""
        dotted = ".".join(str(key) for key in keys)
        place = self.path if self.document is None else self.document.mark((*self.root, *keys))
        return f"{place}: {dotted}"

    @property
    def asset_root(self) -> Path | None:
        """Last place where relative paths are looked up."""
        return Path(self.config.asset_root) if self.config.asset_root else None
