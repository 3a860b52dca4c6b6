"""What a worker reports of one attempt: small facts, never data."""

from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Required

from pydantic import Field
from typing_extensions import TypedDict

from handloom.dataset.shapes import Count, Text, Time

LONGEST_DETAIL = 10_000
"""Characters of an error's text that are kept."""


class ReceiptLine(TypedDict, total=False):
    """A line of a journal, as it must be to become a receipt."""

    episode: Required[Annotated[Count, Field(lt=2**31)]]
    success: Required[bool]
    stage: Text
    reason: Text
    detail: Text
    frames: Annotated[Count, Field(lt=2**31)]
    fps: Annotated[int, Field(ge=1, le=10_000)]
    seconds: dict[str, Time]
    cpu_seconds: Time
    skills: dict[str, Time]


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """One attempt's line in a journal."""

    episode: int
    """Attempt index."""
    success: bool
    stage: str = ""
    """Stage of the funnel in which it failed; empty on success."""
    reason: str = ""
    """Typed reason of the failure."""
    detail: str = ""
    frames: int = 0
    fps: int = 30
    seconds: dict[str, float] = field(default_factory=dict)
    """Wall time by stage [s]."""
    cpu_seconds: float = 0.0
    """Processor time of all stages together [s]; less than their wall time on a machine that is shared."""
    skills: dict[str, float] = field(default_factory=dict)
    """Simulated time by skill [s]."""

    def to_json(self) -> dict[str, Any]:
        """Return plain values that can be read again, whatever an error had to say."""
        detail = self.detail[:LONGEST_DETAIL].encode("utf-8", "replace").decode()
        return {**asdict(self), "detail": detail}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Receipt":
        """Read what ``to_json`` wrote; keys of a newer version are left out."""
        known = cls.__dataclass_fields__
        return cls(**{key: item for key, item in value.items() if key in known})
