"""Nodes at the end of a graph that write to a device."""

from abc import abstractmethod
from typing import Any

import numpy as np

from handloom.retarget.graph.execution import ComputeContext, RetargeterIO, RetargeterIOType
from handloom.retarget.graph.groups import OptionalType
from handloom.retarget.graph.retargeter import BaseRetargeter
from handloom.retarget.haptics.haptic_device import HapticDevice


class DeviceSink(BaseRetargeter):
    """A node without outputs, whose inputs a session sends to a device after the graph; published as IDeviceIOSink."""

    def output_spec(self) -> RetargeterIOType:
        """Return no port."""
        return {}

    @abstractmethod
    def get_tracker(self) -> Any:
        """Return the tracker that the device belongs to, or None."""

    @abstractmethod
    def flush_to_device(self, deviceio_session: Any) -> None:
        """Send the values that the graph stored in this frame."""


class HapticSink(DeviceSink):
    """Sends the values at its ports to a device, with one optional port per endpoint.

    Args:
        name: Name of the node.
        device: The device.
    """

    def __init__(self, name: str, device: HapticDevice) -> None:
        self._device = device
        self._endpoints = tuple(device.endpoints())
        super().__init__(name)

    @property
    def device(self) -> HapticDevice:
        """The device."""
        return self._device

    def input_spec(self) -> RetargeterIOType:
        """Return one optional port per endpoint, of the type that the device takes."""
        return {endpoint: OptionalType(self._device.accepted_type()) for endpoint in self._endpoints}

    def get_tracker(self) -> Any:
        """Return the tracker of the device."""
        return self._device.get_tracker()

    def flush_to_device(self, deviceio_session: Any) -> None:
        """Send what was stored."""
        self._device.flush(deviceio_session)

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        for endpoint in self._endpoints:
            if not inputs[endpoint].is_none:
                self._device.apply(endpoint, np.asarray(inputs[endpoint][0]))
