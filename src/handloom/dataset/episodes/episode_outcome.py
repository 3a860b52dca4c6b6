"""The outcome of an episode, as its source reports it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from handloom.errors import InputError

Scalar = bool | int | float | str | None

RESERVED = frozenset(
    {
        "attempt_index",
        "attempts",
        "dataset_from_index",
        "dataset_to_index",
        "duration_s",
        "episode_index",
        "failure_reason",
        "length",
        "robot",
        "seed",
        "segments",
        "success",
        "tasks",
    }
)
"""Episode columns that the dataset writes itself."""

UNLABELLED = "idle"
"""Sub-task of frames that no segment covers."""


@dataclass(frozen=True, kw_only=True)
class Segment:
    """A span of frames with one sub-task."""

    label: str
    """Description of the sub-task, e.g. ``pick the red cube``."""
    start: int
    """First frame."""
    stop: int
    """Frame after the last."""


@dataclass(frozen=True, kw_only=True)
class EpisodeOutcome:
    """The facts of one episode that are not frames."""

    index: int
    """Number of the attempt in its run; gaps are allowed, since the dataset numbers its episodes itself."""
    task: str
    """The instruction given to the robot."""
    success: bool
    """Whether the goal was reached."""
    failure_reason: str | None = None
    """Typed reason if it was not."""
    seed: int
    """Seed of the run."""
    robot: str
    """Name of the robot."""
    attempts: int = 1
    """Tries of the expert within the episode."""
    segments: tuple[Segment, ...] = ()
    """Sub-tasks in order of time, not overlapping."""
    columns: Mapping[str, Scalar] = field(default_factory=dict)
    """Further values for the episode table: one boolean, number or text each."""

    def __post_init__(self) -> None:
        """Refuse facts that contradict each other or cannot be stored."""
        if self.index < 0 or not 0 <= self.seed < 2**63:
            raise InputError(f"index and seed must be >= 0 and fit 64 bits, got {self.index} and {self.seed}")
        if not self.task.strip():
            raise InputError("an episode needs an instruction; training uses it")
        if self.success == bool(self.failure_reason):
            raise InputError(f"a failure needs a reason and a success has none, got {self.failure_reason!r}")
        if taken := sorted(RESERVED & self.columns.keys()):
            raise InputError(f"the dataset writes these episode columns itself: {', '.join(taken)}")
        for name, value in self.columns.items():
            if not name or "/" in name or not isinstance(value, Scalar):
                raise InputError(f"episode column {name!r} must be a boolean, number or text, got {value!r}")
        end = 0
        for segment in self.segments:
            if not (end <= segment.start < segment.stop and segment.label.strip()):
                raise InputError(f"segments must have a label, be in order and not overlap; see {segment}")
            end = segment.stop

    def labels(self, length: int) -> list[str]:
        """Return the sub-task of every frame."""
        labels = [UNLABELLED] * length
        for segment in self.segments:
            labels[segment.start : segment.stop] = [segment.label] * (segment.stop - segment.start)
        return labels

    def to_json(self) -> dict[str, Any]:
        """Return plain values that ``from_json`` reads back."""
        return {**asdict(self), "columns": dict(self.columns)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "EpisodeOutcome":
        """Read what ``to_json`` wrote."""
        segments = tuple(Segment(**segment) for segment in value["segments"])
        return cls(**{**value, "segments": segments})
