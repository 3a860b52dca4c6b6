"""One finished episode on disk: frames, videos, archive, and the sheet ``episode.json`` that describes all of them."""

import hashlib
import os
import shutil
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
from pydantic_core import from_json

from handloom.dataset.episodes.archive import ARCHIVE_FILES, LABEL_FILES, EpisodeArchive, read_archive
from handloom.dataset.episodes.episode_files import EXTRAS, EpisodeFiles
from handloom.dataset.episodes.episode_outcome import EpisodeOutcome
from handloom.dataset.files.durable import PARTIAL, sha256_of
from handloom.dataset.files.parquet_files import read_table
from handloom.dataset.files.reading import (
    JSON_LIMIT,
    check_shape,
    checked_size,
    damage_named,
    parse_json,
    read_bytes,
    read_json,
)
from handloom.dataset.files.shapes import FileList, PlainObject, SaidQuestion, SaidWording, Sheet
from handloom.dataset.lerobot.feature import FeatureTable
from handloom.dataset.lerobot.statistics import ImageHistogram
from handloom.errors import FileError
from handloom.safe_paths import below

SHEET = "episode.json"
FRAMES = "frames.parquet"
COPIES = "copies.json"
"""In an episode extracted from a dataset: size and hash of the files whose container had to be recreated."""
FOLDER_VERSION = 1
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
"""Opening a pipe must not block until someone writes to it."""


