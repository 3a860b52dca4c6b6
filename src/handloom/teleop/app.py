"""Puts the parts together: run, page, pictures and simulation, from the first scene to the dataset."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from handloom.teleop.keeping.teleop_run import DISCARD, FINISH, RESET, REWIND, SAVE, UNDO, TeleopRun
from handloom.teleop.serving.messages import (
    CommandMessage,
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


@dataclass(frozen=True, kw_only=True)
class PageOptions:
    """Where the page is served and how its pictures are drawn."""

    host: str = "127.0.0.1"
    port: int = 0
    """0 takes a free port."""
    size: tuple[int, int] = (640, 480)
    """Width and height that the large picture fits into [px]; the others are half as wide."""
    cameras: tuple[str, ...] = ()
    """Views to show, by name; all if none are given."""
    preset: str = "fast"
    backend: str = "cpu"
    """What draws the live pictures: cpu or cuda."""
    https: bool = False
    """Serve HTTPS also on this machine; other machines get nothing else."""
    certificate_folder: Path | None = None
    """Where the self-signed certificate is kept."""


class TeleopApp:
    """One operator's session; ``serve`` blocks until it is finished.

    Args:
        teleop_run: What is driven and where it is kept.
        options: The page.
    """

    def __init__(self, teleop_run: TeleopRun, options: PageOptions | None = None) -> None:
        self.options = options or PageOptions()
        self._run = teleop_run
        self.live = LiveInput()
        secure = self.options.https or not is_loopback(self.options.host)
        self.server = TeleopServer(
            token_of(teleop_run.run.path),
            on_message=self.hear,
            on_control=self._control,
            host=self.options.host,
            port=self.options.port,
            certificate=self_signed(self.options.host, self.options.certificate_folder) if secure else None,
        )
        self.pictures = PictureStream(
            self.server.publish_pictures,
            size=self.options.size,
            preset=self.options.preset,
            backend=self.options.backend,
            cameras=self.options.cameras,
        )
        self.view = PageView(
            self.live,
            self.pictures,
            self.server.publish_state,
            task=teleop_run.task.name,
            keeps_failures=teleop_run.run.settings.keep_failures,
        )

    def serve(self, on_ready: Callable[[str], None] = lambda address: None) -> None:
        """Serve until the operator finishes, or the program is interrupted; then the dataset is merged.

        Args:
            on_ready: Told the address of the page.
        """
        self.server.start()
        try:
            on_ready(self.server.address)
            self._run.carry_out(self.live, self.view)
            self.view.show(phase="finished", saved=self._run.saved)
        finally:
            self.pictures.close()
            self.server.close()

    def finish(self) -> None:
        """End the session as its button does; called from any thread."""
        self.live.end(FINISH, for_good=True)

    def hear(self, message: Message) -> None:
        """Act on what the client in control says."""
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
        elif isinstance(message, StereoMessage):
            self.pictures.see_with(message.eye_distance)
            self.view.cameras_changed()

    def _obey(self, message: CommandMessage) -> None:
        if message.command == "retry":
            self._run.saver.retry()
        elif message.command == "rewind":
            self.live.end(REWIND, back=message.seconds)
        elif message.command != "undo" or self._run.thrown is not None:
            ACTIONS[message.command](self.live)

    def _control(self, somebody: bool) -> None:
        if somebody:
            self.live.connect()
        else:
            self.live.disconnect()
            self.pictures.see_with(0.0)
        self.view.cameras_changed()


ACTIONS: dict[str, Callable[[LiveInput], None]] = {
    "start": LiveInput.start,
    "pause": LiveInput.pause,
    "stop": LiveInput.stop,
    "reset": lambda live: live.end(RESET),
    "save": lambda live: live.end(SAVE),
    "discard": lambda live: live.end(DISCARD),
    "undo": lambda live: live.end(UNDO),
    "finish": lambda live: live.end(FINISH, for_good=True),
}
"""Command of the page > what it does."""
