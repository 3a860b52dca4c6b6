"""A place between machines, named by a URL, where workers leave what the run takes in."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

from handloom.errors import HandloomError, InputError, StateError, require


class Storage:
    """Small files under a URL that fsspec knows: ``s3://bucket/folder``, ``gs://bucket/folder``, ``file:///folder``.

    Credentials come from where the backend looks for them: environment, its own files, the machine's role.
    """

    def __init__(self, url: str) -> None:
        if "://" not in url:
            raise InputError(f"{url!r} is no URL; write s3://bucket/folder, gs://bucket/folder or file:///folder")
        fsspec = require("fsspec", extra="cloud")
        self.url = url.rstrip("/")
        options = {"auto_mkdir": True} if url.startswith(("file:", "local:")) else {}
        with self._named("reach", ""):
            self._files, self._root = fsspec.core.url_to_fs(self.url, use_listings_cache=False, **options)

    def check(self) -> None:
        """Write and remove a file, so that a wrong URL or missing rights are known before the work begins."""
        name = f"check-{uuid4().hex}"
        self.write(name, b"")
        self.remove(name)

    def holds(self, name: str) -> bool:
        """Return whether there is a file of this name."""
        with self._named("read", name):
            return bool(self._files.exists(f"{self._root}/{name}"))

    def write(self, name: str, content: bytes) -> None:
        """Write a file at once."""
        with self._named("write", name):
            self._files.pipe_file(f"{self._root}/{name}", content)

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        with self._named("read", name):
            return bytes(self._files.cat_file(f"{self._root}/{name}"))

    def remove(self, name: str) -> None:
        """Remove a file."""
        with self._named("remove", name):
            self._files.rm_file(f"{self._root}/{name}")

    @contextmanager
    def _named(self, action: str, name: str) -> Iterator[None]:
        """Name the URL in whatever a backend raises; each has errors of its own."""
        try:
            yield
        except HandloomError:
            raise
        except Exception as error:
            raise StateError(
                f"cannot {action} {f'{self.url}/{name}'.rstrip('/')}: {type(error).__name__}: {error}; check the URL "
                "and the credentials, on this machine and on the workers'"
            ) from error
