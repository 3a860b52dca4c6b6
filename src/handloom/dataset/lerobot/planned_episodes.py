"""The location of every episode in a dataset, in little memory: a plan may have millions of episodes."""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import overload

import numpy as np

from handloom.errors import InputError

DIGEST = 32
"""Length of a SHA-256 [bytes]."""


@dataclass(frozen=True, kw_only=True)
class FilePlace:
    """The position of a file among those of its kind."""

    chunk: int = 0
    file: int = 0

    def following(self, chunks_size: int) -> "FilePlace":
        """Return the place of the next file."""
        if self.file + 1 < chunks_size:
            return FilePlace(chunk=self.chunk, file=self.file + 1)
        return FilePlace(chunk=self.chunk + 1, file=0)

    def path(self, ending: str) -> str:
        """Return the path below the folder of the kind, e.g. ``chunk-000/file-002.mp4``."""
        return f"chunk-{self.chunk:03d}/file-{self.file:03d}.{ending}"


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedEpisode:
    """One episode and its location in the dataset."""

    folder: Path
    """Current location of its files."""
    sheet_sha256: bytes
    """Hash of its sheet, which in turn has the hashes of its files."""
    extra_bytes: tuple[int, int]
    """Space taken by its archive and its labels [bytes]."""
    episode_index: int
    """Index in the dataset, from 0 without gaps."""
    length: int
    """Number of frames."""
    first_frame: int
    """Index of its first frame in the dataset."""
    task_index: int
    """Index of its task."""
    data: FilePlace
    """Its data file."""
    videos: dict[str, tuple[FilePlace, int]]
    """Its video file by camera, and the index of its first frame there."""


class PlannedEpisodes(Sequence[PlannedEpisode]):
    """Planned episodes, stored as columns of numbers: some 200 bytes each, a quarter of that of the objects.

    Args:
        first: Index of the first episode in the dataset.
        cameras: Names of the camera streams.
    """

    def __init__(self, *, first: int, cameras: Sequence[str]) -> None:
        self._first, self._cameras = first, tuple(cameras)
        self._parents: dict[Path, int] = {}
        self._paths: list[Path] = []
        """Folders that contain episodes, in the order of their numbers."""
        self._names: list[str] = []
        self._digests = bytearray()
        self._numbers = array("q")
        self._width = 8 + 3 * len(self._cameras)

    def append(self, episode: PlannedEpisode) -> None:
        """Add the next episode."""
        parent = episode.folder.parent
        if parent not in self._parents:
            self._parents[parent] = len(self._paths)
            self._paths.append(parent)
        self._names.append(episode.folder.name)
        self._digests += episode.sheet_sha256
        data = episode.data
        row = [self._parents[parent], *episode.extra_bytes, episode.length, episode.first_frame, episode.task_index]
        row += [data.chunk, data.file]
        for name in self._cameras:
            place, start = episode.videos[name]
            row += [place.chunk, place.file, start]
        self._numbers.extend(row)

    def __len__(self) -> int:
        return len(self._names)

    @overload
    def __getitem__(self, index: int) -> PlannedEpisode: ...
    @overload
    def __getitem__(self, index: slice) -> list[PlannedEpisode]: ...
    def __getitem__(self, index: int | slice) -> PlannedEpisode | list[PlannedEpisode]:
        if isinstance(index, slice):
            return [self._episode(number) for number in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        return self._episode(index % len(self))

    def __iter__(self) -> Iterator[PlannedEpisode]:
        return map(self._episode, range(len(self)))

    def _episode(self, number: int) -> PlannedEpisode:
        at = number * self._width
        parent, archive, labels, length, first, task, chunk, file, *videos = self._numbers[at : at + self._width]
        return PlannedEpisode(
            folder=self._folder(number, parent),
            sheet_sha256=bytes(self._digests[number * DIGEST : (number + 1) * DIGEST]),
            extra_bytes=(archive, labels),
            episode_index=self._first + number,
            length=length,
            first_frame=first,
            task_index=task,
            data=FilePlace(chunk=chunk, file=file),
            videos={
                name: (FilePlace(chunk=videos[3 * k], file=videos[3 * k + 1]), videos[3 * k + 2])
                for k, name in enumerate(self._cameras)
            },
        )

    def _folder(self, number: int, parent: int) -> Path:
        return self._paths[parent] / self._names[number]

    def refuse_duplicates(self) -> None:
        """Refuse a plan that contains an episode twice.

        Raises:
            InputError: The sheets of two episodes are equal.
        """
        digests = np.frombuffer(self._digests, np.uint64).reshape(len(self), DIGEST // 8)
        order = np.lexsort(digests.T)
        equal = (digests[order[1:]] == digests[order[:-1]]).all(axis=1)
        if not equal.any():
            return
        # Equal sheets keep their order, so the first one listed again is the smallest of the later ones.
        again = int(order[1:][equal].min())
        before = int(np.flatnonzero((digests == digests[again]).all(axis=1))[0])
        raise InputError(f"{self[before].folder} and {self[again].folder} are the same episode; list it once")
