"""The table `robot check` prints."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class CheckRow:
    """One finding of a check."""

    name: str
    """Which check, e.g. ``limits``."""
    ok: bool
    sentence: str
    """What was found, in a sentence for people, with figures."""


@dataclass(frozen=True, kw_only=True)
class CheckReport:
    """Everything that was looked at on one robot."""

    robot: str
    rows: tuple[CheckRow, ...]

    @property
    def ok(self) -> bool:
        """Whether no row is a fault."""
        return all(row.ok for row in self.rows)

    @property
    def faults(self) -> tuple[CheckRow, ...]:
        """The rows that are faults."""
        return tuple(row for row in self.rows if not row.ok)

    def table(self) -> str:
        """Return the rows as aligned text, faults marked."""
        width = max((len(row.name) for row in self.rows), default=0)
        lines = [f"{'ok   ' if row.ok else 'FAULT'}  {row.name:<{width}}  {row.sentence}" for row in self.rows]
        verdict = "no faults" if self.ok else f"{len(self.faults)} of {len(self.rows)} checks found a fault"
        return "\n".join([*lines, f"{self.robot}: {verdict}"])


def row(name: str, faults: list[str], good: str) -> CheckRow:
    """Make a row: a fault that lists what is wrong, or the good sentence."""
    return CheckRow(name=name, ok=not faults, sentence="; ".join(faults) if faults else good)
