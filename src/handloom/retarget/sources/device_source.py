"""A leaf that turns raw device samples into standard groups."""

from collections.abc import Mapping
from typing import ClassVar

from handloom.errors import InputError
from handloom.retarget.graph.base_retargeter import BaseRetargeter
from handloom.retarget.graph.compute_context import ComputeContext
from handloom.retarget.graph.execution_cache import RetargeterIO
from handloom.retarget.graph.graph_executable import GraphExecutable, OutputSelector, RetargeterIOType
from handloom.retarget.graph.retargeter_subgraph import RetargeterSubgraph
from handloom.retarget.graph.tensor_group import OptionalTensorGroup
from handloom.retarget.graph.tensor_group_type import OptionalType, TensorGroupType
from handloom.retarget.sources.device_frame import DEVICE_CLASSES, DeviceFrame
from handloom.retarget.sources.pose_transform import PoseTransform
from handloom.retarget.sources.snapshot import Snapshot
from handloom.retarget.sources.snapshot_type import raw_sample


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
