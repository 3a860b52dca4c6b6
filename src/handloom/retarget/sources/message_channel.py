"""Messages to and from the other end, as bytes: buttons of a page, commands of an application, and so on."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, ClassVar

from handloom.errors import InputError
from handloom.retarget.graph.execution import ComputeContext, RetargeterIO, RetargeterIOType
from handloom.retarget.graph.groups import TensorGroup, TensorGroupType
from handloom.retarget.graph.retargeter import BaseRetargeter
from handloom.retarget.graph.types import TensorType, TensorTypeError
from handloom.retarget.sources.device_sources import TrackerSource
from handloom.retarget.sources.trackers import CHANNEL_ID_BYTES, LONGEST_MESSAGE, MessageChannelTracker


class MessageChannelConnectionStatus(IntEnum):
    """State of a channel."""

    CONNECTING = 0
    CONNECTED = 1
    SHUTTING = 2
    DISCONNECTED = 3
    UNKNOWN = -1

    @classmethod
    def _missing_(cls, value: object) -> "MessageChannelConnectionStatus":
        del value
        return cls.UNKNOWN


@dataclass(frozen=True)
class Message:
    """One message; published as ``MessageChannelMessages``."""

    payload: bytes = b""


@dataclass(frozen=True)
class MessageBatch:
    """Messages in order; published as ``MessageChannelMessagesTracked``."""

    data: Sequence[Message] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"MessageBatch({len(self.data)} messages)"


class _ObjectType(TensorType):
    """A slot for an object with certain attributes."""

    needs: ClassVar[str]

    def _check_instance_compatibility(self, other: Any) -> bool:
        return True

    def validate_value(self, value: Any) -> None:
        """Accept objects with the attribute."""
        if not hasattr(value, self.needs):
            raise TensorTypeError(f"slot {self.name!r} takes an object with .{self.needs}, got {type(value).__name__}")


class MessageChannelMessagesTrackedType(_ObjectType):
    """A slot for a ``MessageBatch``."""

    needs = "data"


class MessageChannelStatusType(_ObjectType):
    """A slot for a ``MessageChannelConnectionStatus``."""

    def validate_value(self, value: Any) -> None:
        """Accept states only."""
        if not isinstance(value, MessageChannelConnectionStatus):
            raise TensorTypeError(
                f"slot {self.name!r} takes a MessageChannelConnectionStatus, got {type(value).__name__}"
            )


def DeviceIOMessageChannelMessagesTracked() -> TensorGroupType:  # noqa: N802 - published name
    """Return the type of a raw port of messages."""
    slot = MessageChannelMessagesTrackedType("messages_tracked")
    return TensorGroupType("deviceio_message_channel_messages_tracked", [slot])


def MessageChannelMessagesTrackedGroup() -> TensorGroupType:  # noqa: N802 - published name
    """Return the type of a port of messages."""
    slot = MessageChannelMessagesTrackedType("messages_tracked")
    return TensorGroupType("message_channel_messages_tracked", [slot])


def MessageChannelStatusGroup() -> TensorGroupType:  # noqa: N802 - published name
    """Return the type of a port with the state of a channel."""
    return TensorGroupType("message_channel_status", [MessageChannelStatusType("status")])


class MessageChannelSource(TrackerSource):
    """Outputs the messages received since the last frame as ``messages_tracked``, and ``status``.

    Messages queued by a ``MessageChannelSink`` are sent when this source is polled, once the channel is connected.

    Args:
        name: Name of the node.
        tracker: The channel.
        outbound_queue: Batches to send, oldest first; shared with the sink.
    """

    RAW = "deviceio_message_channel_messages"

    def __init__(self, name: str, tracker: Any, outbound_queue: "deque[Any]") -> None:
        self._tracker = tracker
        self._queue = outbound_queue
        self._status = MessageChannelConnectionStatus.UNKNOWN
        super().__init__(name)

    def get_tracker(self) -> Any:
        """Return the channel."""
        return self._tracker

    def input_spec(self) -> RetargeterIOType:
        """Return the raw port."""
        return {self.RAW: DeviceIOMessageChannelMessagesTracked()}

    def output_spec(self) -> RetargeterIOType:
        """Return the messages and the state."""
        return {"messages_tracked": MessageChannelMessagesTrackedGroup(), "status": MessageChannelStatusGroup()}

    def poll_tracker(self, deviceio_session: Any) -> RetargeterIO:
        """Send queued messages, and return received ones."""
        self._status = MessageChannelConnectionStatus(int(self._tracker.get_status(deviceio_session)))
        if self._status == MessageChannelConnectionStatus.CONNECTED:
            self._send_queue(deviceio_session)
        group = TensorGroup(self._inputs[self.RAW])
        group[0] = self._tracker.get_messages(deviceio_session) or MessageBatch()
        return {self.RAW: group}

    def _send_queue(self, session: Any) -> None:
        """Send messages one by one; if one fails, it and all later ones stay queued."""
        while self._queue:
            batch = self._queue[0]
            left = deque(batch.data or ())
            try:
                while left:
                    self._tracker.send_message(session, left[0])
                    left.popleft()
            except Exception:
                self._queue[0] = MessageBatch(list(left))
                raise
            self._queue.popleft()

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        outputs["messages_tracked"][0] = inputs[self.RAW][0]
        outputs["status"][0] = self._status


class MessageChannelSink(BaseRetargeter):
    """Queues ``messages_tracked`` for the source of the same channel, which sends them in the next frame.

    Args:
        name: Name of the node.
        outbound_queue: The queue; a bounded queue drops its oldest batch when it is full.
    """

    def __init__(self, name: str, outbound_queue: "deque[Any]") -> None:
        self._queue = outbound_queue
        super().__init__(name)

    def input_spec(self) -> RetargeterIOType:
        """Return the one port."""
        return {"messages_tracked": MessageChannelMessagesTrackedGroup()}

    def output_spec(self) -> RetargeterIOType:
        """Return no port."""
        return {}

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        self._queue.append(inputs["messages_tracked"][0])


@dataclass
class MessageChannelConfig:
    """Configuration of a channel, from which its two nodes are created."""

    name: str
    """Nodes are called ``<name>_source`` and ``<name>_sink``."""
    channel_uuid: bytes
    """16 bytes known to both ends."""
    channel_name: str = ""
    """Display name."""
    max_message_size: int = LONGEST_MESSAGE
    """Longest message [bytes]."""
    outbound_queue_capacity: int = 256
    """Largest number of batches waiting for a connection; beyond it the oldest is dropped."""

    def create_nodes(self) -> tuple[MessageChannelSource, MessageChannelSink]:
        """Return the source and the sink of the channel.

        Raises:
            InputError: The id does not have 16 bytes, or the queue capacity is not positive.
        """
        if len(self.channel_uuid) != CHANNEL_ID_BYTES:
            raise InputError(
                f"MessageChannelConfig.channel_uuid must be exactly {CHANNEL_ID_BYTES} bytes, "
                f"got {len(self.channel_uuid)}"
            )
        if self.outbound_queue_capacity <= 0:
            raise InputError(
                f"MessageChannelConfig.outbound_queue_capacity must be > 0, got {self.outbound_queue_capacity}"
            )
        tracker = MessageChannelTracker(self.channel_uuid, self.channel_name, self.max_message_size)
        queue: deque[Any] = deque(maxlen=self.outbound_queue_capacity)
        return MessageChannelSource(f"{self.name}_source", tracker, queue), MessageChannelSink(
            f"{self.name}_sink", queue
        )


def message_channel_config(
    name: str,
    channel_uuid: bytes,
    channel_name: str = "",
    max_message_size: int = LONGEST_MESSAGE,
    outbound_queue_capacity: int = 256,
) -> tuple[MessageChannelSource, MessageChannelSink]:
    """Return the source and the sink of a channel; see ``MessageChannelConfig``."""
    return MessageChannelConfig(
        name, channel_uuid, channel_name, max_message_size, outbound_queue_capacity
    ).create_nodes()
