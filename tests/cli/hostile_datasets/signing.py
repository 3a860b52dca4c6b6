"""Hashes written anew, as somebody would who does not want to be found out."""

import hashlib
import json
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from handloom.dataset.episodes.certificate import array_hash

COMPACT: dict[str, Any] = {"ensure_ascii": False, "separators": (",", ":")}


def sign_archives(dataset: Path) -> None:
    """Write the hashes of certificates and sheets anew, as far as their files can be read."""
    for folder in (dataset / "extras").glob("episode_*"):
        with suppress(Exception):
            certificate = loaded(folder / "certificate.json")
            for part in ("instance", "timeline"):
                with suppress(Exception):
                    text = json.dumps(loaded(folder / f"{part}.json"), **COMPACT) + "\n"
                    certificate["hashes"][part] = hashlib.sha256(text.encode()).hexdigest()
            for part in ("commands", "states"):
                with suppress(Exception):
                    for name, array in small_arrays(folder / f"{part}.npz").items():
                        certificate["hashes"][f"{part}/{name}"] = array_hash(array)
            (folder / "certificate.json").write_text(json.dumps(certificate, indent=1))
        with suppress(Exception):
            sheet = loaded(folder / "episode.json")
            for name in sheet["files"]:
                if (folder / name).is_file():
                    sheet["files"][name] = described(folder / name)
            (folder / "episode.json").write_text(json.dumps(sheet, **COMPACT) + "\n")


def loaded(file: Path) -> Any:
    if not file.is_file():  # Reading a pipe would wait for ever.
        raise FileNotFoundError(file)
    return json.loads(file.read_text())


def small_arrays(file: Path) -> dict[str, Any]:
    if not file.is_file():
        return {}
    with zipfile.ZipFile(file) as archive:
        if sum(member.file_size for member in archive.infolist()) > 10**9:
            return {}
    with np.load(file, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files[:100]}


def sign_files(dataset: Path) -> None:
    """List all files anew."""
    files = sorted(f for f in dataset.rglob("*") if f.is_file() and f.stat().st_size < 2**30)
    names = {str(file.relative_to(dataset)): file for file in files}
    listing = {}
    for name, file in names.items():
        with suppress(OSError):
            listing[name] = described(file)
    listing.pop("meta/files.json", None)
    with suppress(OSError, UnicodeError):
        text = json.dumps(listing, indent=4, ensure_ascii=False) + "\n"
        (dataset / "meta" / "files.json").write_bytes(text.encode())


def described(file: Path) -> dict[str, Any]:
    content = file.read_bytes()
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
