"""Communication with the page: one socket per client, one client in control."""

import asyncio
import contextlib
import json
import logging
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

from handloom.errors import InputError
from handloom.teleop.serving.messages import LONGEST, CommandMessage, Message, PingMessage, parsed_message
from handloom.web import Request, Response, Route, Socket, StaticFiles, WebApp, WebServer, text_response
from handloom.web.gate import Gate

PAGE = Path(__file__).parents[1] / "page"
MOST_CLIENTS = 8
BURST, RATE = 300.0, 300.0
"""Maximum messages from a client at once, and per second after that; more are dropped unread. A page sends 125 samples
and, with a headset, 45 head poses per second."""
FAREWELL = 1.0
"""Time limit for sending the last state to the pages when the server closes [s]."""
logger = logging.getLogger("handloom.teleop")


class DeskState:
    """The desk of one operator: the client in control, and the data shown."""

    def __init__(self) -> None:
        self.controller: Client | None = None
        self.state: tuple[int, dict[str, Any]] = (0, {})
        self.pictures: tuple[int, list[bytes]] = (0, [])


class Client:
    """One open page."""

    def __init__(self, socket: Socket, desk: int) -> None:
        self.socket, self.desk = socket, desk
        self.session = secrets.token_hex(8)
        """Token that its messages must contain, so that messages of an earlier connection are invalid on this one."""
        self.wake = asyncio.Event()
        self.sent_pictures = -1
        self.sent_state = -1
        self.tokens = BURST
        self.filled = 0.0
        self.complaints: set[str] = set()

    def within_rate(self, now: float) -> bool:
        """Return whether a message may be read now (token bucket)."""
        self.tokens = min(BURST, self.tokens + RATE * (now - self.filled))
        self.filled = now
        if self.tokens < 1.0:
            return False
        self.tokens -= 1.0
        return True


