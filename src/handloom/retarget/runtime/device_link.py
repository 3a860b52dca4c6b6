"""The link between a session and its devices: samples come in; pulses, commands and messages go out."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from handloom.errors import StateError
from handloom.retarget.sources.device_frame import DeviceFrame
from handloom.retarget.sources.message_channel import MessageChannelConnectionStatus

Devices = Callable[[], DeviceFrame]
"""Called once per step for the current device samples."""


class DeviceLink:
    """Devices that a session reads and writes, e.g. a browser page, a headset or a test.

    A subclass implements ``frame`` and any other operation that its devices support. Unsupported operations raise
    ``StateError``, which a haptic device logs once without ending the session.
    """

    def frame(self) -> DeviceFrame:
        """Return the current device samples; called once per step."""
        raise NotImplementedError

    def joints(self) -> Mapping[str, Mapping[str, float]]:
        """Return joint positions by joint name [rad or m], by stream name."""
        return {}

    def pulse(self, endpoint: str, amplitude: float, frequency_hz: float, duration_s: float) -> None:
        """Trigger a vibration: a gamepad's rumble, a controller's haptics.

        Args:
            endpoint: ``left`` or ``right``.
            amplitude: 0 to 1; 0 ends a pulse.
            frequency_hz: [Hz]; 0 selects the device's default.
            duration_s: [s]; 0 selects the device's shortest.
        """
        raise StateError(f"these devices take no pulses (requested: {endpoint!r})")

    def push(self, collection_id: str, tensor_identifier: str, endpoint: str, values: Sequence[float]) -> None:
        """Send numbers to a named actuator, such as one power per finger of a glove."""
        raise StateError(f"these devices have no stream {collection_id!r} that takes {tensor_identifier!r}")

    def channel_status(self, channel: bytes) -> MessageChannelConnectionStatus:
        """Return the state of a message channel."""
        del channel
        return MessageChannelConnectionStatus.DISCONNECTED

    def receive(self, channel: bytes) -> list[bytes]:
        """Return the messages received since the last call."""
        del channel
        return []

    def send(self, channel: bytes, payload: bytes) -> None:
        """Send a message."""
        raise StateError(f"these devices have no message channel {channel.hex()}")


class FunctionLink(DeviceLink):
    """Input-only devices, read through a function.

    Args:
        devices: Returns the current samples.
    """

    def __init__(self, devices: Devices) -> None:
        self._devices = devices

    def frame(self) -> DeviceFrame:
        """Return the result of the function."""
        return self._devices()


_offered: ContextVar[DeviceLink | None] = ContextVar("offered_devices", default=None)


@contextmanager
def offer_devices(devices: Devices | DeviceLink) -> Iterator[DeviceLink]:
    """Let sessions opened within the block read these devices, unless their config names others.

    It replaces the OpenXR runtime that the published session looks for on the machine.
    """
    token = _offered.set(link_of(devices))
    try:
        yield link_of(devices)
    finally:
        _offered.reset(token)


def offered_devices() -> DeviceLink | None:
    """Return the devices of the innermost ``offer_devices`` block; None outside."""
    return _offered.get()


def link_of(devices: Devices | DeviceLink) -> DeviceLink:
    """Return devices as a link."""
    return devices if isinstance(devices, DeviceLink) else FunctionLink(devices)
