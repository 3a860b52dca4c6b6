"""The samples of all devices at one moment."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from handloom.errors import InputError, suggest
from handloom.retarget.graph.execution import ComputeContext, ExecutionState
from handloom.retarget.sources.snapshots import (
    ControllerSnapshot,
    FullBodySnapshot,
    HandSnapshot,
    HeadSnapshot,
    LeaderSnapshot,
    PedalSnapshot,
    PolicySnapshot,
)

DEVICE_CLASSES: dict[str, Any] = {
    "controller_left": ControllerSnapshot,
    "controller_right": ControllerSnapshot,
    "hand_left": HandSnapshot,
    "hand_right": HandSnapshot,
    "head": HeadSnapshot,
    "pedals": PedalSnapshot,
    "full_body": FullBodySnapshot,
    "leader_left": LeaderSnapshot,
    "leader_right": LeaderSnapshot,
    "policy": PolicySnapshot,
}
"""The class of each device's sample."""


@dataclass(frozen=True, kw_only=True)
class DeviceFrame:
    """The samples of one frame; None means that the device sent nothing."""

    time_ns: int
    """When the frame was taken [ns], on any monotonic clock."""
    state: ExecutionState = ExecutionState.RUNNING
    """State of the session."""
    reset: bool = False
    """Whether a reset was requested in this frame."""
    controller_left: ControllerSnapshot | None = None
    """The left controller."""
    controller_right: ControllerSnapshot | None = None
    """The right controller."""
    hand_left: HandSnapshot | None = None
    """The left hand."""
    hand_right: HandSnapshot | None = None
    """The right hand."""
    head: HeadSnapshot | None = None
    """The head."""
    pedals: PedalSnapshot | None = None
    """A rudder with two toe pedals."""
    full_body: FullBodySnapshot | None = None
    """The joints of the body."""
    leader_left: LeaderSnapshot | None = None
    """The leader arm that the left arm follows."""
    leader_right: LeaderSnapshot | None = None
    """The leader arm that the right arm, or the only one, follows."""
    policy: PolicySnapshot | None = None
    """The policy's uncorrected command."""

    def __post_init__(self) -> None:
        """Reject fields of the wrong type."""
        if not isinstance(self.time_ns, int) or isinstance(self.time_ns, bool):
            raise InputError(f"frame field 'time_ns' must be an int of nanoseconds, got {self.time_ns!r}")
        if not isinstance(self.reset, bool):
            raise InputError(f"frame field 'reset' must be True or False, got {self.reset!r}")
        if self.state not in tuple(ExecutionState):
            raise InputError(f"frame field 'state' is {self.state!r}; known: {', '.join(ExecutionState)}")
        object.__setattr__(self, "state", ExecutionState(self.state))
        for name, kind in DEVICE_CLASSES.items():
            sample = getattr(self, name)
            if sample is not None and not isinstance(sample, kind):
                raise InputError(f"frame field {name!r} takes a {kind.__name__} or None, got {type(sample).__name__}")

    @property
    def context(self) -> ComputeContext:
        """The context of this frame for the graph."""
        return ComputeContext.at(self.time_ns, state=self.state, reset=self.reset)

    def to_record(self) -> dict[str, Any]:
        """Return the frame as strict JSON values, without silent devices."""
        record: dict[str, Any] = {"time_ns": self.time_ns, "state": str(self.state), "reset": self.reset}
        for name in DEVICE_CLASSES:
            sample = getattr(self, name)
            if sample is not None:
                record[name] = sample.to_record()
        return record

    @classmethod
    def from_record(cls, record: Any) -> "DeviceFrame":
        """Read a mapping of field names to JSON values; the inverse of ``to_record``.

        Raises:
            InputError: A field is unknown, missing or of the wrong type.
        """
        if not isinstance(record, Mapping):
            raise InputError(f"a device frame must be a mapping of fields, got {type(record).__name__}")
        known = [field.name for field in fields(cls)]
        for name in record:
            if name not in known:
                raise InputError(f"a device frame has no field {name!r}; {suggest(str(name), known)}")
        if "time_ns" not in record:
            raise InputError("a device frame lacks the field time_ns")
        values = dict(record)
        for name, kind in DEVICE_CLASSES.items():
            if values.get(name) is not None:
                values[name] = kind.from_record(values[name])
        return cls(**values)