@dataclass(frozen=True, kw_only=True)
class EpisodeFolder:
    """A finished episode; opening it reads one small JSON file, everything else is read on demand."""

    path: Path
    """The folder."""
    outcome: EpisodeOutcome
    """Outcome of the episode."""
    length: int
    """Number of frames."""
    table: FeatureTable
    """Features of each frame."""
    sheet: dict[str, Any]
    """Raw ``episode.json``."""
    copies: dict[str, Any]
    """Size and hash of files that differ from those in the sheet but have the same content."""
    files: EpisodeFiles
    """Its files; those of an archive may be in a pack."""
    sheet_sha256: str
    """Hash of its sheet, which in turn contains the hashes of its files."""
    sheet_bytes: bytes = b""
    """Content of the sheet, if it is kept."""

    @classmethod
    def open(cls, path: Path) -> "EpisodeFolder":
        """Read the sheet of an episode folder, or of an archive."""
        file, files = path / SHEET, EpisodeFiles.at(path)
        raw = files.read(SHEET, limit=JSON_LIMIT) if files.packed else _sheet_of(path)
        sheet = parse_json(raw, Sheet, source=str(file))
        with damage_named(file):
            episode = cls(
                path=path,
                outcome=EpisodeOutcome.from_json(sheet["outcome"]),
                length=sheet["length"],
                table=_table_of(sheet["table"]),
                sheet=sheet,
                copies=read_json(path / COPIES, FileList) if os.path.isfile(f"{path}/{COPIES}") else {},
                files=files,
                sheet_sha256=hashlib.sha256(raw).hexdigest(),
            )
        videos = {feature.name for feature in episode.table.videos}
        if not ({FRAMES, *map(video_file, videos)} <= set(sheet["files"]) and videos <= set(sheet["video_headers"])):
            raise FileError(f"{file} does not list the frames and videos of its features; generate the episode again")
        if any(segment.stop > episode.length for segment in episode.outcome.segments):
            raise FileError(f"{file} has segments beyond its {episode.length} frames; generate the episode again")
        return episode

    @classmethod
    def again(cls, path: Path, sha256: bytes, table: FeatureTable) -> "EpisodeFolder":
        """Read a sheet again without validating it once more.

        Args:
            path: The episode.
            sha256: Expected hash of the sheet.
            table: Features of each frame according to that sheet.
        """
        files = EpisodeFiles(folder=path) if path.parent.name != EXTRAS else EpisodeFiles.at(path)
        raw = files.read(SHEET, limit=JSON_LIMIT) if files.packed else _sheet_of(path)
        if hashlib.sha256(raw).digest() != sha256:
            raise FileError(f"{path / SHEET} changed while it was in use; run the same command again")
        sheet = from_json(raw)
        copies = os.path.isfile(f"{path}/{COPIES}")
        return cls(
            path=path,
            outcome=EpisodeOutcome.from_json(sheet["outcome"]),
            length=sheet["length"],
            table=table,
            sheet=sheet,
            copies=read_json(path / COPIES, FileList) if copies else {},
            files=files,
            sheet_sha256=sha256.hex(),
            sheet_bytes=raw,
        )

    @property
    def duration_s(self) -> float:
        """Length of the episode [s]."""
        return self.length / self.table.fps

    @property
    def statistics(self) -> dict[str, dict[str, list[Any]]]:
        """Statistics by feature, as stored in the dataset's episode table."""
        return self.sheet["statistics"]

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The sub-task of every frame, in words."""
        return tuple(self.outcome.labels(self.length))

    @cached_property
    def histograms(self) -> dict[str, ImageHistogram]:
        """Histograms of the camera streams."""
        with damage_named(self.path / SHEET):
            return {name: ImageHistogram.from_json(value) for name, value in self.sheet["histograms"].items()}

    def video_path(self, name: str) -> Path:
        """Return the file of a camera stream."""
        return self.path / video_file(self.table[name].name)

    def frames(self) -> pa.Table:
        """Read the frames: one column per feature, ``timestamp`` and ``frame_index``."""
        return read_table(self.path / FRAMES)

    def words(self) -> dict[str, Any]:
        """Return the language labels of the episode; empty if there are none."""
        name = LABEL_FILES[2]
        if name not in self.sheet["files"]:
            return {}
        file = self.path / name
        words = parse_json(self.checked_bytes(name), PlainObject, source=str(file))
        with damage_named(file):
            check_shape(words.get("wordings", []), list[SaidWording], source=str(file))
            check_shape(words.get("questions", []), list[SaidQuestion], source=str(file))
            check_shape(words.get("plan", []), list[str], source=str(file))
        return words

    def archive(self) -> EpisodeArchive:
        """Read and check the archive."""
        return read_archive(self.path)

    def faults(self) -> tuple[str, ...]:
        """Compare every file with the size and hash in the sheet; return a description of the differences."""
        found = []
        for name in self.sheet["files"]:
            try:
                self.checked_bytes(name)
            except FileError as error:
                found.append(str(error))
        return tuple(found)

    def checked_file(self, name: str) -> Path:
        """Return a file of the folder (not of a pack) after checking that it is unchanged."""
        file, written = self._place(name), self._written(name)
        if written is not None and (checked_size(file) != written["bytes"] or sha256_of(file) != written["sha256"]):
            raise self._changed(name, written)
        return file

    def checked_bytes(self, name: str) -> bytes:
        """Return the content of a file after checking that it is unchanged."""
        written = self._written(name)
        if self.files.packed and self.files.has(name):
            content = self.files.read(name)
        else:
            content = self.files.read(name) if written is None else self._read(name, written["bytes"])
        if written is not None and (
            len(content) != written["bytes"] or hashlib.sha256(content).hexdigest() != written["sha256"]
        ):
            raise self._changed(name, written)
        return content

    def _read(self, name: str, size: int) -> bytes:
        """Return at most one byte more than a file should have."""
        content = _beginning(f"{self.path}/{name}", size + 1)
        return read_bytes(self._place(name), limit=size + 1) if content is None else content

    def _place(self, name: str) -> Path:
        """Return the path of a file of the folder."""
        file = self.path / name
        if os.path.islink(file):  # Resolving a link costs a hundred times as much, and hardly any file is a link.
            file = below(self.path, name, what=str(self.path / SHEET))
        if not os.path.isfile(file):
            raise FileError(f"{file} is missing; generate or render the episode again")
        return file

    def _written(self, name: str) -> dict[str, Any] | None:
        """Return size and hash of a file; not for labels added later, which the dataset's file list covers."""
        written = self.copies.get(name) or self.sheet["files"].get(name)
        if written is None and not (name in LABEL_FILES and self.files.has(name)):
            raise FileError(f"{self.path / SHEET} does not list {name}; generate the episode again")
        return written

    def _changed(self, name: str, written: dict[str, Any]) -> FileError:
        return FileError(
            f"{self.path / name} has changed since it was written ({written['bytes']} bytes); generate the episode "
            f"again"
        )

    def archive_files(self) -> tuple[str, ...]:
        """Return the names of the files that go with the episode into ``extras/``, without labels."""
        return (*(name for name in ARCHIVE_FILES if name in self.sheet["files"]), SHEET)

    def label_files(self) -> tuple[str, ...]:
        """Return the names of the label files that go with the episode into ``extras/``."""
        return tuple(name for name in LABEL_FILES if name in self.sheet["files"] or self.files.has(name))

    def extra_bytes(self, name: str) -> bytes:
        """Return the content of a file that goes into ``extras/``, checked; the sheet is returned unchecked."""
        if name == SHEET:
            return self.sheet_bytes or self.files.read(SHEET, limit=JSON_LIMIT)
        return self.checked_bytes(name)


