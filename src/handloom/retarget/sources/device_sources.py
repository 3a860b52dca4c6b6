"""Source nodes, which convert raw device samples to groups."""

import logging
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from handloom.errors import InputError
from handloom.retarget.graph.execution import (
    ComputeContext,
    GraphExecutable,
    OutputSelector,
    RetargeterIO,
    RetargeterIOType,
)
from handloom.retarget.graph.groups import OptionalTensorGroup, OptionalType, TensorGroupType
from handloom.retarget.graph.retargeter import BaseRetargeter
from handloom.retarget.graph.wiring import RetargeterSubgraph
from handloom.retarget.inputs import (
    ControllerInput,
    FullBodyInput,
    Generic3AxisPedalInput,
    HandInput,
    HeadInput,
    RobotHandJoints,
)
from handloom.retarget.sources.device_frame import DeviceFrame
from handloom.retarget.sources.snapshots import Snapshot, float_field
from handloom.retarget.sources.tracked_types import (
    DeviceIOControllerSnapshotTracked,
    DeviceIOFullBodyPoseTracked,
    DeviceIOGeneric3AxisPedalOutputTracked,
    DeviceIOHandPoseTracked,
    DeviceIOHeadPoseTracked,
    DeviceIOJointStateOutputTracked,
    JointStateOutputTrackedType,
    SnapshotType,
)
from handloom.retarget.sources.trackers import (
    ControllerTracker,
    FullBodyTracker,
    Generic3AxisPedalTracker,
    HandTracker,
    HeadTracker,
    JointStateTracker,
    Tracker,
)
from handloom.retarget.transforms import ControllerTransform, HandTransform, HeadTransform, PoseTransform

LOGGER = logging.getLogger("handloom")


class TrackerSource(BaseRetargeter):
    """A leaf that a session feeds from a tracker; published as ``IDeviceIOSource``.

    Args:
        name: Name of the node.
        vendor: Published choice of a vendor for a device type.
    """

    def __init__(self, name: str, vendor: Any = None) -> None:
        self._vendor = vendor
        super().__init__(name)

    def get_vendor(self) -> Any:
        """Return the chosen vendor of the device; None for the default."""
        return self._vendor

    @abstractmethod
    def get_tracker(self) -> Any:
        """Return the tracker that is polled."""

    @abstractmethod
    def poll_tracker(self, deviceio_session: Any) -> RetargeterIO:
        """Return the raw groups of the latest samples of the tracker's devices."""


class DeviceSource(TrackerSource):
    """Reads ``deviceio_<device>`` and outputs ``<device>``; a device that sent nothing is absent.

    Present does not mean valid: a lost controller keeps sending, with its validity flags down.
    """

    stateful = False
    devices: ClassVar[tuple[str, ...]]
    """Names of the devices, which are the names of the outputs."""
    group_type: ClassVar[TensorGroupType]
    """The type of every output."""
    raw_type: ClassVar[TensorGroupType]
    """The type of every raw port."""
    getters: ClassVar[tuple[str, ...]]
    """Methods of the tracker that return the samples, one per device."""
    tracker_class: ClassVar[type[Tracker]]
    """Class of the tracker; a source with a tracker that takes arguments overrides ``_new_tracker``."""

    def __init__(self, name: str, vendor: Any = None) -> None:
        self._tracker = self._new_tracker()
        super().__init__(name, vendor)

    def _new_tracker(self) -> Tracker:
        return self.tracker_class()

    def get_tracker(self) -> Tracker:
        """Return the tracker that is polled."""
        return self._tracker

    @property
    def _slot(self) -> SnapshotType:
        slot = self.raw_type.types[0]
        assert isinstance(slot, SnapshotType)
        return slot

    def input_spec(self) -> RetargeterIOType:
        """Return one optional raw port per device."""
        raw = OptionalType(self.raw_type)
        return {f"deviceio_{device}": raw for device in self.devices}

    def output_spec(self) -> RetargeterIOType:
        """Return one optional port per device."""
        return {device: OptionalType(self.group_type) for device in self.devices}

    def device_inputs(self, frame: DeviceFrame) -> RetargeterIO:
        """Return the raw groups of this source's devices in a frame."""
        return self.raw_inputs({device: getattr(frame, device) for device in self.devices})

    def poll_tracker(self, deviceio_session: Any) -> RetargeterIO:
        """Return the raw groups of the latest device samples.

        Args:
            deviceio_session: A ``DeviceFrame``, or an object with one as its attribute ``frame``.
        """
        got = {d: getattr(self._tracker, g)(deviceio_session) for d, g in zip(self.devices, self.getters, strict=True)}
        return self.raw_inputs(got)

    def raw_inputs(self, samples: Mapping[str, Snapshot | None]) -> RetargeterIO:
        """Return the raw groups of samples by device; None and missing devices are absent."""
        groups: RetargeterIO = {}
        for port, kind in self._inputs.items():
            groups[port] = OptionalTensorGroup(kind)
            sample = samples.get(port.removeprefix("deviceio_"))
            if sample is not None:
                groups[port][0] = sample
        return groups

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        for device in self.devices:
            raw, group = inputs[f"deviceio_{device}"], outputs[device]
            sample = None if raw.is_none else self._slot.read(raw[0])
            if sample is not None:
                for index, value in enumerate(sample.slots()):
                    group[index] = value


def device_inputs(graph: GraphExecutable, frame: DeviceFrame) -> dict[str, RetargeterIO]:
    """Return the inputs of every device source among the leaves of a graph, for one frame.

    Raises:
        InputError: Two leaves share a name, so their inputs could not be distinguished.
    """
    inputs: dict[str, RetargeterIO] = {}
    for leaf in graph.get_leaf_nodes():
        if leaf.name in inputs:
            raise InputError(f"two leaves of the graph are named {leaf.name!r}; rename one")
        if isinstance(leaf, DeviceSource):
            inputs[leaf.name] = leaf.device_inputs(frame)
    return inputs


