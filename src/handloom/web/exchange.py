"""Requests and responses as plain values, so that pages can be tested and exported without a server."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

from handloom.errors import InputError

TEXT, JSON, BINARY = "text/plain; charset=utf-8", "application/json", "application/octet-stream"
LINES = "application/x-ndjson"
"""JSON values, one per line, streamed as they are produced."""
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": JSON,
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".mp4": "video/mp4",
    ".txt": TEXT,
}
"""File extension > content type; others are not served."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request from a page."""

    method: str = "GET"
    path: str = "/"
    """Decoded path."""
    places: Mapping[str, str] = field(default_factory=dict)
    """Values of the route's placeholders, e.g. ``{"episode": "12"}``."""
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case."""
    body: bytes = b""

    def number(self, name: str, default: int | None = None) -> int:
        """Return a whole number from the path or the query.

        Raises:
            InputError: It is not a number, or is missing without a default.
        """
        text = self.places.get(name, self.query.get(name, ""))
        if not text and default is not None:
            return default
        if not re.fullmatch(r"-?\d{1,15}", text, re.ASCII):
            raise InputError(f"{name} must be a whole number, got {text[:40]!r}")
        return int(text)

    def json(self) -> dict[str, Any]:
        """Return the JSON object in the body.

        Raises:
            InputError: The body is not a JSON object.
        """
        try:
            found = json.loads(self.body)
        except (ValueError, RecursionError) as error:
            raise InputError(f"the body is not JSON: {str(error)[:80]}") from error
        if not isinstance(found, dict):
            raise InputError("the body must be a JSON object")
        return found


@dataclass(frozen=True, kw_only=True)
class FilePart:
    """Bytes ``start`` to ``stop`` (exclusive) of a file."""

    path: Path
    start: int
    stop: int


@dataclass(frozen=True, kw_only=True)
class Response:
    """A response to the page."""

    status: int = HTTPStatus.OK
    body: bytes | FilePart | Iterator[bytes] = b""
    """An iterator is sent piece by piece as it produces them; it is closed when the page disconnects."""
    kind: str = JSON
    cache: str = "no-store"
    headers: Mapping[str, str] = field(default_factory=dict)


def json_response(value: Any, status: int = HTTPStatus.OK) -> Response:
    """Return a value as JSON; numbers that are not finite become null, since JSON cannot represent them."""
    try:
        text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), separators=(",", ":"), allow_nan=False)
    return Response(status=status, body=text.encode())


def text_response(text: str, status: int = HTTPStatus.OK) -> Response:
    """Return one line of text."""
    return Response(status=status, body=f"{text}\n".encode(), kind=TEXT)


def file_response(path: Path, request: Request) -> Response:
    """Return a file, or the part in a range request."""
    size = path.stat().st_size
    kind = TYPES.get(path.suffix, BINARY)
    start, stop, status = 0, size, HTTPStatus.OK
    headers = {"Accept-Ranges": "bytes"}
    asked = request.headers.get("range", "")
    if found := re.fullmatch(r"bytes=(\d{0,18})-(\d{0,18})", asked.strip(), re.ASCII):
        first, last = found.groups()
        if first:
            start, stop = int(first), min(int(last) + 1 if last else size, size)
        else:  # A suffix range.
            start = max(size - int(last or 0), 0)
        if start >= stop:
            return Response(
                status=HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE,
                kind=kind,
                headers={"Content-Range": f"bytes */{size}"},
            )
        status = HTTPStatus.PARTIAL_CONTENT
        headers["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
    part = FilePart(path=path, start=start, stop=stop)
    return Response(status=status, body=part, kind=kind, headers=headers, cache="no-cache")


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if value - value == 0.0 else None
    if isinstance(value, Mapping):
        return {key: _finite(entry) for key, entry in value.items()}
    return [_finite(entry) for entry in value] if isinstance(value, list | tuple) else value
