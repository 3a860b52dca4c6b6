"""Raw ports of source nodes: one slot for a device sample, under the published names."""

from collections.abc import Mapping
from typing import Any, ClassVar

from handloom.errors import InputError
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
    """A slot for a sample of one device, or None if it sent nothing; one subclass per device.

    A sample is one of our snapshots, or an object with the attributes of the published one, as returned by a tracker.
    """

    snapshot_class: ClassVar[type[Snapshot]]
    """The class of the sample."""

    def _check_instance_compatibility(self, other: Any) -> bool:
        return True

    def validate_value(self, value: Any) -> None:
        """Accept samples of the device only."""
        self.read(value)

    def read(self, value: Any) -> Snapshot | None:
        """Return a sample as a snapshot.

        Raises:
            TensorTypeError: It is not a sample of this device.
        """
        value = unwrapped(value)
        if value is None or isinstance(value, self.snapshot_class):
            return value
        try:
            return self._published(value)
        except (AttributeError, InputError) as error:
            raise TensorTypeError(
                f"slot {self.name!r} takes a {self.snapshot_class.__name__}, got {type(value).__name__}: {error}"
            ) from error

    def _published(self, value: Any) -> Snapshot:
        """Return an object with published attributes as a snapshot."""
        raise NotImplementedError


def unwrapped(value: Any) -> Any:
    """Return a sample without the wrapper that trackers of some revisions put around it.

    The wrapper, such as ``HeadPoseTrackedT``, has only ``data``: the sample, or None if the device is absent.
    """
    return value.data if type(value).__name__.endswith("TrackedT") and hasattr(value, "data") else value


def _pose(pose: Any) -> tuple[tuple[float, float, float], tuple[float, float, float, float]]:
    p, q = pose.position, pose.orientation
    return (p.x, p.y, p.z), (q.x, q.y, q.z, q.w)


class HeadPoseTrackedType(SnapshotType):
    """A slot for a ``HeadSnapshot``."""

    snapshot_class = HeadSnapshot

    def _published(self, value: Any) -> Snapshot:
        position, quat = _pose(value.pose)
        return HeadSnapshot(position=position, orientation=quat, is_valid=value.is_valid, is_tracked=value.is_tracked)


class HandPoseTrackedType(SnapshotType):
    """A slot for a ``HandSnapshot``."""

    snapshot_class = HandSnapshot

    def _published(self, value: Any) -> Snapshot:
        joints = value.joints
        return HandSnapshot(
            joint_positions=joints.positions,
            joint_orientations=joints.orientations,
            joint_radii=joints.radii,
            joint_valid=joints.is_valid,
        )


class ControllerSnapshotTrackedType(SnapshotType):
    """A slot for a ``ControllerSnapshot``."""

    snapshot_class = ControllerSnapshot
    BUTTONS: ClassVar[tuple[str, ...]] = (
        "primary_click",
        "secondary_click",
        "thumbstick_x",
        "thumbstick_y",
        "thumbstick_click",
        "menu_click",
        "squeeze_value",
        "trigger_value",
    )

    def _published(self, value: Any) -> Snapshot:
        grip, aim = _pose(value.grip_pose.pose), _pose(value.aim_pose.pose)
        return ControllerSnapshot(
            grip_position=grip[0],
            grip_orientation=grip[1],
            grip_is_valid=value.grip_pose.is_valid,
            aim_position=aim[0],
            aim_orientation=aim[1],
            aim_is_valid=value.aim_pose.is_valid,
            **{name: float(getattr(value.inputs, name)) for name in self.BUTTONS},
        )


class Generic3AxisPedalOutputTrackedType(SnapshotType):
    """A slot for a ``PedalSnapshot``."""

    snapshot_class = PedalSnapshot

    def _published(self, value: Any) -> Snapshot:
        return PedalSnapshot(left_pedal=value.left_pedal, right_pedal=value.right_pedal, rudder=value.rudder)


class FullBodyPoseTrackedType(SnapshotType):
    """A slot for a ``FullBodySnapshot``."""

    snapshot_class = FullBodySnapshot

    def _published(self, value: Any) -> Snapshot:
        joints = value.joints
        return FullBodySnapshot(
            joint_positions=joints.positions, joint_orientations=joints.orientations, joint_valid=joints.is_valid
        )


class JointStateOutputTrackedType(TensorType):
    """A slot for joint positions by name, or None if the device sent nothing."""

    def _check_instance_compatibility(self, other: object) -> bool:
        return True

    def validate_value(self, value: object) -> None:
        """Accept mappings, and objects with a list ``joints`` of names and positions."""
        self.read(value)

    def read(self, value: Any) -> Mapping[str, float] | None:
        """Return joint positions by name.

        Raises:
            TensorTypeError: They are not joint positions.
        """
        value = unwrapped(value)
        if value is None or isinstance(value, Mapping):
            return value
        try:
            return {joint.name: joint.position for joint in value.joints}
        except (AttributeError, TypeError) as error:
            raise TensorTypeError(
                f"slot {self.name!r} takes joint positions by name, got {type(value).__name__}"
            ) from error


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