class TeleopServer:
    """The page's server, in its own thread.

    Anyone with the token may open the page. The first client has control; the others watch until it has left and they
    claim control. With several desks, the next client gets the next desk; a page that is reloaded returns to its own.
    Pages of other origins are refused, so that no web site can drive a robot without its visitor's knowledge.

    Args:
        token: What the address must contain.
        on_message: Called with every sample and command of the client in control of a desk.
        on_control: Called when someone takes control of a desk (True) and when no one has it any more (False).
        desks: Number of operators at the same time, each with a scene.
        host: Address to listen at.
        port: Port; 0 chooses a free one.
        certificate: Certificate and key files for HTTPS; None serves HTTP.
    """

    def __init__(
        self,
        token: str,
        *,
        on_message: Callable[[Message, int], None],
        on_control: Callable[[bool, int], None],
        desks: int = 1,
        host: str = "127.0.0.1",
        port: int = 0,
        certificate: tuple[Path, Path] | None = None,
    ) -> None:
        self._on_message, self._on_control = on_message, on_control
        self._clients: list[Client] = []
        self._desks = [DeskState() for _ in range(desks)]
        most = MOST_CLIENTS + 2 * (desks - 1)
        self.refused: dict[str, int] = {}
        """Reasons for refused messages and clients, with counts."""
        self._answers: set[asyncio.Task[None]] = set()
        """asyncio tasks need a reference until they are done."""
        app = WebApp(
            token,
            StaticFiles({"": PAGE}),
            routes=[Route("GET", "/check", _good)],
            socket=("/socket", self._handle),
            admit=lambda: f"more than {most} clients" if len(self._clients) >= most else "",
            on_refusal=self._complain,
        )
        self._server = WebServer(
            app,
            host=host,
            port=port,
            certificate=certificate,
            extra="teleop",
            longest=LONGEST,
            before_end=self._say_farewell,
        )
        self._loop = self._server.loop

    def start(self) -> None:
        """Listen.

        Raises:
            FileError: It cannot listen at the address.
        """
        self._server.start()

    def close(self) -> None:
        """Close every socket and end the thread."""
        self._server.close()

    @property
    def port(self) -> int:
        """Address at which it listens."""
        return self._server.port

    @property
    def gate(self) -> Gate | None:
        """The pending connections; set once the server listens."""
        return self._server.gate

    @property
    def address(self) -> str:
        """Address to open in a browser."""
        return self._server.address

    def publish_state(self, state: dict[str, Any], desk: int = 0) -> None:
        """Send a state to every client of a desk; slow clients get only the newest."""
        self._tell(self._set_state, state, desk)

    def publish_pictures(self, pictures: list[bytes], desk: int = 0) -> None:
        """Send images to every client of a desk; slow clients get only the newest."""
        self._tell(self._set_pictures, pictures, desk)

    def _tell(self, function: Callable[..., None], *arguments: Any) -> None:
        """Call a function in the server's thread; a stopped server does not block saving and merging."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function, *arguments)

    def _set_state(self, state: dict[str, Any], desk: int) -> None:
        self._desks[desk].state = self._desks[desk].state[0] + 1, state
        self._wake(desk)

    def _set_pictures(self, pictures: list[bytes], desk: int) -> None:
        self._desks[desk].pictures = self._desks[desk].pictures[0] + 1, pictures
        self._wake(desk)

    def _wake(self, desk: int) -> None:
        for client in self._clients:
            if client.desk == desk:
                client.wake.set()

    async def _say_farewell(self) -> None:
        """Wait until the pages have received the final state."""
        end = self._loop.time() + FAREWELL
        while self._loop.time() < end and any(c.sent_state != self._desks[c.desk].state[0] for c in self._clients):
            await asyncio.sleep(0.01)

    async def _handle(self, socket: Socket) -> None:
        client = Client(socket, self._desk_for(socket.query.get("desk", "")))
        client.filled = self._loop.time()
        self._clients.append(client)
        if self._desks[client.desk].controller is None:
            self._take(client)
        self._wake_all_states()
        sender = asyncio.create_task(self._send(client))
        try:
            async for text in socket.messages():
                self._hear(client, text)
        except Exception as error:
            self._complain(f"a connection broke: {type(error).__name__}")
        finally:
            sender.cancel()
            self._clients.remove(client)
            if self._desks[client.desk].controller is client:
                self._desks[client.desk].controller = None
                self._on_control(False, client.desk)
            self._wake_all_states()

    def _desk_for(self, wanted: str) -> int:
        """Return the previous desk of a page, else the first one without a client in control, else the first one."""
        if wanted.isascii() and wanted.isdecimal() and len(wanted) < 4 and 1 <= int(wanted) <= len(self._desks):
            return int(wanted) - 1
        return next((k for k, desk in enumerate(self._desks) if desk.controller is None), 0)

    def _take(self, client: Client) -> None:
        self._desks[client.desk].controller = client
        self._on_control(True, client.desk)

    def _wake_all_states(self) -> None:
        """Tell every client who has control."""
        for client in self._clients:
            client.sent_state = -1
            client.wake.set()

    def _hear(self, client: Client, text: str | bytes) -> None:
        if not client.within_rate(self._loop.time()):
            self._complain("more messages than a page sends")
            return
        try:
            message = parsed_message(text, session=client.session)
        except InputError as error:
            self._complain(f"malformed message: {error}"[:120])
            return
        if isinstance(message, PingMessage):
            self._answer(client, {"type": "pong", "sent": message.sent})
        elif isinstance(message, CommandMessage) and message.command == "claim":
            if self._desks[client.desk].controller is None:
                self._take(client)
                self._wake_all_states()
        elif client is not self._desks[client.desk].controller:
            self._complain("samples or commands from a watching client")
        else:
            self._on_message(message, client.desk)

    def _answer(self, client: Client, record: dict[str, Any]) -> None:
        task = self._loop.create_task(self._send_quietly(client, json.dumps(record)))
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)

    async def _send_quietly(self, client: Client, text: str) -> None:
        try:
            await client.socket.send(text)
        except Exception:  # The reader of this socket notices that the client is gone.
            return

    async def _send(self, client: Client) -> None:
        """Send a client everything newer than its data, one item after another."""
        while True:
            await client.wake.wait()
            client.wake.clear()
            desk = self._desks[client.desk]
            number, state = desk.state
            if number != client.sent_state:
                client.sent_state = number
                role = "control" if client is desk.controller else "watch"
                facts = {"role": role, "free": desk.controller is None, "clients": len(self._clients)}
                facts |= {"desk": client.desk + 1, "desks": len(self._desks)}
                facts["session"] = client.session
                await self._send_quietly(client, json.dumps({"type": "state", **state, **facts}))
            number, pictures = desk.pictures
            if number != client.sent_pictures:
                client.sent_pictures = number
                for index, picture in enumerate(pictures):
                    try:
                        await client.socket.send(bytes([index]) + picture)
                    except Exception:
                        return

    def _complain(self, why: str) -> None:
        """Count a refusal and log its first one."""
        kind = why.partition(":")[0]
        self.refused[kind] = self.refused.get(kind, 0) + 1
        if self.refused[kind] == 1:
            logger.warning("teleop: %s (reported once)", why)


def _good(request: Request) -> Response:
    """Tell a page whether its token is valid; browsers give no reason when a socket is refused."""
    return text_response("good")
