"""Serves the page and speaks with it: one port, one socket per client, one client in control."""

import asyncio
import contextlib
import hmac
import json
import logging
import secrets
import ssl
import threading
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from handloom.errors import FileError, InputError, require
from handloom.teleop.gate import AT_ONCE, PATIENCE, Gate, listening
from handloom.teleop.messages import LONGEST, CommandMessage, Message, PingMessage, parsed_message

PAGE = Path(__file__).parent / "page"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
POLICY = (
    "default-src 'self'; img-src 'self' blob: data:; connect-src 'self'; style-src 'self'; script-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
"""The page loads nothing from anywhere else, and nobody may frame it."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")
MOST_CLIENTS = 8
BURST, RATE = 200.0, 200.0
"""Messages that a client may send at once, and per second from then on; more are dropped unread."""
FAREWELL = 1.0
"""How long the last state may take to reach the pages when the server closes [s]."""
logger = logging.getLogger("handloom.teleop")


class Client:
    """One open page."""

    def __init__(self, socket: Any) -> None:
        self.socket = socket
        self.session = secrets.token_hex(8)
        """What its messages must contain, so that those of an earlier connection are worth nothing on this one."""
        self.wake = asyncio.Event()
        self.sent_pictures = -1
        self.sent_state = -1
        self.tokens = BURST
        self.filled = 0.0
        self.complaints: set[str] = set()

    def within_rate(self, now: float) -> bool:
        """Tell whether a message may be read now (token bucket)."""
        self.tokens = min(BURST, self.tokens + RATE * (now - self.filled))
        self.filled = now
        if self.tokens < 1.0:
            return False
        self.tokens -= 1.0
        return True


class TeleopServer:
    """The page's server, in a thread of its own.

    Whoever has the token may open the page; the first one controls, the others watch until they claim control after it
    has left. Pages of other origins are refused, so that no web site can drive a robot behind its visitor's back.

    Args:
        token: What the address must contain.
        on_message: Told about every sample and command of the client in control.
        on_control: Told when somebody takes control (True) and when nobody has it any more (False).
        host: Address to listen at.
        port: Port; 0 takes a free one.
        certificate: Certificate and key files for HTTPS; None serves HTTP.
    """

    def __init__(
        self,
        token: str,
        *,
        on_message: Callable[[Message], None],
        on_control: Callable[[bool], None],
        host: str = "127.0.0.1",
        port: int = 0,
        certificate: tuple[Path, Path] | None = None,
    ) -> None:
        self._sockets = require("websockets.asyncio.server", extra="teleop")
        self._http = require("websockets.http11", extra="teleop")
        self._headers = require("websockets.datastructures", extra="teleop").Headers
        self._token, self._on_message, self._on_control = token, on_message, on_control
        self._host, self._wanted_port, self._certificate = host, port, certificate
        self.port = port
        self.gate: Gate | None = None
        """Who is in the door; there once it listens."""
        self._clients: list[Client] = []
        self._controller: Client | None = None
        self._state: tuple[int, dict[str, Any]] = (0, {})
        self._pictures: tuple[int, list[bytes]] = (0, [])
        self.refused: dict[str, int] = {}
        """Why messages and clients were refused, and how often."""
        self._answers: set[asyncio.Task[None]] = set()
        """Tasks must be held by somebody until they are done."""
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="teleop server", daemon=True)

    def start(self) -> None:
        """Listen.

        Raises:
            FileError: The address cannot be listened at.
        """
        self._thread.start()
        self._ready.wait()
        if self._error is not None:
            raise FileError(f"cannot listen at {self._host}:{self._wanted_port}: {self._error}; try another --port")

    def close(self) -> None:
        """Close every socket and end the thread."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    @property
    def address(self) -> str:
        """What to open in a browser."""
        scheme = "https" if self._certificate else "http"
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{scheme}://{host}:{self.port}/?token={self._token}"

    def publish_state(self, state: dict[str, Any]) -> None:
        """Send a state to every client; those that are slow get the newest one only."""
        self._loop.call_soon_threadsafe(self._set_state, state)

    def publish_pictures(self, pictures: list[bytes]) -> None:
        """Send pictures to every client; those that are slow get the newest ones only."""
        self._loop.call_soon_threadsafe(self._set_pictures, pictures)

    def _set_state(self, state: dict[str, Any]) -> None:
        self._state = self._state[0] + 1, state
        self._wake()

    def _set_pictures(self, pictures: list[bytes]) -> None:
        self._pictures = self._pictures[0] + 1, pictures
        self._wake()

    def _wake(self) -> None:
        for client in self._clients:
            client.wake.set()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        except OSError as error:
            self._error = error
        finally:
            self._ready.set()
            self._loop.close()

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        context = None
        if self._certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*self._certificate)
        gate = self.gate = listening(self._host, self._wanted_port)
        async with self._sockets.serve(
            self._handle,
            sock=gate,
            backlog=AT_ONCE,
            ssl=context,
            ssl_handshake_timeout=None if context is None else PATIENCE,
            open_timeout=PATIENCE,
            process_request=self._request,
            max_size=LONGEST,
            max_queue=64,
            compression=None,
            server_header=None,
            ping_interval=5,
            ping_timeout=10,
            close_timeout=1,
            logger=logging.getLogger("handloom.teleop.socket"),
        ):
            self.port = gate.getsockname()[1]
            self._ready.set()
            while not self._stop.is_set():
                gate.drop_late()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._stop.wait(), 1.0)
            end = self._loop.time() + FAREWELL
            while self._loop.time() < end and any(c.sent_state != self._state[0] for c in self._clients):
                await asyncio.sleep(0.01)  # Pages should hear how it ended.

    def _request(self, connection: Any, request: Any) -> Any:
        """Answer a request: a file of the page, or None to open a socket."""
        parts = urlsplit(request.path)
        if parts.path not in ("/socket", "/check"):
            return self._file(parts.path)
        origin, host = request.headers.get("Origin"), request.headers.get("Host", "")
        if origin is not None and urlsplit(origin).netloc != host:
            return self._refuse(HTTPStatus.FORBIDDEN, "a page of another origin")
        token = parse_qs(parts.query).get("token", [""])[0]
        if not hmac.compare_digest(token.encode(), self._token.encode()):
            return self._refuse(HTTPStatus.FORBIDDEN, "a wrong token; open the address that handloom printed")
        if parts.path == "/check":  # A page is told no reason when a socket is refused: it asks here.
            return self._response(HTTPStatus.OK, b"good\n", "text/plain; charset=utf-8")
        if len(self._clients) >= MOST_CLIENTS:
            return self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, f"more than {MOST_CLIENTS} clients")
        return None

    def _refuse(self, status: HTTPStatus, why: str) -> Any:
        self._complain(f"refused {why}")
        return self._response(status, f"{why}\n".encode(), "text/plain; charset=utf-8")

    def _file(self, path: str) -> Any:
        file = PAGE / ("index.html" if path == "/" else path.removeprefix("/"))
        known = {entry.name for entry in PAGE.iterdir()}
        if file.name not in known or file.parent != PAGE or file.suffix not in TYPES:
            return self._response(HTTPStatus.NOT_FOUND, b"there is no such file\n", "text/plain; charset=utf-8")
        return self._response(HTTPStatus.OK, file.read_bytes(), TYPES[file.suffix])

    def _response(self, status: HTTPStatus, body: bytes, kind: str) -> Any:
        headers = self._headers(
            {
                "Content-Type": kind,
                "Content-Length": str(len(body)),
                "Cache-Control": "no-store",
                "Content-Security-Policy": POLICY,
                "X-Content-Type-Options": "nosniff",
                "Referrer-Policy": "no-referrer",
                "Connection": "close",
            }
        )
        return self._http.Response(status.value, status.phrase, headers, body)

    async def _handle(self, socket: Any) -> None:
        client = Client(socket)
        if self.gate is not None:
            self.gate.admit(socket.local_address, socket.remote_address)
        client.filled = self._loop.time()
        self._clients.append(client)
        if self._controller is None:
            self._take(client)
        self._wake_all_states()
        sender = asyncio.create_task(self._send(client))
        try:
            async for text in socket:
                self._hear(client, text)
        except Exception as error:
            self._complain(f"a connection broke: {type(error).__name__}")
        finally:
            sender.cancel()
            self._clients.remove(client)
            if self._controller is client:
                self._controller = None
                self._on_control(False)
            self._wake_all_states()

    def _take(self, client: Client) -> None:
        self._controller = client
        self._on_control(True)

    def _wake_all_states(self) -> None:
        """Let every client hear who is in control."""
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
            self._complain(f"a message that is none: {error}"[:120])
            return
        if isinstance(message, PingMessage):
            self._answer(client, {"type": "pong", "sent": message.sent})
        elif isinstance(message, CommandMessage) and message.command == "claim":
            if self._controller is None:
                self._take(client)
                self._wake_all_states()
        elif client is not self._controller:
            self._complain("samples or commands of a client that watches")
        else:
            self._on_message(message)

    def _answer(self, client: Client, record: dict[str, Any]) -> None:
        task = self._loop.create_task(self._send_quietly(client, json.dumps(record)))
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)

    async def _send_quietly(self, client: Client, text: str) -> None:
        try:
            await client.socket.send(text)
        except Exception:  # The reader of this socket notices that it is gone.
            return

    async def _send(self, client: Client) -> None:
        """Send whatever is newer than what a client has, one after the other."""
        while True:
            await client.wake.wait()
            client.wake.clear()
            number, state = self._state
            if number != client.sent_state:
                client.sent_state = number
                role = "control" if client is self._controller else "watch"
                facts = {"role": role, "free": self._controller is None, "clients": len(self._clients)}
                facts["session"] = client.session
                await self._send_quietly(client, json.dumps({"type": "state", **state, **facts}))
            number, pictures = self._pictures
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
            logger.warning("teleop: %s (said once)", why)


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach an address."""
    return host in LOOPBACK
