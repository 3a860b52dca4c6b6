"""Files of a page, looked up in a list made at the start: no name that a request brings is ever joined to a path."""

import hashlib
from http import HTTPStatus
from pathlib import Path

from handloom.web.exchange import TYPES, Request, Response, text_response


class StaticFiles:
    """The files below some folders, by name.

    Args:
        folders: Path on the server > folder; ``""`` is the root, whose ``index.html`` is the page.
    """

    def __init__(self, folders: dict[str, Path]) -> None:
        self.files: dict[str, Path] = {}
        """Path on the server > file; links are left out."""
        for prefix, folder in folders.items():
            for file in sorted(folder.rglob("*")):
                if file.suffix in TYPES and file.is_file() and not file.is_symlink():
                    self.files[f"{prefix}/{file.relative_to(folder).as_posix()}"] = file

    def serve(self, request: Request) -> Response:
        """Return a file, or nothing but its state when the page has it already."""
        file = self.files.get("/index.html" if request.path == "/" else request.path)
        if file is None or not file.is_file():
            return text_response("there is no such file", HTTPStatus.NOT_FOUND)
        content = file.read_bytes()
        tag = f'"{hashlib.sha256(content).hexdigest()[:24]}"'
        headers, kind = {"ETag": tag}, TYPES[file.suffix]
        if request.headers.get("if-none-match") == tag:
            return Response(status=HTTPStatus.NOT_MODIFIED, kind=kind, cache="no-cache", headers=headers)
        return Response(body=content, kind=kind, cache="no-cache", headers=headers)