class PoseSource(DeviceSource):
    """A source whose outputs are poses, which can be transformed to another frame."""

    transform_class: ClassVar[type[PoseTransform]]
    """The node that transforms the poses."""

    def transformed(self, transform_input: OutputSelector) -> RetargeterSubgraph:
        """Transform all outputs to another frame.

        Args:
            transform_input: Selector of a ``TransformMatrix``: the pose of this source's frame in the new one,
                e.g. ``world_T_anchor``.

        Returns:
            A subgraph with the same outputs, named ``<name>_transform``.
        """
        node = self.transform_class(f"{self.name}_transform")
        ports = {device: self.output(device) for device in self.devices}
        return node.connect({**ports, PoseTransform.TRANSFORM: transform_input})


class ControllersSource(PoseSource):
    """Outputs ``controller_left`` and ``controller_right``, each an optional ``ControllerInput``."""

    LEFT = "controller_left"
    RIGHT = "controller_right"
    devices = (LEFT, RIGHT)
    group_type = ControllerInput()
    raw_type = DeviceIOControllerSnapshotTracked()
    getters = ("get_left_controller", "get_right_controller")
    transform_class = ControllerTransform
    tracker_class = ControllerTracker


class HandsSource(PoseSource):
    """Outputs ``hand_left`` and ``hand_right``, each an optional ``HandInput``."""

    LEFT = "hand_left"
    RIGHT = "hand_right"
    devices = (LEFT, RIGHT)
    group_type = HandInput()
    raw_type = DeviceIOHandPoseTracked()
    getters = ("get_left_hand", "get_right_hand")
    transform_class = HandTransform
    tracker_class = HandTracker


class HeadSource(PoseSource):
    """Outputs ``head``, an optional ``HeadInput``; it may be valid without currently being tracked."""

    HEAD = "head"
    devices = (HEAD,)
    group_type = HeadInput()
    raw_type = DeviceIOHeadPoseTracked()
    getters = ("get_head",)
    transform_class = HeadTransform
    tracker_class = HeadTracker


class Generic3AxisPedalSource(DeviceSource):
    """Outputs ``pedals``, an optional ``Generic3AxisPedalInput``.

    Args:
        name: Name of the node.
        collection_id: Name of the device stream.
    """

    PEDALS = "pedals"
    devices = (PEDALS,)
    group_type = Generic3AxisPedalInput()
    raw_type = DeviceIOGeneric3AxisPedalOutputTracked()
    getters = ("get_pedal_data",)

    def __init__(self, name: str, collection_id: str = "generic_3axis_pedal") -> None:
        self.collection_id = collection_id
        super().__init__(name)

    def _new_tracker(self) -> Tracker:
        return Generic3AxisPedalTracker(self.collection_id)


class FullBodySource(DeviceSource):
    """Outputs ``full_body``, an optional ``FullBodyInput``.

    Args:
        name: Name of the node.
        vendor: Published choice of a tracker; no effect here, since frames may come from any device.
    """

    FULL_BODY = "full_body"
    devices = (FULL_BODY,)
    group_type = FullBodyInput()
    raw_type = DeviceIOFullBodyPoseTracked()
    getters = ("get_body_pose",)
    tracker_class = FullBodyTracker

    def __init__(self, name: str, vendor: Any = None) -> None:
        if vendor is not None:
            LOGGER.info("source %r: body frames come from the session's devices, regardless of the vendor", name)
        super().__init__(name, vendor)


class JointStateSource(TrackerSource):
    """Outputs ``joints``, one float per configured name; names that the device did not send become 0.

    Args:
        name: Name of the node.
        collection_id: Name of the device stream.
        joint_names: Joints wanted, in order.
    """

    JOINTS = "joints"
    RAW = "deviceio_joint_state"
    stateful = False

    def __init__(self, name: str, collection_id: str, joint_names: Sequence[str]) -> None:
        self.collection_id = collection_id
        self._joints = tuple(joint_names)
        self._tracker = JointStateTracker(collection_id)
        super().__init__(name)

    def get_tracker(self) -> Tracker:
        """Return the tracker that is polled."""
        return self._tracker

    def input_spec(self) -> RetargeterIOType:
        """Return joint positions by name, optional."""
        return {self.RAW: OptionalType(DeviceIOJointStateOutputTracked())}

    def output_spec(self) -> RetargeterIOType:
        """Return one float per name, optional."""
        return {self.JOINTS: OptionalType(RobotHandJoints(self.JOINTS, self._joints))}

    def poll_tracker(self, deviceio_session: Any) -> RetargeterIO:
        """Return the raw group of the latest device sample.

        Args:
            deviceio_session: Joint positions by joint name, by collection id, or an object with these as its attribute
                ``joints``.
        """
        return self.raw_inputs(self._tracker.get_data(deviceio_session))

    def raw_inputs(self, positions: Mapping[str, float] | None) -> RetargeterIO:
        """Return the raw group of one sample [rad or m]; None is absent."""
        group = OptionalTensorGroup(self._inputs[self.RAW])
        if positions is not None:
            group[0] = positions
        return {self.RAW: group}

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        raw = inputs[self.RAW]
        positions = None if raw.is_none else JointStateOutputTrackedType(self.RAW).read(raw[0])
        if positions is not None:
            for index, joint in enumerate(self._joints):
                outputs[self.JOINTS][index] = float_field(positions.get(joint, 0.0), what=f"joint {joint!r}")
