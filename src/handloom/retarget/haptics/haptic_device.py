"""Tactile samples and haptic devices: stored commands are sent once per frame, after the graph has run."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from handloom.errors import InputError
from handloom.retarget.graph.groups import TensorGroupType
from handloom.retarget.graph.types import NDArrayType
from handloom.retarget.sources.trackers import HapticCommandPushTracker


class FingerIndex(IntEnum):
    """Order of the fingers of a glove."""

    THUMB = 0
    INDEX = 1
    MIDDLE = 2
    RING = 3
    PINKY = 4


class ControllerHapticPulseField(IntEnum):
    """Order of the numbers of a pulse."""

    AMPLITUDE = 0
    FREQUENCY_HZ = 1
    DURATION_S = 2


class EndEffectorForceAxis(IntEnum):
    """Order of the components of a force."""

    X = 0
    Y = 1
    Z = 2


NUM_HAPTIC_FINGERS = len(FingerIndex)
NUM_CONTROLLER_HAPTIC_FIELDS = len(ControllerHapticPulseField)
NUM_END_EFFECTOR_FORCE_AXES = len(EndEffectorForceAxis)


def TactileVector(num_taxels: int) -> TensorGroupType:  # noqa: N802 - published name
    """Return the type of one value per taxel, or of a vector: float32 (num_taxels,)."""
    return TensorGroupType(f"tactile_vector_{num_taxels}", [NDArrayType("tactile_values", (num_taxels,))])


def TactileHeatmap(rows: int, cols: int, num_pads: int = 1) -> TensorGroupType:  # noqa: N802 - published name
    """Return the type of the pressures on pads: float32 (num_pads, rows, cols)."""
    return TensorGroupType(
        f"tactile_heatmap_{num_pads}x{rows}x{cols}", [NDArrayType("tactile_pressure", (num_pads, rows, cols))]
    )


def FingerPowerVector(num_fingers: int = NUM_HAPTIC_FINGERS) -> TensorGroupType:  # noqa: N802 - published name
    """Return the type of the vibration strength at each finger of a glove, 0 to 1: float32 (num_fingers,)."""
    return TensorGroupType(f"finger_power_vector_{num_fingers}", [NDArrayType("finger_power", (num_fingers,))])


def ControllerHapticPulse() -> TensorGroupType:  # noqa: N802 - published name
    """Return the type of a pulse: amplitude 0 to 1, frequency [Hz], duration [s], float32 (3,).

    An amplitude of 0 ends a pulse; a frequency of 0 selects the device's default, a duration of 0 its shortest.
    """
    return TensorGroupType("controller_haptic_pulse", [NDArrayType("haptic_pulse", (NUM_CONTROLLER_HAPTIC_FIELDS,))])


def EndEffectorForce() -> TensorGroupType:  # noqa: N802 - published name
    """Return the type of a force at a point, in the frame of the device [N]: float32 (3,)."""
    return TensorGroupType("end_effector_force", [NDArrayType("force", (NUM_END_EFFECTOR_FORCE_AXES,))])


Endpoint = str
"""Name of one actuator of a device: ``left`` and ``right`` for worn or held devices, ``device`` for a standalone
one."""
SIDES = ("left", "right")
LOGGER = logging.getLogger("handloom")


class HapticDevice(ABC):
    """A device that a ``HapticSink`` drives; published as ``IHapticDevice``."""

    @abstractmethod
    def accepted_type(self) -> TensorGroupType:
        """Return the type that each endpoint takes; connections of other types are rejected."""

    @abstractmethod
    def endpoints(self) -> tuple[Endpoint, ...]:
        """Return the names of the actuators; a sink has an optional port for each."""

    @abstractmethod
    def apply(self, endpoint: Endpoint, values: Any) -> None:
        """Store the command of an endpoint for this frame; nothing is sent yet."""

    @abstractmethod
    def flush(self, deviceio_session: Any) -> None:
        """Send the stored commands; a failing device must not end the session."""

    def get_tracker(self) -> Any:
        """Return the tracker that the device belongs to; None if it needs none."""
        return None


class PulseDevice(HapticDevice):
    """Controllers or gamepads that receive pulses through a function, e.g. in a browser, an XR runtime or a test.

    Args:
        send: Called with endpoint, amplitude (0 to 1), frequency [Hz] and duration [s].
        endpoints: Names of the actuators.
    """

    def __init__(
        self, send: Callable[[Endpoint, float, float, float], Any], endpoints: Iterable[Endpoint] = SIDES
    ) -> None:
        self._send = send
        self._endpoints = tuple(endpoints)
        self._pending: dict[Endpoint, tuple[float, float, float]] = {}
        self._failed: set[Endpoint] = set()

    def accepted_type(self) -> TensorGroupType:
        """Return the type of a pulse."""
        return ControllerHapticPulse()

    def endpoints(self) -> tuple[Endpoint, ...]:
        """Return the names of the actuators."""
        return self._endpoints

    def apply(self, endpoint: Endpoint, values: ArrayLike) -> None:
        """Store a pulse; only the last one of a frame is sent, and non-finite pulses are ignored.

        Raises:
            InputError: Not three numbers.
        """
        pulse = np.asarray(values, dtype=np.float64).ravel()
        if pulse.size != NUM_CONTROLLER_HAPTIC_FIELDS:
            raise InputError(
                f"a pulse must be a vector [amplitude, frequency_hz, duration_s], got shape {np.shape(values)}"
            )
        if np.isfinite(pulse).all():
            self._pending[endpoint] = (float(pulse[0]), float(pulse[1]), float(pulse[2]))

    def flush(self, deviceio_session: Any) -> None:
        """Send the stored pulses; the first failure of an endpoint is logged and the session continues."""
        pending, self._pending = self._pending, {}
        for endpoint, pulse in pending.items():
            try:
                self._deliver(deviceio_session, endpoint, pulse)
            except Exception as error:
                if endpoint not in self._failed:
                    LOGGER.warning(
                        "%s: haptic feedback of %s failed; further failures are not logged: %s",
                        type(self).__name__,
                        endpoint,
                        error,
                    )
                    self._failed.add(endpoint)

    def _deliver(self, session: Any, endpoint: Endpoint, pulse: tuple[float, float, float]) -> None:
        del session
        self._send(endpoint, *pulse)


class ControllerHapticDevice(PulseDevice):
    """Controllers of a tracker that has ``apply_left_haptic_feedback`` and ``apply_right_haptic_feedback``.

    Args:
        controller_tracker: The tracker.
        endpoints: ``left``, ``right`` or both.
    """

    def __init__(self, controller_tracker: Any, endpoints: Iterable[Endpoint] = SIDES) -> None:
        super().__init__(self._nowhere, endpoints)
        unsupported = sorted(set(self.endpoints()) - set(SIDES))
        if unsupported:
            raise InputError(f"ControllerHapticDevice only supports 'left'/'right' endpoints, got {unsupported}")
        self._tracker = controller_tracker

    @staticmethod
    def _nowhere(*_: Any) -> None:
        """Never called: the tracker also takes the session."""

    def get_tracker(self) -> Any:
        """Return the tracker."""
        return self._tracker

    def _deliver(self, session: Any, endpoint: Endpoint, pulse: tuple[float, float, float]) -> None:
        getattr(self._tracker, f"apply_{endpoint}_haptic_feedback")(session, *pulse)


@dataclass(frozen=True)
class HapticCommand:
    """The command of one actuator; the device defines the meaning of the numbers."""

    endpoint: Endpoint = ""
    values: Sequence[float] = ()


class PushTensorHapticDevice(HapticDevice):
    """A device outside the session that receives numbers per endpoint through a stream, such as a glove's driver.

    Args:
        collection_id: Name of the stream.
        accepted_type: Type of the values for each endpoint.
        tensor_identifier: Name of the value within the stream.
        endpoints: Names of the actuators.
        max_payload_size: Published limit of one command [bytes].
    """

    def __init__(
        self,
        collection_id: str,
        accepted_type: TensorGroupType,
        *,
        tensor_identifier: str = "haptic_command",
        endpoints: Iterable[Endpoint] = SIDES,
        max_payload_size: int = HapticCommandPushTracker.DEFAULT_MAX_PAYLOAD_SIZE,
    ) -> None:
        self._type, self._endpoints = accepted_type, tuple(endpoints)
        self._tracker = HapticCommandPushTracker(collection_id, tensor_identifier, max_payload_size)
        self._pending: dict[Endpoint, list[float]] = {}
        self._failed: set[Endpoint] = set()

    def accepted_type(self) -> TensorGroupType:
        """Return the type that was given."""
        return self._type

    def endpoints(self) -> tuple[Endpoint, ...]:
        """Return the names of the actuators."""
        return self._endpoints

    def get_tracker(self) -> HapticCommandPushTracker:
        """Return the stream."""
        return self._tracker

    def apply(self, endpoint: Endpoint, values: ArrayLike) -> None:
        """Store the command of an endpoint; only the last one of a frame is sent."""
        self._pending[endpoint] = np.asarray(values, dtype=np.float32).ravel().tolist()

    def flush(self, deviceio_session: Any) -> None:
        """Send the stored commands; the first failure of an endpoint is logged and the session continues."""
        pending, self._pending = self._pending, {}
        for endpoint, values in pending.items():
            try:
                self._tracker.push(deviceio_session, HapticCommand(endpoint, values))
            except Exception as error:
                if endpoint not in self._failed:
                    LOGGER.warning(
                        "%s: values for %s were not sent; further failures are not logged: %s",
                        type(self).__name__,
                        endpoint,
                        error,
                    )
                    self._failed.add(endpoint)


def haptic_glove_device(
    collection_id: str,
    *,
    num_fingers: int = NUM_HAPTIC_FINGERS,
    endpoints: Iterable[Endpoint] = SIDES,
    tensor_identifier: str = "haptic_command",
) -> PushTensorHapticDevice:
    """Return a device for gloves: one power per finger, 0 to 1, thumb first."""
    return PushTensorHapticDevice(
        collection_id, FingerPowerVector(num_fingers), tensor_identifier=tensor_identifier, endpoints=endpoints
    )
