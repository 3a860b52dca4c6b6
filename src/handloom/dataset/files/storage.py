"""Files under a URL: an object store, or a folder, shared by machines without a common disk."""

import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

from handloom.errors import HandloomError, InputError, MachineError, require

PAUSES = (1.0, 4.0, 16.0)
"""Delays between tries to reach the storage [s]: a network outage of a few seconds must not stop a run."""
LASTING = (
    PermissionError,
    FileNotFoundError,
    NotADirectoryError,
    IsADirectoryError,
    ValueError,
    TypeError,
    ImportError,
)
"""Errors that another try would not fix."""


class Storage:
    """Files under a URL that fsspec knows: ``s3://bucket/folder``, ``gs://bucket/folder``, ``file:///folder``.

    Credentials come from the backend's usual sources: environment, its own files, the machine's role.
    """

    def __init__(self, url: str) -> None:
        if "://" not in url:
            raise InputError(f"{url!r} is not a URL; write s3://bucket/folder, gs://bucket/folder or file:///folder")
        fsspec = require("fsspec", extra="cloud")
        self.url = url.rstrip("/")
        options = {"auto_mkdir": True} if url.startswith(("file:", "local:")) else {}
        self._files, self._root = self._done(
            "reach", "", lambda: fsspec.core.url_to_fs(self.url, use_listings_cache=False, **options), pauses=()
        )

    def check(self) -> None:
        """Write and remove a file, so that a wrong URL or missing rights are detected before the work begins."""
        name = f"check-{uuid4().hex}"
        self._done("write", name, lambda: self._files.pipe_file(f"{self._root}/{name}", b""), pauses=())
        self._done("remove", name, lambda: self._files.rm_file(f"{self._root}/{name}"), pauses=())

    def holds(self, name: str) -> bool:
        """Return whether a file of this name exists."""
        return bool(self._done("read", name, lambda: self._files.exists(f"{self._root}/{name}")))

    def write(self, name: str, content: bytes) -> None:
        """Write a file in one call."""
        self._done("write", name, lambda: self._files.pipe_file(f"{self._root}/{name}", content))

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        return bytes(self._done("read", name, lambda: self._files.cat_file(f"{self._root}/{name}")))

    def remove(self, name: str) -> None:
        """Remove a file."""
        self._done("remove", name, lambda: self._files.rm_file(f"{self._root}/{name}"))

    def names(self, below: str = "") -> dict[str, int]:
        """Return the files below a folder, by their paths below this URL, with their sizes [bytes]."""
        root = f"{self._root}/{below}".rstrip("/")
        found = self._done("list", below, lambda: self._files.find(root, detail=True) if self._there(root) else {})
        start = len(self._root.rstrip("/")) + 1
        return {name[start:]: int(facts["size"]) for name, facts in sorted(found.items())}

    def folders(self) -> list[str]:
        """Return the names of the folders directly below this URL."""
        found = self._done(
            "list", "", lambda: self._files.ls(self._root, detail=True) if self._there(self._root) else []
        )
        return sorted(entry["name"].rstrip("/").rpartition("/")[2] for entry in found if entry["type"] == "directory")

    def _there(self, root: str) -> bool:
        return bool(self._files.exists(root))

    def upload(self, file: Path, name: str) -> None:
        """Upload a local file."""
        self._done("write", name, lambda: self._files.put_file(os.fspath(file), f"{self._root}/{name}"))

    def download(self, name: str, file: Path) -> Path:
        """Download a file; return its local path."""
        file.parent.mkdir(parents=True, exist_ok=True)
        self._done("read", name, lambda: self._files.get_file(f"{self._root}/{name}", os.fspath(file)))
        return file

    def copy_to(self, name: str, other: "Storage", target: str) -> None:
        """Copy a file to another URL; within one store, the store copies it, without traffic through this machine."""
        if type(self._files) is not type(other._files):
            content = self.read(name)
            other.write(target, content)
            return
        source, aim = f"{self._root}/{name}", f"{other._root}/{target}"
        self._done("copy", name, lambda: other._files.cp_file(source, aim))

    def below(self, name: str) -> "Storage":
        """Return a folder below this one."""
        return Storage(f"{self.url}/{name}")

    def _done(
        self, action: str, name: str, function: Callable[[], Any], *, pauses: tuple[float, ...] | None = None
    ) -> Any:
        """Call a function of the backend, retrying if that may help; errors name the URL.

        Raises:
            MachineError: It failed; each backend has its own errors.
        """
        for pause in (*(PAUSES if pauses is None else pauses), None):
            try:
                return function()
            except HandloomError:
                raise
            except Exception as error:
                if pause is None or isinstance(error, LASTING):
                    raise MachineError(
                        f"cannot {action} {f'{self.url}/{name}'.rstrip('/')}: {type(error).__name__}: {error}; check "
                        "the URL and the credentials, on this machine and on the workers'",
                        kind="files",
                    ) from error
                time.sleep(pause)
        return None


def url_of(path: Path | str) -> str | None:
    """Return the URL in a command line argument, or None for a path; ``Path`` has dropped one slash of the URL."""
    found = re.fullmatch(r"([a-z][a-z0-9+]+):/+(.+)", str(path))
    if found is None:
        return None
    return f"{found[1]}://{'/' if found[1] in ('file', 'local') else ''}{found[2]}"
