"""Raw ports of source nodes: one slot for a device sample, under the published names."""

from collections.abc import Mapping
from typing import Any, ClassVar

from handloom.retarget.graph.groups import TensorGroupType
from handloom.retarget.graph.types import TensorType, TensorTypeError
from handloom.retarget.sources.snapshots import (
    ControllerSnapshot,
    FullBodySnapshot,
    HandSnapshot,
    HeadSnapshot,
    PedalSnapshot,
    Snapshot,
)


class SnapshotType(TensorType):
    """A slot for a sample of one class; a subclass per device."""

    snapshot_class: ClassVar[type[Snapshot]]
    """The class of the sample."""

    def _check_instance_compatibility(self, other: Any) -> bool:
        return True

    def validate_value(self, value: Any) -> None:
        """Accept samples of the class only."""
        if not isinstance(value, self.snapshot_class):
            raise TensorTypeError(
                f"slot {self.name!r} takes a {self.snapshot_class.__name__}, got {type(value).__name__}"
            )


class HeadPoseTrackedType(SnapshotType):
    """A slot for a ``HeadSnapshot``."""

    snapshot_class = HeadSnapshot


class HandPoseTrackedType(SnapshotType):
    """A slot for a ``HandSnapshot``."""

    snapshot_class = HandSnapshot


class ControllerSnapshotTrackedType(SnapshotType):
    """A slot for a ``ControllerSnapshot``."""

    snapshot_class = ControllerSnapshot


class Generic3AxisPedalOutputTrackedType(SnapshotType):
    """A slot for a ``PedalSnapshot``."""

    snapshot_class = PedalSnapshot


class FullBodyPoseTrackedType(SnapshotType):
    """A slot for a ``FullBodySnapshot``."""

    snapshot_class = FullBodySnapshot


class JointStateOutputTrackedType(TensorType):
    """A slot for joint positions by name."""

    def _check_instance_compatibility(self, other: object) -> bool:
        return True

    def validate_value(self, value: object) -> None:
        """Accept mappings only."""
        if not isinstance(value, Mapping):
            raise TensorTypeError(f"slot {self.name!r} takes joint positions by name, got {type(value).__name__}")


def DeviceIOHeadPoseTracked() -> TensorGroupType:  # noqa: N802 - published name
    """Return the type of a raw head port."""
    return TensorGroupType("deviceio_head_pose", [HeadPoseTrackedType("head_tracked")])


def DeviceIOHandPoseTracked() -> TensorGroupType:  # noqa: N802 - published name
    """Return the type of a raw hand port."""
    return TensorGroupType("deviceio_hand_pose", [HandPoseTrackedType("hand_tracked")])


def DeviceIOControllerSnapshotTracked() -> TensorGroupType:  # noqa: N802 - published name
    """Return the type of a raw controller port."""
    return TensorGroupType("deviceio_controller_snapshot", [ControllerSnapshotTrackedType("controller_tracked")])


def DeviceIOGeneric3AxisPedalOutputTracked() -> TensorGroupType:  # noqa: N802 - published name
    """Return the type of a raw pedal port."""
    return TensorGroupType("deviceio_generic_3axis_pedal_output", [Generic3AxisPedalOutputTrackedType("pedal_tracked")])


def DeviceIOFullBodyPoseTracked() -> TensorGroupType:  # noqa: N802 - published name
    """Return the type of a raw body port."""
    return TensorGroupType("deviceio_full_body_pose", [FullBodyPoseTrackedType("full_body_tracked")])


def DeviceIOJointStateOutputTracked() -> TensorGroupType:  # noqa: N802 - published name
    """Return the type of a raw joint state port."""
    return TensorGroupType("deviceio_joint_state_output", [JointStateOutputTrackedType("joint_state_tracked")])