def _sheet_of(folder: Path) -> bytes:
    """Return the content of the sheet in a folder."""
    content = _beginning(f"{folder}/{SHEET}", JSON_LIMIT + 1)
    if content is None or len(content) > JSON_LIMIT:
        return read_bytes(folder / SHEET, limit=JSON_LIMIT)
    return content


def _beginning(file: str, most: int) -> bytes | None:
    """Return the first bytes of a regular file; None if it is a link or cannot be opened.

    An episode is six small files, for which Python's file objects take longer than reading.
    """
    try:
        handle = os.open(file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | _NO_WAIT)
    except OSError:
        return None
    try:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            raise FileError(f"{file} is not a regular file; remove it, or restore the file")
        content = os.read(handle, min(most, facts.st_size))
        while len(content) < min(most, facts.st_size) and (more := os.read(handle, min(most - len(content), 2**20))):
            content += more
        return content
    finally:
        os.close(handle)


_last_table: list[tuple[Any, FeatureTable]] = []
"""The last table that was read, and its source: all episodes of a run have the same table."""


def _table_of(value: Any) -> FeatureTable:
    for known, table in _last_table:
        if known == value:
            return table
    table = FeatureTable.from_json(value)
    _last_table[:] = [(value, table)]
    return table


def video_file(feature: str) -> str:
    """Return the name of the file of a camera stream in an episode folder."""
    return f"{feature}.mp4"


def folder_name(index: int) -> str:
    """Return the name of the folder of an attempt, e.g. ``episode_000012``."""
    return f"episode_{index:06d}"


def find_episodes(parents: Iterable[Path]) -> tuple[Path, ...]:
    """Return the finished episode folders directly in the given folders, ordered by attempt.

    Raises:
        FileError: Two folders contain the same attempt.
    """
    found: dict[str, Path] = {}
    for parent in parents:
        if not parent.is_dir():
            raise FileError(f"{parent} is not a folder; check the path")
        for folder in parent.glob("episode_*"):
            if PARTIAL in folder.name or not (folder / SHEET).is_file():
                continue
            if folder.name in found:
                raise FileError(f"{found[folder.name]} and {folder} are the same attempt; remove one of them")
            found[folder.name] = folder
    return tuple(found[name] for name in sorted(found, key=lambda name: (len(name), name)))


def remove_unfinished(parent: Path) -> int:
    """Remove leftovers of killed writers in a folder of episodes; return their number.

    Only call this if no process is writing there: an unfinished folder looks the same.
    """
    leftovers = [folder for folder in parent.glob(f"episode_*{PARTIAL}-*") if folder.is_dir()]
    for folder in leftovers:
        shutil.rmtree(folder, ignore_errors=True)
    return len(leftovers)
