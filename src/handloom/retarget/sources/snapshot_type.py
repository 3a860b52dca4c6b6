"""The slot through which a raw device sample enters a source node."""

from functools import cache
from typing import Any

from handloom.retarget.graph.errors import TensorTypeError
from handloom.retarget.graph.tensor_group_type import OptionalTensorGroupType, OptionalType, TensorGroupType
from handloom.retarget.graph.tensor_type import TensorType
from handloom.retarget.sources.snapshot import Snapshot


class SnapshotType(TensorType):
    """A slot for a sample of one class, e.g. ``ControllerSnapshot``.

    Args:
        name: Name of the slot.
        snapshot_class: The class of the sample.
    """

    def __init__(self, name: str, snapshot_class: type[Snapshot]) -> None:
        super().__init__(name)
        self.snapshot_class = snapshot_class

    def _check_instance_compatibility(self, other: "SnapshotType") -> bool:
        return self.snapshot_class is other.snapshot_class

    def validate_value(self, value: Any) -> None:
        """Accept samples of the class only."""
        if not isinstance(value, self.snapshot_class):
            raise TensorTypeError(
                f"slot {self.name!r} takes a {self.snapshot_class.__name__}, got {type(value).__name__}"
            )


@cache
def raw_sample(snapshot_class: type[Snapshot]) -> OptionalTensorGroupType:
    """Return the type of a port for one raw sample, absent when the device sent none."""
    return OptionalType(TensorGroupType("deviceio", [SnapshotType("snapshot", snapshot_class)]))
