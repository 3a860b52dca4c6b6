"""Attempts on machines that do not see the run's folder: each comes back packed, through Ray or by way of a URL."""

import io
import json
import tempfile
import zipfile
from pathlib import Path

from handloom.dataset import folder_name
from handloom.dataset.durable import atomic_folder
from handloom.engine.receipt import Receipt
from handloom.engine.run_directory import RunDirectory
from handloom.engine.storage import Storage
from handloom.engine.unit import Unit, attempt_receipt
from handloom.errors import FileError

RECEIPT = "receipt.json"


def run_elsewhere(unit: Unit, *, staging: str = "") -> bytes | None:
    """Run a unit of one attempt and return the receipt and the episode, packed; the worker keeps nothing.

    Args:
        unit: The attempt; the folder of its run is not looked at.
        staging: URL where the parcel is left instead, for ``take_in``. One that lies there already is not made again.
    """
    storage = Storage(staging) if staging else None
    if storage is not None and storage.holds(_name(unit)):
        return None
    with tempfile.TemporaryDirectory() as folder:
        receipt = attempt_receipt(unit.settings, unit.settings.loaded_task(), unit.first, Path(folder))
        parcel = packed(receipt, Path(folder))
    if storage is None:
        return parcel
    storage.write(_name(unit), parcel)
    return None


def take_in(run: RunDirectory, unit: Unit, parcel: bytes | None, *, staging: str = "") -> None:
    """Put what ``run_elsewhere`` made into the run: the episode first, then its line in the journal."""
    storage = Storage(staging) if parcel is None else None
    content = storage.read(_name(unit)) if storage is not None else parcel
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


def unpacked(parcel: bytes, episodes: Path) -> Receipt:
    """Write the episode of a parcel into the folder of episodes, whole or not at all, and return its receipt."""
    try:
        with zipfile.ZipFile(io.BytesIO(parcel)) as archive:
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
                (work / Path(name).name).write_bytes(content)
    return receipt


def _name(unit: Unit) -> str:
    """Return the name of a unit's parcel: equal settings give equal attempts, so their hash will do for the run."""
    return f"{unit.settings.fingerprint()[:16]}/{folder_name(unit.first)}.zip"
