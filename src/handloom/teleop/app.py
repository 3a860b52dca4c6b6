"""The whole application: run, page, images and simulation, from the first scene to the dataset."""

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from handloom.teleop.keeping.operator_session import AGAIN, DISCARD, FINISH, RESET, REWIND, SAVE, UNDO
from handloom.teleop.keeping.teleop_run import TeleopRun
from handloom.teleop.leader.leader_arm import LeaderSpec
from handloom.teleop.leader.leader_reader import LeaderReader
from handloom.teleop.serving.head_view import HeadPose
from handloom.teleop.serving.messages import (
    CommandMessage,
    HeadMessage,
    InputMessage,
    MarkMessage,
    Message,
    StereoMessage,
    ViewMessage,
)
from handloom.teleop.serving.page_view import PageView
from handloom.teleop.serving.picture_stream import PictureStream
from handloom.teleop.serving.server import TeleopServer
from handloom.teleop.session.live_input import LiveInput
from handloom.web import is_loopback
from handloom.web.certificate import self_signed, token_of

SWITCH = 0.001
"""Time for which a thread may hold the interpreter while another one waits [s]. With Python's default of 5 ms, a sample
that arrives while an image is being packed would wait a third of a tick."""


@dataclass(frozen=True, kw_only=True)
class PageOptions:
    """Address of the page, and how its images are rendered."""

    host: str = "127.0.0.1"
    port: int = 0
    """0 chooses a free port."""
    size: tuple[int, int] = (640, 480)
    """Maximum width and height of the large image [px]; the others are half as wide."""
    cameras: tuple[str, ...] = ()
    """Names of the views to show; empty means all."""
    preset: str = "fast"
    backend: str = "cpu"
    """Renderer of the live images: cpu or cuda."""
    https: bool = False
    """Use HTTPS even on this machine; other machines always get HTTPS."""
    certificate_folder: Path | None = None
    """Folder of the self-signed certificate."""
    operators: int = 1
    """Number of operators who work at the same time, each in their own scene."""
    leaders: tuple[LeaderSpec, ...] = ()
    """Leader arms of the first operator."""


class Desk:
    """The input and the view of one operator.

    Args:
        number: Number of the desk, from 0.
        server: Sends states and images to the page.
        teleop_run: The run.
        options: Options of the page.
    """

    def __init__(self, number: int, server: TeleopServer, teleop_run: TeleopRun, options: PageOptions) -> None:
        self._run, self._number = teleop_run, number
        self.live = LiveInput()
        self.pictures = PictureStream(
            lambda files: server.publish_pictures([self.pictures.stamp + file for file in files], number),
            size=options.size,
            preset=options.preset,
            backend=options.backend,
            cameras=options.cameras,
        )
        self.view = PageView(
            self.live,
            self.pictures,
            lambda state: server.publish_state(state, number),
            task=teleop_run.task.name,
            keeps_failures=teleop_run.run.settings.keep_failures,
            policy=teleop_run.policy.partition("|")[0].removeprefix("policy="),
            saved=teleop_run.saved,
        )

    def hear(self, message: Message) -> None:
        """Handle a message from the client in control."""
        if isinstance(message, InputMessage):
            self.live.hear(message)
        elif isinstance(message, CommandMessage):
            self._obey(message)
            self.view.show()
        elif isinstance(message, MarkMessage):
            (self.live.mark if message.kind == "subtask" else self.live.say)(message.text)
            self.view.show()
        elif isinstance(message, ViewMessage):
            self.pictures.show_large(message.name, message.width, message.height)
            self.view.cameras_changed()
        elif isinstance(message, HeadMessage):
            head = HeadPose(seq=message.seq, position=message.position, orientation=message.orientation)
            if self.pictures.look_from(head):
                self.view.cameras_changed()  # An eye has a wider view than the fixed camera.
        elif isinstance(message, StereoMessage):
            self.pictures.see_with(message.eye_distance)
            self.view.cameras_changed()

    def _obey(self, message: CommandMessage) -> None:
        sessions, command = self._run.sessions, message.command
        session = sessions[self._number] if self._number < len(sessions) else None
        if command == "retry":
            self._run.saver.retry()
        elif command == "rewind":
            self.live.end(REWIND, back=message.seconds)
        elif command not in ("undo", "again") or (session is not None and session.may(command)):
            ACTIONS[command](self.live)

    def controlled(self, somebody: bool) -> None:
        """Handle that someone has taken control, or that no one has it any more."""
        if somebody:
            self.live.connect()
        else:
            self.live.disconnect()
            self.pictures.see_with(0.0)
        self.view.cameras_changed()


class TeleopApp:
    """The session of one operator or of several; ``serve`` blocks until it is finished.

    Args:
        teleop_run: The run to drive and to record into.
        options: Options of the page.
    """

    def __init__(self, teleop_run: TeleopRun, options: PageOptions | None = None) -> None:
        self.options = options or PageOptions()
        self._run = teleop_run
        secure = self.options.https or not is_loopback(self.options.host)
        self.server = TeleopServer(
            token_of(teleop_run.run.path),
            on_message=lambda message, desk: self.desks[desk].hear(message),
            on_control=lambda somebody, desk: self.desks[desk].controlled(somebody),
            desks=self.options.operators,
            host=self.options.host,
            port=self.options.port,
            certificate=self_signed(self.options.host, self.options.certificate_folder) if secure else None,
        )
        numbers = range(self.options.operators)
        self.desks = [Desk(number, self.server, teleop_run, self.options) for number in numbers]
        first = self.desks[0]
        self.live, self.view, self.pictures, self.hear = first.live, first.view, first.pictures, first.hear

    def serve(self, on_ready: Callable[[str], None] = lambda address: None) -> None:
        """Serve until every operator finishes, or the program is interrupted; then the dataset is merged.

        Args:
            on_ready: Called with the address of the page.
        """
        self.server.start()
        readers = [self._reader(leader) for leader in self.options.leaders]
        with no_long_pauses():
            try:
                for reader in readers:
                    reader.start()
                on_ready(self.server.address)
                self._run.carry_out_all([(desk.live, desk.view) for desk in self.desks])
                for desk in self.desks:
                    desk.view.show(phase="finished", saved=self._run.saved)
            finally:
                for closing in (*readers, *(desk.pictures for desk in self.desks), self.server):
                    closing.close()

    def finish(self) -> None:
        """End the session for all operators, like the Finish button; may be called from any thread."""
        for desk in self.desks:
            desk.live.end(FINISH, for_good=True)

    def _reader(self, leader: LeaderSpec) -> LeaderReader:
        """Return the reader of a leader arm for the first desk."""
        desk = self.desks[0]
        return LeaderReader(leader, desk.live.hear_leader, lambda words: desk.view.show(leader=words))


@contextmanager
def no_long_pauses() -> Iterator[None]:
    """Keep threads of this program from delaying each other while a robot is driven.

    The 200,000 objects loaded so far, mostly kernels, are excluded from garbage collection: a full collection stops the
    interpreter for 0.1 s, and with it physics, images and the page.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(SWITCH, before))
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        sys.setswitchinterval(before)


ACTIONS: dict[str, Callable[[LiveInput], None]] = {
    "start": LiveInput.start,
    "pause": LiveInput.pause,
    "stop": LiveInput.stop,
    "reset": lambda live: live.end(RESET),
    "save": lambda live: live.end(SAVE),
    "discard": lambda live: live.end(DISCARD),
    "undo": lambda live: live.end(UNDO),
    "again": lambda live: live.end(AGAIN),
    "finish": lambda live: live.end(FINISH, for_good=True),
}
"""Command of the page > its effect."""
