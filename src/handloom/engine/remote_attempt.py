"""Attempts on machines that do not see the run's folder: each comes back as a zip archive, by Ray or by URL."""

import io
import json
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from handloom.dataset import folder_name
from handloom.dataset.durable import atomic_folder
from handloom.engine.attempt import Unit, attempt_receipt
from handloom.engine.journal import Receipt
from handloom.engine.run_directory import RunDirectory
from handloom.errors import FileError, HandloomError, InputError, StateError, require
from handloom.safe_paths import safe_name


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


RECEIPT = "receipt.json"


def run_remotely(unit: Unit, *, staging: str = "") -> bytes | None:
    """Run a unit of one attempt and return the receipt and the episode, packed; the worker keeps nothing.

    Args:
        unit: The attempt; the folder of its run is not looked at.
        staging: URL where the archive is left instead, for ``store_result``; one that is there is not made again.
    """
    storage = Storage(staging) if staging else None
    if storage is not None and storage.holds(_name(unit)):
        return None
    with tempfile.TemporaryDirectory() as folder:
        receipt = attempt_receipt(unit.settings, unit.settings.loaded_task(), unit.first, Path(folder))
        archive_bytes = packed(receipt, Path(folder))
    if storage is None:
        return archive_bytes
    storage.write(_name(unit), archive_bytes)
    return None


def store_result(run: RunDirectory, unit: Unit, archive_bytes: bytes | None, *, staging: str = "") -> None:
    """Put what ``run_remotely`` made into the run: the episode first, then its line in the journal."""
    storage = Storage(staging) if archive_bytes is None else None
    content = storage.read(_name(unit)) if storage is not None else archive_bytes
    run.journal(unit.index).append(unpacked(content or b"", run.episodes))
    if storage is not None:
        storage.remove(_name(unit))


def packed(receipt: Receipt, episodes: Path) -> bytes:
    """Return a receipt and the folder of its episode, if there is one, as a zip archive."""
    folder, buffer = episodes / folder_name(receipt.episode), io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(RECEIPT, json.dumps(receipt.to_json()))
        for file in sorted(folder.iterdir()) if folder.is_dir() else ():
            archive.write(file, file.name)
    return buffer.getvalue()


def unpacked(archive_bytes: bytes, episodes: Path) -> Receipt:
    """Write the episode of such an archive into the folder of episodes, whole or not at all, and return its receipt."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive_bytes)) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        receipt = Receipt.from_json(json.loads(files.pop(RECEIPT)))
    except (zipfile.BadZipFile, KeyError, TypeError, ValueError) as error:
        raise FileError(
            f"what a worker handed over is damaged ({type(error).__name__}: {error}); if it lies under the URL of "
            "--staging, remove it there"
        ) from error
    folder = episodes / folder_name(receipt.episode)
    if files and not folder.is_dir():
        with atomic_folder(folder) as work:
            for name, content in files.items():
                (work / safe_name(Path(name).name)).write_bytes(content)
    return receipt


def _name(unit: Unit) -> str:
    """Return the name of a unit's archive: equal settings give equal attempts, so their hash will do for the run."""
    return f"{unit.settings.fingerprint()[:16]}/{folder_name(unit.first)}.zip"
