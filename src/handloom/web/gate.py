"""Admission control of the page's server: limits on pending connections, and descriptors reserved for saving."""

import contextlib
import logging
import math
import resource
import socket
import time
from collections.abc import Callable, Sequence

MOST_WAITING = 48
"""Maximum number of connections without an open page socket; a page loads six files at once."""
PATIENCE = 6.0
"""Time limit for each of them, TLS and request together [s]."""
RESERVED = 160
"""Descriptors reserved from connections: a save with four cameras opens about 40, the images and the journal a few."""
AT_ONCE = 16
"""Maximum number of connections accepted from the operating system's queue at a time."""
QUEUE = 1024
"""Length of that queue: clients that arrive while it is full retry only after a second."""
logger = logging.getLogger("handloom.web")


class Gate(socket.socket):
    """A listening socket that drops the oldest pending connection when there are too many.

    Clients with the token are admitted within milliseconds, so the oldest pending connections are the ones to drop:
    strangers that send nothing, or one byte at a time, use a bounded number of descriptors and cannot lock anyone out.
    The limit applies before TLS, to every connection accepted by the operating system.
    """

    def __init__(self, family: int = socket.AF_INET, *, now: Callable[[], float] = time.monotonic) -> None:
        # Given explicitly, because asyncio otherwise does not disable Nagle's delay, which costs 40 ms per response.
        super().__init__(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._now = now
        self._waiting: list[tuple[float, socket.socket]] = []
        self.dropped = 0
        """Number of connections dropped before they opened a page socket."""

    def listen(self, backlog: int = QUEUE, /) -> None:
        """Listen with a queue of ``QUEUE``, regardless of the number of connections accepted at a time."""
        super().listen(max(backlog, QUEUE))

    def accept(self) -> tuple[socket.socket, tuple]:
        """Accept a connection, and drop the one that has waited longest if there are too many."""
        connection, address = super().accept()
        self._forget_closed()
        if connection.fileno() >= _first_reserved():
            self._drop(connection)  # Descriptors are assigned in ascending order; those above are reserved for saving.
        else:
            self._waiting.append((self._now(), connection))
        while len(self._waiting) > MOST_WAITING:
            self._drop(self._waiting.pop(0)[1])
        return connection, address

    def admit(self, local: Sequence[object], peer: Sequence[object]) -> None:
        """Admit a connection, identified by its two addresses, because it has shown the token."""
        known = tuple(local[:2]), tuple(peer[:2])
        self._waiting = [entry for entry in self._waiting if _addresses(entry[1]) != known]

    def drop_late(self) -> None:
        """Drop connections that have been pending for too long."""
        self._forget_closed()
        while self._waiting and self._now() - self._waiting[0][0] > PATIENCE:
            self._drop(self._waiting.pop(0)[1])

    @property
    def waiting(self) -> int:
        """Number of pending connections."""
        self._forget_closed()
        return len(self._waiting)

    def _forget_closed(self) -> None:
        self._waiting = [entry for entry in self._waiting if entry[1].fileno() >= 0]

    def _drop(self, connection: socket.socket) -> None:
        """Shut down a connection; its reader sees the end and closes it."""
        self.dropped += 1
        if self.dropped == 1:
            logger.warning("web: dropped a connection that opened no page (reported once)")
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)


def _first_reserved() -> float:
    """Return the lowest descriptor reserved from connections."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return math.inf if limit == resource.RLIM_INFINITY else limit - min(RESERVED, limit // 2)


def _addresses(connection: socket.socket) -> tuple[object, object]:
    try:
        return connection.getsockname()[:2], connection.getpeername()[:2]
    except OSError:
        return None, None


def listening(host: str, port: int) -> Gate:
    """Return a gate listening at an address: the first address of the name that can be bound.

    Raises:
        OSError: No address can be bound.
    """
    last: OSError | None = None
    for family, _, _, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE):
        gate = Gate(family)
        try:
            gate.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                gate.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            gate.bind(address)
            gate.listen()
            gate.setblocking(False)
        except OSError as error:
            gate.close()
            last = error
        else:
            return gate
    raise last or OSError(f"{host} has no address")
