"""A server that runs an application in a separate thread."""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from handloom.errors import FileError, require
from handloom.web.gate import AT_ONCE, Gate, listening
from handloom.web.web_app import WebApp

LOOPBACK = ("127.0.0.1", "localhost", "::1")
LONGEST = 2**16
"""Largest message of a socket [bytes]."""


class WebServer:
    """A server on one port: HTTP, WebSocket, TLS if a certificate is given, and a gate against strangers.

    Args:
        app: The application to serve.
        host: Address to listen at.
        port: Port; 0 chooses a free one.
        certificate: Certificate and key files for HTTPS; None serves HTTP.
        extra: The extra of Handloom that installs the required packages.
        longest: Largest message of a socket [bytes].
        before_end: Awaited before sockets are closed.
    """

    def __init__(
        self,
        app: WebApp,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        certificate: tuple[Path, Path] | None = None,
        extra: str = "view",
        longest: int = LONGEST,
        before_end: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._uvicorn = require("uvicorn", extra=extra)
        require("websockets", extra=extra)
        self.app = app
        self._host, self._wanted_port, self._certificate, self._longest = host, port, certificate, longest
        self._before_end = before_end
        self.port = port
        self.gate: Gate | None = None
        """The pending connections; set once the server listens."""
        self.loop = asyncio.new_event_loop()
        """Runs in the server's thread."""
        self._ready = threading.Event()
        self._error: BaseException | None = None
        self._stop: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._run, name="web server", daemon=True)

    def start(self) -> None:
        """Listen.

        Raises:
            FileError: It cannot listen at the address.
        """
        self._thread.start()
        self._ready.wait()
        if self._error is not None:
            raise FileError(f"cannot listen at {self._host}:{self._wanted_port}: {self._error}; try another --port")

    def close(self) -> None:
        """Close every socket and end the thread."""
        if self._thread.is_alive() and self._stop is not None:
            with contextlib.suppress(RuntimeError):  # The loop ended in the meantime.
                self.loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        self.app.close()

    def wait(self) -> None:
        """Wait until the server ends."""
        self._thread.join()

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{'https' if self._certificate else 'http'}://{host}:{self.port}"

    @property
    def address(self) -> str:
        """Address to open in a browser."""
        return f"{self.origin}/?token={self.app.token}"

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_until_complete(self._serve())
        except OSError as error:
            self._error = error
        finally:
            self._ready.set()
            self.loop.close()

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        gate = self.gate = listening(self._host, self._wanted_port)
        self.port = gate.getsockname()[1]
        self.app.on_admitted = gate.admit
        logging.getLogger("uvicorn.error").setLevel(
            logging.CRITICAL
        )  # Malformed requests from strangers are counted, not logged.
        server = self._uvicorn.Server(self._config())
        # uvicorn listens at the end of its start-up; requests before that wait in the queue of the gate.
        serving = asyncio.ensure_future(server.serve(sockets=[gate]))
        self._ready.set()
        try:
            while not self._stop.is_set() and not serving.done():
                gate.drop_late()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._stop.wait(), 1.0)
            if self._before_end is not None:
                await self._before_end()
        finally:
            server.should_exit = True
            await serving

    def _config(self) -> Any:
        certificate, key = self._certificate or (None, None)
        return self._uvicorn.Config(
            self.app,
            lifespan="off",
            http="h11",
            ws="websockets-sansio",
            ws_max_size=self._longest,
            ws_per_message_deflate=False,
            ws_ping_interval=5.0,
            ws_ping_timeout=10.0,
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            backlog=AT_ONCE,
            timeout_keep_alive=5,
            timeout_graceful_shutdown=1,
            ssl_certfile=certificate,
            ssl_keyfile=key,
        )


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    return host in LOOPBACK
