"""What an importer made of a file."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ImportReport:
    """What was kept, what was changed on the way, what was left out; one sentence each."""

    source: str
    """The file."""
    kept: tuple[str, ...] = ()
    """Taken over as it is."""
    converted: tuple[str, ...] = ()
    """Taken over in another form."""
    dropped: tuple[str, ...] = ()
    """Left out."""

    def text(self) -> str:
        """Return the report for people."""
        rows = [(kind, line) for kind in ("kept", "converted", "dropped") for line in getattr(self, kind)]
        return "\n".join([self.source, *(f"  {kind:<10} {line}" for kind, line in rows)])


class ReportDraft:
    """Collects the sentences of a report while an importer works."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.kept: list[str] = []
        self.converted: list[str] = []
        self.dropped: list[str] = []

    def finish(self) -> ImportReport:
        """Return the finished report."""
        return ImportReport(
            source=self.source, kept=tuple(self.kept), converted=tuple(self.converted), dropped=tuple(self.dropped)
        )


def count(number: int, noun: str) -> str:
    """Return for example ``1 mesh`` or ``3 meshes``."""
    plural = f"{noun}es" if noun.endswith(("s", "sh", "ch", "x")) else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"
