"""Attempts on machines that do not see the run's folder: each comes back as a zip archive, by Ray or by URL."""

import io
import json
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from handloom.dataset import folder_name
from handloom.dataset.files.durable import atomic_folder
from handloom.dataset.files.reading import parse_json
from handloom.engine.attempt import Unit, attempt_receipt
from handloom.engine.runs.journal import Receipt, ReceiptLine
from handloom.engine.runs.run_directory import RunDirectory
from handloom.errors import FileError, HandloomError, InputError, MachineError, require
from handloom.safe_paths import safe_name

PAUSES = (1.0, 4.0, 16.0)
"""Between tries to reach a storage: an outage of a network for a few seconds must not stop a run [s]."""
LASTING = (
    PermissionError,
    FileNotFoundError,
    NotADirectoryError,
    IsADirectoryError,
    ValueError,
    TypeError,
    ImportError,
)
"""Errors that another try would meet again."""


class Storage:
    """Small files under a URL that fsspec knows: ``s3://bucket/folder``, ``gs://bucket/folder``, ``file:///folder``.

    Credentials come from where the backend looks for them: environment, its own files, the machine's role.
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
        """Write and remove a file, so that a wrong URL or missing rights are known before the work begins."""
        name = f"check-{uuid4().hex}"
        self._done("write", name, lambda: self._files.pipe_file(f"{self._root}/{name}", b""), pauses=())
        self._done("remove", name, lambda: self._files.rm_file(f"{self._root}/{name}"), pauses=())

    def holds(self, name: str) -> bool:
        """Return whether there is a file of this name."""
        return bool(self._done("read", name, lambda: self._files.exists(f"{self._root}/{name}")))

    def write(self, name: str, content: bytes) -> None:
        """Write a file at once."""
        self._done("write", name, lambda: self._files.pipe_file(f"{self._root}/{name}", content))

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        return bytes(self._done("read", name, lambda: self._files.cat_file(f"{self._root}/{name}")))

    def remove(self, name: str) -> None:
        """Remove a file."""
        self._done("remove", name, lambda: self._files.rm_file(f"{self._root}/{name}"))

    def _done(
        self, action: str, name: str, function: Callable[[], Any], *, pauses: tuple[float, ...] | None = None
    ) -> Any:
        """Call a function of the backend, again when that may help; name the URL in whatever it raises.

        Raises:
            MachineError: It did not work; each backend has errors of its own.
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


RECEIPT = "receipt.json"


def run_remotely(unit: Unit, *, staging: str = "") -> bytes | None:
    """Run a unit of one attempt and return the receipt and the episode, packed; the worker keeps nothing.

    Args:
        unit: The attempt; the folder of its run is ignored.
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
    """Put what ``run_remotely`` made into the run: the episode first, then its line in the journal.

    Raises:
        MachineError: It cannot be fetched, or arrived damaged; what is damaged is removed, so that it is made again.
    """
    storage = Storage(staging) if archive_bytes is None else None
    content = storage.read(_name(unit)) if storage is not None else archive_bytes
    try:
        receipt, files = _opened(content or b"")
        if receipt.episode != unit.first:
            raise FileError(f"what a worker handed over is attempt {receipt.episode}, not {unit.first}")
    except FileError as error:
        if storage is not None:
            storage.remove(_name(unit))
        raise MachineError(str(error), kind="files") from error
    _write(receipt, files, run.episodes)
    run.journal(unit.index).append(receipt)
    if storage is not None:
        with suppress(MachineError):  # What stays there is known to be equal; no one takes it for anything else.
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
    receipt, files = _opened(archive_bytes)
    _write(receipt, files, episodes)
    return receipt


def _opened(archive_bytes: bytes) -> tuple[Receipt, dict[str, bytes]]:
    """Return the receipt and the files of the episode."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive_bytes)) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        return Receipt.from_json(parse_json(files.pop(RECEIPT), ReceiptLine, source=RECEIPT)), files
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, TypeError, ValueError, FileError) as error:
        raise FileError(f"the result of a worker is damaged ({type(error).__name__}: {error})") from error


def _write(receipt: Receipt, files: dict[str, bytes], episodes: Path) -> None:
    folder = episodes / folder_name(receipt.episode)
    if files and not folder.is_dir():
        with atomic_folder(folder) as work:
            for name, content in files.items():
                (work / safe_name(Path(name).name)).write_bytes(content)


def _name(unit: Unit) -> str:
    """Return the name of a unit's archive: equal settings give equal attempts, so their hash will do for the run."""
    return f"{unit.settings.fingerprint()[:16]}/{folder_name(unit.first)}.zip"
