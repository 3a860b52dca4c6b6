"""Why an attempt did not become a demonstration."""

from dataclasses import dataclass, field
from enum import StrEnum


class FunnelStage(StrEnum):
    """Stages of the funnel, in order. A failure happened in the stage it names."""

    SAMPLE = "sample"
    GRASP = "grasp"
    REACH = "reach"
    PLAN = "plan"
    EXECUTE = "execute"
    SUCCESS = "success"


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A typed reason: counted in the funnel and shown to the user."""

    stage: FunnelStage
    """Where in the funnel it happened."""
    reason: str
    """Short fixed code such as ``goal_unreachable``; counted in reports."""
    detail: str = ""
    """One sentence with names and figures."""
    skill: str = ""
    """Skill that failed, empty when none was active."""
    counts: dict[str, int] = field(default_factory=dict)
    """How many candidates died at which test."""

    def __str__(self) -> str:
        where = f" in {self.skill}" if self.skill else ""
        return f"{self.stage}: {self.reason}{where}" + (f": {self.detail}" if self.detail else "")
