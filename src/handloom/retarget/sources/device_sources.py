"""Source nodes: they turn raw device samples into groups."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

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
from handloom.retarget.graph.types import TensorType, TensorTypeError
from handloom.retarget.graph.wiring import RetargeterSubgraph
from handloom.retarget.inputs import ControllerInput, HandInput, HeadInput, RobotHandJoints
from handloom.retarget.sources.device_frame import DEVICE_CLASSES, DeviceFrame
from handloom.retarget.sources.snapshots import Snapshot, float_field, raw_sample
from handloom.retarget.transforms import ControllerTransform, HandTransform, HeadTransform, PoseTransform


class DeviceSource(BaseRetargeter):
    """Reads ``deviceio_<device>`` and gives ``<device>``; a device that sent nothing is absent.

    Present does not mean valid: a lost controller keeps sending, with its validity flags down.
    """

    stateful = False
    devices: ClassVar[tuple[str, ...]]
    """Names of the devices, which are the names of the outputs."""
    group_type: ClassVar[TensorGroupType]
    """The type of every output."""
    transform_class: ClassVar[type[PoseTransform]]
    """The node that carries the outputs into another frame."""

    def input_spec(self) -> RetargeterIOType:
        """Return one optional raw port per device."""
        return {f"deviceio_{device}": raw_sample(DEVICE_CLASSES[device]) for device in self.devices}

    def output_spec(self) -> RetargeterIOType:
        """Return one optional port per device."""
        return {device: OptionalType(self.group_type) for device in self.devices}

    def device_inputs(self, frame: DeviceFrame) -> RetargeterIO:
        """Return the raw groups of this source's devices in a frame."""
        return self.raw_inputs({device: getattr(frame, device) for device in self.devices})

    def raw_inputs(self, samples: Mapping[str, Snapshot | None]) -> RetargeterIO:
        """Return the raw groups of samples by device; None and missing devices are absent."""
        groups: RetargeterIO = {}
        for port, kind in self._inputs.items():
            groups[port] = OptionalTensorGroup(kind)
            sample = samples.get(port.removeprefix("deviceio_"))
            if sample is not None:
                groups[port][0] = sample
        return groups

    def transformed(self, transform: OutputSelector) -> RetargeterSubgraph:
        """Carry all outputs into another frame.

        Args:
            transform: Selector of a ``TransformMatrix``: the pose of this source's frame in the new one,
                e.g. ``world_T_anchor``.

        Returns:
            A subgraph with the same outputs, named ``<name>_transform``.
        """
        node = self.transform_class(f"{self.name}_transform", self.devices, self.group_type)
        ports = {device: self.output(device) for device in self.devices}
        return node.connect({**ports, PoseTransform.TRANSFORM: transform})

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        for device in self.devices:
            raw, group = inputs[f"deviceio_{device}"], outputs[device]
            if not raw.is_none:
                for index, value in enumerate(raw[0].slots()):
                    group[index] = value


def device_inputs(graph: GraphExecutable, frame: DeviceFrame) -> dict[str, RetargeterIO]:
    """Return the inputs of every device source among the leaves of a graph, for one frame.

    Raises:
        InputError: Two leaves share a name, so that their inputs could not be told apart.
    """
    inputs: dict[str, RetargeterIO] = {}
    for leaf in graph.get_leaf_nodes():
        if leaf.name in inputs:
            raise InputError(f"two leaves of the graph are called {leaf.name!r}; rename one")
        if isinstance(leaf, DeviceSource):
            inputs[leaf.name] = leaf.device_inputs(frame)
    return inputs


class ControllersSource(DeviceSource):
    """Gives ``controller_left`` and ``controller_right``, each an optional ``ControllerInput``."""

    LEFT = "controller_left"
    RIGHT = "controller_right"
    devices = (LEFT, RIGHT)
    group_type = ControllerInput()
    transform_class = ControllerTransform


class HandsSource(DeviceSource):
    """Gives ``hand_left`` and ``hand_right``, each an optional ``HandInput``."""

    LEFT = "hand_left"
    RIGHT = "hand_right"
    devices = (LEFT, RIGHT)
    group_type = HandInput()
    transform_class = HandTransform


class HeadSource(DeviceSource):
    """Gives ``head``, an optional ``HeadInput``; it may be valid without being tracked at the moment."""

    HEAD = "head"
    devices = (HEAD,)
    group_type = HeadInput()
    transform_class = HeadTransform


class JointMapType(TensorType):
    """A slot for joint positions by name."""

    def _check_instance_compatibility(self, other: object) -> bool:
        return True

    def validate_value(self, value: object) -> None:
        """Accept mappings only."""
        if not isinstance(value, Mapping):
            raise TensorTypeError(f"slot {self.name!r} takes joint positions by name, got {type(value).__name__}")


class JointStateSource(BaseRetargeter):
    """Gives ``joints``, one float per configured name; names the device did not send become 0.

    Args:
        name: Name of the node.
        collection_id: Name of the device stream.
        joint_names: Joints wanted, in order.
    """

    JOINTS = "joints"
    RAW = "deviceio_joints"
    stateful = False

    def __init__(self, name: str, collection_id: str, joint_names: Sequence[str]) -> None:
        self.collection_id = collection_id
        self._joints = tuple(joint_names)
        super().__init__(name)

    def input_spec(self) -> RetargeterIOType:
        """Return joint positions by name, optional."""
        return {self.RAW: OptionalType(TensorGroupType(self.collection_id, [JointMapType("positions")]))}

    def output_spec(self) -> RetargeterIOType:
        """Return one float per name, optional."""
        return {self.JOINTS: OptionalType(RobotHandJoints(self.JOINTS, self._joints))}

    def raw_inputs(self, positions: Mapping[str, float] | None) -> RetargeterIO:
        """Return the raw group of one sample [rad or m]; None is absent."""
        group = OptionalTensorGroup(self._inputs[self.RAW])
        if positions is not None:
            group[0] = positions
        return {self.RAW: group}

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        raw = inputs[self.RAW]
        if not raw.is_none:
            for index, joint in enumerate(self._joints):
                outputs[self.JOINTS][index] = float_field(raw[0].get(joint, 0.0), what=f"joint {joint!r}")
