"""Devices that vibrate or push: what a sink stores during the graph is sent once per frame, after it."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from handloom.errors import InputError
from handloom.retarget.graph.groups import TensorGroupType
from handloom.retarget.haptics.tactile_types import NUM_CONTROLLER_HAPTIC_FIELDS, ControllerHapticPulse

Endpoint = str
"""Name of one actuator of a device: ``left`` and ``right`` of what is worn or held, ``device`` of what stands alone."""
SIDES = ("left", "right")
LOGGER = logging.getLogger("handloom")


class HapticDevice(ABC):
    """What a ``HapticSink`` drives; published as ``IHapticDevice``."""

    @abstractmethod
    def accepted_type(self) -> TensorGroupType:
        """Return the type of what each endpoint takes; connecting anything else is refused."""

    @abstractmethod
    def endpoints(self) -> tuple[Endpoint, ...]:
        """Return the names of the actuators; a sink has an optional port for each."""

    @abstractmethod
    def apply(self, endpoint: Endpoint, values: Any) -> None:
        """Store what an endpoint shall do in this frame; nothing is sent yet."""

    @abstractmethod
    def flush(self, deviceio_session: Any) -> None:
        """Send what was stored; a device that fails must not end the session."""

    def get_tracker(self) -> Any:
        """Return the tracker that the device belongs to; None for one of its own."""
        return None


class PulseDevice(HapticDevice):
    """Controllers or gamepads that take pulses, through a function: a browser's rumble, an XR controller, a test.

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
        """Store a pulse; the last one of a frame counts, and one that is not finite counts as none.

        Raises:
            InputError: Not three numbers.
        """
        pulse = np.asarray(values, dtype=np.float64).ravel()
        if pulse.size != NUM_CONTROLLER_HAPTIC_FIELDS:
            raise InputError(
                f"a pulse is a 3-element vector [amplitude, frequency_hz, duration_s], got shape {np.shape(values)}"
            )
        if np.isfinite(pulse).all():
            self._pending[endpoint] = (float(pulse[0]), float(pulse[1]), float(pulse[2]))

    def flush(self, deviceio_session: Any) -> None:
        """Send the stored pulses; the first failure of an endpoint is logged, the session goes on."""
        pending, self._pending = self._pending, {}
        for endpoint, pulse in pending.items():
            try:
                self._deliver(deviceio_session, endpoint, pulse)
            except Exception as error:
                if endpoint not in self._failed:
                    LOGGER.warning("haptic feedback of %s failed, which is not said again: %s", endpoint, error)
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
        """Never called: the tracker takes the session, too."""

    def get_tracker(self) -> Any:
        """Return the tracker."""
        return self._tracker

    def _deliver(self, session: Any, endpoint: Endpoint, pulse: tuple[float, float, float]) -> None:
        getattr(self._tracker, f"apply_{endpoint}_haptic_feedback")(session, *pulse)
