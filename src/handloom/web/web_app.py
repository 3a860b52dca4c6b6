"""Access control and routing of a page as an ASGI application: token, origin, routes, files, sockets."""

import asyncio
import contextlib
import hashlib
import hmac
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from handloom.errors import HandloomError, NotAllowedError, NotFoundError
from handloom.web.exchange import TYPES, FilePart, Request, Response, json_response, text_response


class StaticFiles:
    """The files below some folders, by name.

    Args:
        folders: Path on the server > folder; ``""`` is the root, whose ``index.html`` is the page.
    """

    def __init__(self, folders: dict[str, Path]) -> None:
        self.files: dict[str, Path] = {}
        """Path on the server > file, without links."""
        for prefix, folder in folders.items():
            for file in sorted(folder.rglob("*")):
                if file.suffix in TYPES and file.is_file() and not file.is_symlink():
                    self.files[f"{prefix}/{file.relative_to(folder).as_posix()}"] = file

    def serve(self, request: Request) -> Response:
        """Return a file, or only its status if the page already has it."""
        file = self.files.get("/index.html" if request.path == "/" else request.path)
        if file is None or not file.is_file():
            return text_response("there is no such file", HTTPStatus.NOT_FOUND)
        content = file.read_bytes()
        tag = f'"{hashlib.sha256(content).hexdigest()[:24]}"'
        headers, kind = {"ETag": tag}, TYPES[file.suffix]
        if request.headers.get("if-none-match") == tag:
            return Response(status=HTTPStatus.NOT_MODIFIED, kind=kind, cache="no-cache", headers=headers)
        return Response(body=content, kind=kind, cache="no-cache", headers=headers)


