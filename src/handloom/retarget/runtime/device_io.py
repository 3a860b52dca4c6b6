"""Device sessions under their published names, which trackers read, live or from a recording."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from handloom.errors import FileError, StateError
from handloom.retarget.closing import Closing
from handloom.retarget.recording import DeviceRecorder, DeviceRecording
from handloom.retarget.runtime.device_link import DeviceLink, FunctionLink, offered_devices
from handloom.retarget.sources.device_frame import DeviceFrame
from handloom.retarget.sources.message_channel import Message, MessageBatch
from handloom.retarget.sources.trackers import MessageChannelTracker

CLOCK_EXTENSION = "XR_KHR_convert_timespec_time"
"""Extensions that the published session requests regardless of its trackers."""
MCAP_MAGIC = b"\x89MCAP"


@dataclass(frozen=True)
class OpenXRSessionHandles:
    """Handles to open a device session; ``link`` is an addition with the devices, the numbers are unused."""

    instance: int = 0
    session: int = 0
    space: int = 0
    xr_get_instance_proc_addr: int = 0
    link: DeviceLink | None = None

    @property
    def proc_addr(self) -> int:
        """The last of the published handles."""
        return self.xr_get_instance_proc_addr


class OpenXRSession(Closing):
    """Finds the devices of ``offer_devices``, in place of the OpenXR runtime of the published session.

    Args:
        app_name: Name of the application.
        extensions: Extensions requested by the trackers; ignored, since everything that a link offers is available.
    """

    def __init__(self, app_name: str, extensions: Sequence[str] = ()) -> None:
        self.app_name, self.extensions = app_name, list(extensions)
        self._handles = OpenXRSessionHandles(link=offered_devices())

    def get_handles(self) -> OpenXRSessionHandles:
        """Return the handles to open a device session."""
        return self._handles

    def close(self) -> None:
        """Let the devices go."""


@dataclass(frozen=True)
class TrackerVendor:
    """Published choice of a vendor for a device type."""

    id: str
    params: Mapping[str, str] = field(default_factory=dict)


class _Pairs:
    """Trackers, each with something."""

    def __init__(self, pairs: Sequence[tuple[Any, Any]]) -> None:
        self._pairs = list(pairs)


class VendorConfig(_Pairs):
    """Choices by tracker; they have no effect, since a link delivers samples of any vendor."""

    def __init__(self, tracker_vendors: Sequence[tuple[Any, Any]] = ()) -> None:
        super().__init__(tracker_vendors)

    def get_tracker_vendors(self) -> list[tuple[Any, Any]]:
        """Return pairs of tracker and choice."""
        return list(self._pairs)


class _RecordingFile(_Pairs):
    """A recording, and the names of its trackers."""

    def __init__(self, filename: str | Path, tracker_names: Sequence[tuple[Any, str]] = ()) -> None:
        super().__init__(tracker_names)
        self.filename = str(filename)

    def get_tracker_names(self) -> list[tuple[Any, str]]:
        """Return pairs of tracker and name."""
        return list(self._pairs)


class McapRecordingConfig(_RecordingFile):
    """A recording to create: JSON lines as written by ``DeviceRecorder``, not MCAP."""


class McapReplayConfig(_RecordingFile):
    """A recording to play, created by a session of this package."""


class DeviceIOSession(Closing):
    """The samples of the last update, which trackers read. It also sends output to the devices.

    Args:
        link: The devices.
        recorder: File that every frame is written to.
    """

    def __init__(self, link: DeviceLink, recorder: DeviceRecorder | None = None) -> None:
        self._link, self._recorder = link, recorder
        self._frame: DeviceFrame | None = None
        self._joints: Mapping[str, Mapping[str, float]] = {}
        self._channels: list[bytes] = []
        self._received: dict[bytes, MessageBatch] = {}

    @staticmethod
    def get_required_extensions(trackers: Sequence[Any], vendor_config: Any = None) -> list[str]:
        """Return the OpenXR extensions that the published trackers need; for information only."""
        del vendor_config
        return sorted({CLOCK_EXTENSION, *(name for tracker in trackers for name in getattr(tracker, "extensions", ()))})

    @classmethod
    def run(
        cls, trackers: Sequence[Any], handles: Any, recording_config: Any = None, vendor_config: Any = None
    ) -> "DeviceIOSession":
        """Open a session.

        Args:
            trackers: Trackers to read; message channels among them receive from now on.
            handles: Of ``OpenXRSession.get_handles``.
            recording_config: A ``McapRecordingConfig``, or None.
            vendor_config: Published choices, without effect.

        Raises:
            StateError: There are trackers, but the handles carry no devices.
        """
        del vendor_config
        link = getattr(handles, "link", None)
        if not isinstance(link, DeviceLink):
            if trackers:
                raise StateError(
                    f"there are no devices for {', '.join(type(tracker).__name__ for tracker in trackers)}: give "
                    "TeleopSessionConfig(devices=...) a function that returns a DeviceFrame, or open the session "
                    "within handloom.retarget.offer_devices(...); an OpenXR runtime is not used here"
                )
            link = FunctionLink(lambda: DeviceFrame(time_ns=time.monotonic_ns()))
        session = cls(link, DeviceRecorder(recording_config.filename) if recording_config else None)
        session._channels = [t.channel_uuid for t in trackers if isinstance(t, MessageChannelTracker)]
        return session

    @property
    def frame(self) -> DeviceFrame:
        """The samples of the last update; before the first update, all devices are silent."""
        return self._frame or DeviceFrame(time_ns=time.monotonic_ns())

    @property
    def joints(self) -> Mapping[str, Mapping[str, float]]:
        """Joint positions by joint name, by stream name."""
        return self._joints

    def update(self) -> None:
        """Read all devices once."""
        self._frame = self._link.frame()
        self._joints = self._link.joints()
        self._received = {
            channel: MessageBatch([Message(payload) for payload in self._link.receive(channel)])
            for channel in self._channels
        }
        if self._recorder is not None:
            self._recorder.write(self._frame)

    def received(self, channel: bytes) -> MessageBatch:
        """Return the messages received in the last update."""
        return self._received.get(channel, MessageBatch())

    def channel_status(self, channel: bytes) -> int:
        """Return the state of a message channel."""
        return self._link.channel_status(channel)

    def send(self, channel: bytes, payload: bytes) -> None:
        """Send a message."""
        self._link.send(channel, payload)

    def pulse(self, endpoint: str, amplitude: float, frequency_hz: float = 0.0, duration_s: float = 0.0) -> None:
        """Send a haptic pulse, see ``DeviceLink.pulse``."""
        self._link.pulse(endpoint, amplitude, frequency_hz, duration_s)

    def push(self, collection_id: str, tensor_identifier: str, endpoint: str, values: Sequence[float]) -> None:
        """Send numbers to a named actuator, see ``DeviceLink.push``."""
        self._link.push(collection_id, tensor_identifier, endpoint, values)

    def close(self) -> None:
        """End the recording, if there is one."""
        if self._recorder is not None:
            self._recorder.close()


class RecordedLink(DeviceLink):
    """A recording in place of devices: one frame per update; output to devices is discarded.

    Args:
        recording: The frames.
    """

    def __init__(self, recording: DeviceRecording) -> None:
        self._recording = recording
        self._played = 0

    @property
    def ended(self) -> bool:
        """Whether no frame is left."""
        return self._played >= len(self._recording)

    def frame(self) -> DeviceFrame:
        """Return the next frame.

        Raises:
            StateError: The recording has ended.
        """
        if self.ended:
            raise StateError(f"the recording has ended after {len(self._recording)} frames")
        self._played += 1
        return self._recording.frames[self._played - 1]

    def pulse(self, endpoint: str, amplitude: float, frequency_hz: float, duration_s: float) -> None:
        """Do nothing."""

    def push(self, collection_id: str, tensor_identifier: str, endpoint: str, values: Sequence[float]) -> None:
        """Do nothing."""


class ReplaySession(DeviceIOSession):
    """A session whose samples were recorded."""

    @classmethod
    def run(cls, config: Any, *_: Any) -> "ReplaySession":  # pyright: ignore[reportIncompatibleMethodOverride]
        """Open a recording.

        Args:
            config: A ``McapReplayConfig``.

        Raises:
            FileError: The file is not a recording of this package.
        """
        try:
            with Path(config.filename).open("rb") as file:
                is_mcap = file.read(len(MCAP_MAGIC)) == MCAP_MAGIC
        except OSError as error:
            raise FileError(f"{config.filename}: cannot be read: {error.strerror}") from error
        if is_mcap:
            raise FileError(f"{config.filename}: MCAP files are not read here; record with this package to replay")
        return cls(RecordedLink(DeviceRecording.read(config.filename)))
