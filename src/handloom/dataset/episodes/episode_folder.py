"""One finished episode on disk: frames, videos, archive and a sheet that describes them all."""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from handloom.dataset.episodes.archive import ARCHIVE_FILES, LABEL_FILES, EpisodeArchive, read_archive
from handloom.dataset.episodes.episode_outcome import EpisodeOutcome
from handloom.dataset.files.durable import PARTIAL, sha256_of
from handloom.dataset.files.parquet_files import read_table
from handloom.dataset.files.reading import check_shape, checked_size, damage_named, read_json
from handloom.dataset.files.shapes import FileList, PlainObject, SaidQuestion, SaidWording, Sheet
from handloom.dataset.lerobot.feature import FeatureTable
from handloom.dataset.lerobot.statistics import ImageHistogram
from handloom.errors import FileError
from handloom.safe_paths import below

SHEET = "episode.json"
FRAMES = "frames.parquet"
COPIES = "copies.json"
"""In an episode that was taken out of a dataset: size and hash of the files whose container had to be made again."""
FOLDER_VERSION = 1


@dataclass(frozen=True, kw_only=True)
class EpisodeFolder:
    """A finished episode; reading it costs one small JSON file, everything else is read when asked for."""

    path: Path
    """The folder."""
    outcome: EpisodeOutcome
    """What became of the episode."""
    length: int
    """Number of frames."""
    table: FeatureTable
    """What each frame holds."""
    sheet: dict[str, Any]
    """``episode.json`` as it is."""
    copies: dict[str, Any]
    """Size and hash of the files that are not those the sheet names, but hold the same."""

    @classmethod
    def open(cls, path: Path) -> "EpisodeFolder":
        """Read the sheet of an episode folder."""
        file = path / SHEET
        sheet = read_json(file, Sheet)
        with damage_named(file):
            episode = cls(
                path=path,
                outcome=EpisodeOutcome.from_json(sheet["outcome"]),
                length=sheet["length"],
                table=FeatureTable.from_json(sheet["table"]),
                sheet=sheet,
                copies=read_json(path / COPIES, FileList) if (path / COPIES).is_file() else {},
            )
        videos = {feature.name for feature in episode.table.videos}
        if not ({FRAMES, *map(video_file, videos)} <= set(sheet["files"]) and videos <= set(sheet["video_headers"])):
            raise FileError(f"{file} does not list the frames and videos of its features; generate the episode again")
        if any(segment.stop > episode.length for segment in episode.outcome.segments):
            raise FileError(f"{file} has segments beyond its {episode.length} frames; generate the episode again")
        return episode

    @property
    def duration_s(self) -> float:
        """Length of the episode [s]."""
        return self.length / self.table.fps

    @property
    def statistics(self) -> dict[str, dict[str, list[Any]]]:
        """Statistics by feature, as stored in the dataset's episode table."""
        return self.sheet["statistics"]

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
        """Return what labels say about the episode; empty if there are none."""
        name = LABEL_FILES[2]
        if name not in self.sheet["files"]:
            return {}
        file = self.checked_file(name)
        words = read_json(file, PlainObject)
        with damage_named(file):
            check_shape(words.get("wordings", []), list[SaidWording], source=str(file))
            check_shape(words.get("questions", []), list[SaidQuestion], source=str(file))
            check_shape(words.get("plan", []), list[str], source=str(file))
        return words

    def archive(self) -> EpisodeArchive:
        """Read and check the archive."""
        return read_archive(self.path)

    def faults(self) -> tuple[str, ...]:
        """Compare every file with the size and hash in the sheet; return what is wrong in words."""
        found = []
        for name in self.sheet["files"]:
            try:
                self.checked_file(name)
            except FileError as error:
                found.append(str(error))
        return tuple(found)

    def checked_file(self, name: str) -> Path:
        """Return a file of the folder after making sure that it is the one that was written."""
        file, written = self.path / name, self.copies.get(name)
        if file.is_symlink():  # Following it costs a hundred times as much, and hardly any file is one.
            file = below(self.path, name, what=str(self.path / SHEET))
        # Labels that were made later are in the file list of their dataset and not in the sheet.
        written = self.sheet["files"].get(name) if written is None else written
        if written is None and name in LABEL_FILES and file.is_file():
            return file
        if written is None:
            raise FileError(f"{self.path / SHEET} does not list {name}; generate the episode again")
        if not file.is_file():
            raise FileError(f"{file} is missing; generate or render the episode again")
        if checked_size(file) != written["bytes"] or sha256_of(file) != written["sha256"]:
            raise FileError(f"{file} is not as it was written ({written['bytes']} bytes); generate the episode again")
        return file

    def archive_files(self) -> tuple[str, ...]:
        """Return the names of the files that go with the episode into ``extras/``."""
        stored = [name for name in ARCHIVE_FILES if name in self.sheet["files"]]
        stored += [name for name in LABEL_FILES if name in self.sheet["files"] or (self.path / name).is_file()]
        return (*stored, SHEET)


def video_file(feature: str) -> str:
    """Return the name of the file of a camera stream in an episode folder."""
    return f"{feature}.mp4"


def folder_name(index: int) -> str:
    """Return the name of the folder of an attempt, e.g. ``episode_000012``."""
    return f"episode_{index:06d}"


def find_episodes(parents: Iterable[Path]) -> tuple[Path, ...]:
    """Return the finished episode folders directly in the given folders, ordered by attempt.

    Raises:
        FileError: Two folders hold the same attempt.
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
    """Remove what killed writers left in a folder of episodes; return how many there were.

    Only for whoever knows that no one is writing there: a folder in the making looks the same.
    """
    leftovers = [folder for folder in parent.glob(f"episode_*{PARTIAL}-*") if folder.is_dir()]
    for folder in leftovers:
        shutil.rmtree(folder, ignore_errors=True)
    return len(leftovers)