POLICY = (
    "default-src 'self'; img-src 'self' blob: data:; connect-src 'self'; style-src 'self'; script-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
"""The page loads nothing from elsewhere, runs no inline script, and cannot be framed."""
LONGEST_BODY = 2**20
"""Largest body of a request [bytes]."""
CHUNK = 2**18
"""Number of bytes read from a file at a time."""
THREADS = 4
"""Maximum number of handlers that run at the same time."""
logger = logging.getLogger("handloom.web")

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


@dataclass(frozen=True)
class Route:
    """One row of a page's request table."""

    method: str
    pattern: str
    """Path; ``{name}`` matches one component, passed to the handler in ``request.places``."""
    handler: Callable[[Request], Response]
    """Called in a thread; errors that it raises deliberately become responses."""
    edits: bool = False
    """Whether it changes files; refused unless the page was started for editing."""

    def places(self, path: str) -> dict[str, str] | None:
        """Return the values of the pattern's placeholders; None if the path does not match."""
        names = re.findall(r"{(\w+)}", self.pattern)
        shape = re.sub(r"{\w+}", "([^/]+)", self.pattern)
        found = re.fullmatch(shape, path)
        return None if found is None else dict(zip(names, found.groups(), strict=True))


class Socket:
    """One open WebSocket.

    Args:
        receive: ASGI's receive.
        send: ASGI's send.
        query: Query of its address.
    """

    def __init__(self, receive: Receive, send: Send, query: Mapping[str, str] | None = None) -> None:
        self._receive, self._send = receive, send
        self.query = query or {}

    async def messages(self) -> AsyncIterator[str | bytes]:
        """Yield messages from the page until it disconnects."""
        while (event := await self._receive())["type"] == "websocket.receive":
            text = event.get("text")
            yield (event.get("bytes") or b"") if text is None else text

    async def send(self, message: str | bytes) -> None:
        """Send a text or bytes."""
        key = "text" if isinstance(message, str) else "bytes"
        await self._send({"type": "websocket.send", key: message})


class WebApp:
    """The requests that a page may make.

    Files of the page itself are public. Routes and sockets need the token, in the address or in the cookie set with it,
    and refuse pages of other origins, so that no web site can act on behalf of its visitor.

    Args:
        token: What the address must contain.
        files: Files of the page.
        routes: Table of requests.
        socket: Handler of the socket and its path.
        admit: Called before a socket is opened; returns the reason to refuse, or an empty string.
        edit: Whether routes that change files are allowed.
        on_refusal: Called with the reason of a refusal.
        keep_token: Store the token in a cookie, and remove it from the address.
    """

    def __init__(
        self,
        token: str,
        files: StaticFiles,
        *,
        routes: Sequence[Route] = (),
        socket: tuple[str, Callable[[Socket], Awaitable[None]]] | None = None,
        admit: Callable[[], str] = lambda: "",
        edit: bool = False,
        on_refusal: Callable[[str], None] = lambda why: None,
        keep_token: bool = False,
    ) -> None:
        self._keep_token = keep_token
        self.token, self.files, self.routes, self.edit = token, files, tuple(routes), edit
        self._socket, self._admit, self._on_refusal = socket, admit, on_refusal
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="web")
        self.on_admitted: Callable[[Any, Any], None] = lambda local, peer: None
        """Called with the two addresses of a connection that showed the token; set by the server."""

    def close(self) -> None:
        """End the threads of the handlers."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request or serve one socket (ASGI)."""
        if scope["type"] not in ("http", "websocket"):
            return
        request = _request_of(scope)
        try:
            if scope["type"] == "websocket":
                await self._open_socket(scope, request, receive, send)
            else:
                await self._answer(scope, request, receive, send)
        except (ConnectionError, OSError):
            return  # The page disconnected; uvicorn notices.

    async def _answer(self, scope: Scope, request: Request, receive: Receive, send: Send) -> None:
        body = bytearray()
        more = True
        while more:
            event = await receive()
            if event["type"] != "http.request":
                return
            body += event.get("body", b"")
            more = event.get("more_body", False)
            if len(body) > LONGEST_BODY:
                too_long = text_response(f"more than {LONGEST_BODY} bytes", HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
                return await _send(too_long, send)
        response = await self._respond(scope, replace(request, body=bytes(body)))
        await _send(response, send, receive=receive, pool=self._pool, head=request.method == "HEAD")

    async def _respond(self, scope: Scope, request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        if self._keep_token and method == "GET" and request.path == "/" and "token" in request.query:
            return self._welcome(scope, request)
        found = [(route, places) for route in self.routes if (places := route.places(request.path)) is not None]
        if not found and method == "GET":
            return self.files.serve(request)
        if why := self._refusal(scope, request):
            return self._refused(why)
        row = next(((route, places) for route, places in found if route.method == method), None)
        if row is None:
            return text_response("there is no such request", HTTPStatus.NOT_FOUND)
        route, places = row
        if route.edits and not self.edit:
            return json_response(
                {"error": "this page is read-only; start handloom view with --edit"}, HTTPStatus.FORBIDDEN
            )
        self.on_admitted(scope.get("server"), scope.get("client"))
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, called, route.handler, replace(request, places=places))

    def _welcome(self, scope: Scope, request: Request) -> Response:
        """Store a valid token in a cookie and remove it from the address, which people copy and show."""
        if why := self._refusal(scope, request):
            return self._refused(why)
        secure = "; Secure" if scope.get("scheme") == "https" else ""
        cookie = f"{_cookie_name(scope)}={self.token}; HttpOnly; SameSite=Strict; Path=/{secure}"
        return Response(status=HTTPStatus.SEE_OTHER, headers={"Location": "/", "Set-Cookie": cookie}, kind="text/plain")

    def _refusal(self, scope: Scope, request: Request) -> str:
        """Return why a request is refused, or an empty string."""
        origin, host = request.headers.get("origin"), request.headers.get("host", "")
        if origin is not None and urlsplit(origin).netloc != host:
            return "a request from another origin"
        token = request.query.get("token") or _cookies(request).get(_cookie_name(scope), "")
        if not hmac.compare_digest(token.encode(), self.token.encode()):
            return "a wrong token; open the address that handloom printed"
        return ""

    def _refused(self, why: str, status: int = HTTPStatus.FORBIDDEN) -> Response:
        self._on_refusal(f"refused {why}")
        return text_response(why, status)

    async def _open_socket(self, scope: Scope, request: Request, receive: Receive, send: Send) -> None:
        await receive()
        response = None
        if self._socket is None or request.path != self._socket[0]:
            response = text_response("there is no such socket", HTTPStatus.NOT_FOUND)
        elif why := self._refusal(scope, request):
            response = self._refused(why)
        elif why := self._admit():
            response = self._refused(why, HTTPStatus.SERVICE_UNAVAILABLE)
        if response is not None:
            return await _send(response, send, prefix="websocket.http")
        assert self._socket is not None
        await send({"type": "websocket.accept"})
        self.on_admitted(scope.get("server"), scope.get("client"))
        await self._socket[1](Socket(receive, send, request.query))


def called(handler: Callable[[Request], Response], request: Request) -> Response:
    """Return a handler's response; errors that it raises deliberately become responses."""
    try:
        return handler(request)
    except NotFoundError as error:
        return json_response({"error": str(error)}, HTTPStatus.NOT_FOUND)
    except NotAllowedError as error:
        return json_response({"error": str(error)}, HTTPStatus.FORBIDDEN)
    except (HandloomError, OSError) as error:
        return json_response({"error": str(error)}, HTTPStatus.BAD_REQUEST)
    except Exception as error:
        logger.exception("web: %s %s", request.method, request.path)
        return json_response(
            {"error": f"a bug in handloom: {type(error).__name__}: {error}"}, HTTPStatus.INTERNAL_SERVER_ERROR
        )


def _request_of(scope: Scope) -> Request:
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
    query = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
    return Request(method=scope.get("method", "GET"), path=scope["path"], query=query, headers=headers)


def _cookies(request: Request) -> Mapping[str, str]:
    try:
        return {name: found.value for name, found in SimpleCookie(request.headers.get("cookie", "")).items()}
    except CookieError:
        return {}


def _cookie_name(scope: Scope) -> str:
    """Return a cookie name specific to the port: browsers send cookies to every port of a machine."""
    return f"handloom_{(scope.get('server') or ('', 0))[1]}"


async def _send(
    response: Response,
    send: Send,
    *,
    prefix: str = "http",
    receive: Receive | None = None,
    pool: ThreadPoolExecutor | None = None,
    head: bool = False,
) -> None:
    headers = {
        "Content-Type": response.kind,
        "Cache-Control": response.cache,
        "Content-Security-Policy": POLICY,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "same-origin",
        **response.headers,
    }
    body = response.body
    if isinstance(body, FilePart):
        headers["Content-Length"] = str(body.stop - body.start)
    elif isinstance(body, bytes):
        headers["Content-Length"] = str(len(body))
    encoded = [(name.lower().encode(), value.encode("latin-1", "replace")) for name, value in headers.items()]
    await send({"type": f"{prefix}.response.start", "status": int(response.status), "headers": encoded})
    if isinstance(body, bytes):
        return await send({"type": f"{prefix}.response.body", "body": b"" if head else body})
    loop = asyncio.get_running_loop()
    pieces = iter(()) if head else _file_pieces(body) if isinstance(body, FilePart) else body
    # Sending to a page that has gone raises no error: the next event, after the whole request, is its disconnect.
    gone = asyncio.ensure_future(receive()) if receive is not None else loop.create_future()
    try:
        with contextlib.closing(pieces) if hasattr(pieces, "close") else contextlib.nullcontext():  # type: ignore[type-var]
            while not gone.done() and (piece := await loop.run_in_executor(pool, next, pieces, b"")):
                await send({"type": f"{prefix}.response.body", "body": piece, "more_body": True})
    finally:
        gone.cancel()
    await send({"type": f"{prefix}.response.body", "body": b""})


def _file_pieces(part: FilePart) -> Iterator[bytes]:
    with open(part.path, "rb") as file:
        file.seek(part.start)
        left = part.stop - part.start
        while left > 0 and (piece := file.read(min(CHUNK, left))):
            left -= len(piece)
            yield piece
