"""Attempts on machines that cannot see the run's folder: each is returned as a zip archive, through Ray or a URL."""

import io
import json
import tempfile
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path

from handloom.dataset import folder_name
from handloom.dataset.files.durable import atomic_folder
from handloom.dataset.files.reading import parse_json
from handloom.dataset.files.storage import Storage
from handloom.engine.attempt import Unit, attempt_receipt
from handloom.engine.runs.journal import Receipt, ReceiptLine
from handloom.engine.runs.run_directory import RunDirectory
from handloom.errors import FileError, MachineError
from handloom.safe_paths import safe_name

RECEIPT = "receipt.json"


def run_remotely(unit: Unit, *, staging: str = "") -> bytes | None:
    """Run a unit of one attempt and return the receipt and the episode, zipped; the worker keeps nothing.

    Args:
        unit: The attempt; the folder of its run is ignored.
        staging: URL where the archive is stored instead, for ``store_result``; an existing archive is not made again.
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
    """Store the result of ``run_remotely`` in the run: the episode first, then its journal line.

    Raises:
        MachineError: It cannot be fetched, or arrived damaged; a damaged archive is removed, so that it is made again.
    """
    storage = Storage(staging) if archive_bytes is None else None
    content = storage.read(_name(unit)) if storage is not None else archive_bytes
    try:
        receipt, files = _opened(content or b"")
        if receipt.episode != unit.first:
            raise FileError(f"a worker returned attempt {receipt.episode}, not {unit.first}")
    except FileError as error:
        if storage is not None:
            storage.remove(_name(unit))
        raise MachineError(str(error), kind="files") from error
    _write(receipt, files, run.episodes)
    run.journal(unit.index).append(receipt)
    if storage is not None:
        with suppress(
            MachineError
        ):  # A leftover is harmless: its name identifies it, and a new archive would be identical.
            storage.remove(_name(unit))


def packed(receipt: Receipt, episodes: Path) -> bytes:
    """Return a receipt and the folder of its episode, if any, as a zip archive."""
    folder, buffer = episodes / folder_name(receipt.episode), io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(RECEIPT, json.dumps(receipt.to_json()))
        for file in sorted(folder.iterdir()) if folder.is_dir() else ():
            archive.write(file, file.name)
    return buffer.getvalue()


def unpacked(archive_bytes: bytes, episodes: Path) -> Receipt:
    """Write the episode of such an archive into the episodes folder, atomically, and return its receipt."""
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
    """Return the name of a unit's archive: equal settings give equal attempts, so their hash identifies the run."""
    return f"{unit.settings.fingerprint()[:16]}/{folder_name(unit.first)}.zip"
