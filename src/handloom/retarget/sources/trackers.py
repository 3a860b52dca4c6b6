"""Trackers: named devices of a device session, with the published methods; sources poll them."""

from collections.abc import Mapping
from typing import Any, ClassVar

from handloom.errors import InputError
from handloom.retarget.sources.device_frame import DeviceFrame
from handloom.retarget.sources.snapshots import Snapshot

CHANNEL_ID_BYTES = 16
LONGEST_MESSAGE = 64 * 1024


class Tracker:
    """A device, or a pair of them, that a session reads; published as ``ITracker``."""

    extensions: ClassVar[tuple[str, ...]] = ()
    """OpenXR extensions that the published tracker asks its runtime for."""

    def get_name(self) -> str:
        """Return the name of the tracker type."""
        return type(self).__name__


def frame_of(session: Any) -> DeviceFrame:
    """Return the samples of a device session's last update; a frame is returned unchanged."""
    return getattr(session, "frame", session)


class HeadTracker(Tracker):
    """The head."""

    def get_head(self, session: Any) -> Snapshot | None:
        """Return the last sample, or None."""
        return frame_of(session).head


class HandTracker(Tracker):
    """Both hands."""

    extensions = ("XR_EXT_hand_tracking", "XR_MNDX_xdev_space")

    def get_left_hand(self, session: Any) -> Snapshot | None:
        """Return the last sample of the left hand, or None."""
        return frame_of(session).hand_left

    def get_right_hand(self, session: Any) -> Snapshot | None:
        """Return the last sample of the right hand, or None."""
        return frame_of(session).hand_right


class ControllerTracker(Tracker):
    """Both controllers: their samples, and their vibration."""

    extensions = ("XR_NVX1_action_context",)

    def get_left_controller(self, session: Any) -> Snapshot | None:
        """Return the last sample of the left controller, or None."""
        return frame_of(session).controller_left

    def get_right_controller(self, session: Any) -> Snapshot | None:
        """Return the last sample of the right controller, or None."""
        return frame_of(session).controller_right

    def apply_left_haptic_feedback(
        self, session: Any, amplitude: float, frequency_hz: float = 0.0, duration_s: float = 0.0
    ) -> None:
        """Let the left controller vibrate: amplitude 0 to 1 (0 ends it), 0 Hz and 0 s select the device's defaults."""
        session.pulse("left", amplitude, frequency_hz, duration_s)

    def apply_right_haptic_feedback(
        self, session: Any, amplitude: float, frequency_hz: float = 0.0, duration_s: float = 0.0
    ) -> None:
        """Let the right controller vibrate, as ``apply_left_haptic_feedback`` does."""
        session.pulse("right", amplitude, frequency_hz, duration_s)


class FullBodyTracker(Tracker):
    """The joints of the body."""

    extensions = ("XR_BD_body_tracking",)

    def get_body_pose(self, session: Any) -> Snapshot | None:
        """Return the last sample, or None."""
        return frame_of(session).full_body


class CollectionTracker(Tracker):
    """A device identified by the name of its stream.

    Args:
        collection_id: Name of the stream.
        max_flatbuffer_size: Published limit of one sample [bytes]; samples have no limit here.
    """

    extensions = ("XR_NVX1_tensor_data",)

    def __init__(self, collection_id: str, max_flatbuffer_size: int = 256) -> None:
        self.collection_id = collection_id
        self.max_flatbuffer_size = max_flatbuffer_size


class Generic3AxisPedalTracker(CollectionTracker):
    """A rudder with two toe pedals."""

    def get_pedal_data(self, session: Any) -> Snapshot | None:
        """Return the last sample, or None."""
        return frame_of(session).pedals


class JointStateTracker(CollectionTracker):
    """A leader arm, or another device with joints."""

    def get_data(self, session: Any) -> Mapping[str, float] | None:
        """Return joint positions by name [rad or m]; None if there are none."""
        joints = getattr(session, "joints", session)
        return joints.get(self.collection_id) if isinstance(joints, Mapping) else None


class HapticCommandPushTracker(CollectionTracker):
    """A device that accepts numbers for named actuators, such as a glove.

    Args:
        collection_id: Name of the stream.
        tensor_identifier: Name of the value within it.
        max_payload_size: Published limit of one command [bytes]; kept for ported code.
    """

    DEFAULT_MAX_PAYLOAD_SIZE = 256
    extensions = ("XR_NVX1_push_tensor", "XR_NVX1_tensor_data")

    def __init__(
        self, collection_id: str, tensor_identifier: str, max_payload_size: int = DEFAULT_MAX_PAYLOAD_SIZE
    ) -> None:
        super().__init__(collection_id)
        self.tensor_identifier = tensor_identifier
        self.max_payload_size = max_payload_size

    def push(self, session: Any, data: Any) -> None:
        """Send a command: an object with ``endpoint`` and ``values``."""
        session.push(self.collection_id, self.tensor_identifier, data.endpoint, tuple(data.values))


class MessageChannelTracker(Tracker):
    """A two-way stream of messages.

    Args:
        channel_uuid: 16 bytes known to both ends.
        channel_name: Display name.
        max_message_size: Longest message [bytes].

    Raises:
        InputError: The id does not have 16 bytes.
    """

    extensions = ("XR_NV_opaque_data_channel",)

    def __init__(self, channel_uuid: bytes, channel_name: str = "", max_message_size: int = LONGEST_MESSAGE) -> None:
        if len(channel_uuid) != CHANNEL_ID_BYTES:
            raise InputError(
                f"MessageChannelTracker: channel_uuid must be exactly {CHANNEL_ID_BYTES} bytes, got {len(channel_uuid)}"
            )
        self.channel_uuid = bytes(channel_uuid)
        self.channel_name = channel_name
        self.max_message_size = max_message_size

    def get_status(self, session: Any) -> int:
        """Return the state of the connection, a ``MessageChannelConnectionStatus``."""
        return session.channel_status(self.channel_uuid)

    def get_messages(self, session: Any) -> Any:
        """Return the messages received in the last update, a ``MessageBatch``."""
        return session.received(self.channel_uuid)

    def send_message(self, session: Any, message: Any) -> None:
        """Send a message, an object with ``payload``.

        Raises:
            InputError: The message is longer than the channel allows.
        """
        if len(message.payload) > self.max_message_size:
            raise InputError(
                f"channel {self.channel_name or self.channel_uuid.hex()!r}: a message has {len(message.payload)} "
                f"bytes; the limit is {self.max_message_size}"
            )
        session.send(self.channel_uuid, bytes(message.payload))
