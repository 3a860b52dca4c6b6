"""Messages go out when a channel is connected, come in once, and none is lost by a failure."""

from collections import deque

import pytest

from handloom.errors import InputError
from handloom.retarget import DeviceFrame, DeviceLink, OutputCombiner, TeleopSession, TeleopSessionConfig
from handloom.retarget.sources.message_channel import (
    Message,
    MessageBatch,
    MessageChannelConnectionStatus,
    MessageChannelSource,
    message_channel_config,
)

CHANNEL = bytes(range(16))


class Line(DeviceLink):
    """A channel in memory."""

    def __init__(self) -> None:
        self.status = MessageChannelConnectionStatus.CONNECTING
        self.inbox: list[bytes] = []
        self.outbox: list[bytes] = []
        self.time = 0

    def frame(self) -> DeviceFrame:
        self.time += 1
        return DeviceFrame(time_ns=self.time)

    def channel_status(self, channel: bytes) -> MessageChannelConnectionStatus:
        assert channel == CHANNEL
        return self.status

    def receive(self, channel: bytes) -> list[bytes]:
        taken, self.inbox = self.inbox, []
        return taken

    def send(self, channel: bytes, payload: bytes) -> None:
        self.outbox.append(payload)


def test_a_graph_echoes_what_comes_as_soon_as_the_channel_is_connected() -> None:
    source, sink = message_channel_config("echo", CHANNEL)
    echo = sink.connect({"messages_tracked": source.output("messages_tracked")})
    graph = OutputCombiner({"status": source.output("status"), "in": source.output("messages_tracked")})
    line = Line()
    with TeleopSession(TeleopSessionConfig("test", graph, devices=line)) as session:

        def step() -> tuple[list[bytes], int]:
            outputs = session.step()
            group = source.input_spec()["deviceio_message_channel_messages"]
            assert group is not None
            echo.target_module({"messages_tracked": outputs["in"]})
            return [message.payload for message in outputs["in"][0].data], outputs["status"][0]

        line.inbox = [b"one", b"two"]
        assert step() == ([b"one", b"two"], MessageChannelConnectionStatus.CONNECTING)
        assert line.outbox == []
        line.status = MessageChannelConnectionStatus.CONNECTED
        assert step() == ([], MessageChannelConnectionStatus.CONNECTED)
        assert line.outbox == [b"one", b"two"]


def test_a_message_that_fails_stays_with_all_after_it() -> None:
    class Fragile:
        sent: list[bytes] = []  # noqa: RUF012
        broken = True

        def get_status(self, session):
            return 1

        def get_messages(self, session):
            return None

        def send_message(self, session, message):
            if message.payload == b"b" and self.broken:
                raise OSError("line is down")
            self.sent.append(message.payload)

    tracker, queue = Fragile(), deque([MessageBatch([Message(b"a"), Message(b"b")]), MessageBatch([Message(b"c")])])
    source = MessageChannelSource("source", tracker, queue)
    with pytest.raises(OSError, match="line is down"):
        source.poll_tracker(None)
    assert [[message.payload for message in batch.data] for batch in queue] == [[b"b"], [b"c"]]
    tracker.broken = False
    assert source(source.poll_tracker(None))["messages_tracked"][0].data == []
    assert tracker.sent == [b"a", b"b", b"c"]


def test_channels_need_an_id_of_16_bytes_room_for_a_message_and_short_messages() -> None:
    with pytest.raises(InputError, match="exactly 16 bytes, got 2"):
        message_channel_config("short", b"ab")
    with pytest.raises(InputError, match="must be > 0"):
        message_channel_config("none", CHANNEL, outbound_queue_capacity=0)
    source, _ = message_channel_config("small", CHANNEL, max_message_size=2)
    with pytest.raises(InputError, match="has 3 bytes; the limit is 2"):
        source.get_tracker().send_message(Line(), Message(b"abc"))
    assert MessageChannelConnectionStatus(77) is MessageChannelConnectionStatus.UNKNOWN
