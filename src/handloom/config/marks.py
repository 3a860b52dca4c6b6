"""Where a value of a config was written."""

from dataclasses import dataclass

KeyPath = tuple[str | int, ...]
"""Keys and list indices from the top of a file down to a value."""


@dataclass(frozen=True)
class Mark:
    """Where a value was written."""

    source: str
    """File name as the user gave it, or ``--set key=value``."""
    line: int | None = None
    """Line in the file, from 1; None when the source has no lines."""

    def __str__(self) -> str:
        return self.source if self.line is None else f"{self.source}:{self.line}"


def dotted(path: KeyPath) -> str:
    """Return a path as users write it, e.g. ``robots.0.name``."""
    return ".".join(str(part) for part in path) or "top level"
