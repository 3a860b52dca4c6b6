"""Write one episode: images stream in while the episode is rendered, the rest is written at the end."""

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.dataset.episodes.archive import EpisodeArchive, write_archive
from handloom.dataset.episodes.episode_folder import FOLDER_VERSION, FRAMES, SHEET, EpisodeFolder, video_file
from handloom.dataset.episodes.episode_outcome import EpisodeOutcome
from handloom.dataset.files.durable import PARTIAL, file_errors, json_bytes, name_folder, sha256_of
from handloom.dataset.files.parquet_files import bookkeeping_field, column_array, column_field, write_plain
from handloom.dataset.lerobot.feature import Feature, FeatureTable
from handloom.dataset.lerobot.statistics import ImageHistogram, column_statistics
from handloom.dataset.video.video_codec import HIGHEST_CODE, ID_COLOURS
from handloom.dataset.video.video_writer import VideoWriter
from handloom.errors import InputError, StateError


class EpisodeWriter:
    """An unfinished episode folder; it appears under its name only once everything is on disk.

    Leaving the ``with`` block without ``finish`` leaves nothing behind. An existing folder of that name is kept and
    the new one is dropped: an attempt always gives the same episode.

    Example::

        with EpisodeWriter(folder, table) as episode:
            for image in images:
                episode.add_image("observation.images.head", image)
            episode.finish(outcome, {"observation.state": states, "action": actions}, archive)
    """

    def __init__(self, folder: Path, table: FeatureTable) -> None:
        self.folder = folder
        self.table = table
        with file_errors("write", folder):
            folder.parent.mkdir(parents=True, exist_ok=True)
            self._work = Path(tempfile.mkdtemp(prefix=f"{folder.name}{PARTIAL}-", dir=folder.parent))
        self._videos: dict[str, VideoWriter] = {}
        self._histograms: dict[str, ImageHistogram] = {}
        for feature in table.videos:
            self._videos[feature.name] = VideoWriter(self._work / video_file(feature.name), feature, fps=table.fps)
            levels = HIGHEST_CODE + 1 if feature.depth else 256
            self._histograms[feature.name] = ImageHistogram(channels=feature.shape[2], levels=levels)
        self._open = True

    @property
    def work(self) -> Path:
        """The folder in which the episode is built; further files put there become part of it."""
        return self._work

    def add_image(self, name: str, image: NDArray[Any]) -> None:
        """Encode the next image of a camera.

        Args:
            name: Feature, e.g. ``observation.images.head``.
            image: Colour ``(h, w, 3)`` uint8, depth ``(h, w)`` [m], or instance ids ``(h, w)`` uint8.
        """
        feature = self.table[name]
        if not feature.is_video or not self._open:
            raise StateError(f"{name!r} is not a camera stream" if self._open else f"{self.folder} is finished")
        self._videos[name].add(image)
        self._histograms[name].add(_levels(feature, image))

    def finish(
        self, outcome: EpisodeOutcome, columns: Mapping[str, Any], archive: EpisodeArchive | None = None
    ) -> EpisodeFolder:
        """Write the remaining files, sync them, and rename the folder.

        Args:
            outcome: Outcome of the episode.
            columns: Values ``(frames, n)`` of every column of the table.
            archive: All data for a replay; None for episodes that do not come from a simulation.
        """
        if not self._open:
            raise StateError(f"{self.folder} is finished")
        arrays = self._checked(outcome, columns)
        length = len(next(iter(arrays.values())))
        for video in self._videos.values():
            video.close()
        self._write_frames(arrays, length)
        if archive is not None:
            write_archive(self._work, archive)
        self._write_sheet(outcome, arrays, length)
        self._give_name()
        return EpisodeFolder.open(self.folder)

    def _checked(self, outcome: EpisodeOutcome, columns: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        """Return the columns as arrays of the declared types; raise an error that names a mismatch."""
        wanted = [feature.name for feature in self.table.columns]
        if sorted(columns) != sorted(wanted):
            raise InputError(f"the table has the columns {', '.join(sorted(wanted))}; got {', '.join(sorted(columns))}")
        length = len(columns[wanted[0]])
        if length < 1:
            raise InputError("an episode needs at least one frame")
        for name, video in self._videos.items():
            if video.frame_count != length:
                raise InputError(f"{name!r} has {video.frame_count} images for {length} frames")
        if outcome.segments and outcome.segments[-1].stop > length:
            raise InputError(f"the last segment ends at {outcome.segments[-1].stop}, the episode at {length}")
        return {f.name: f.as_array(columns[f.name], length=length) for f in self.table.columns}

    def _write_frames(self, arrays: Mapping[str, NDArray[Any]], length: int) -> None:
        """Write the columns, with the time and index of each frame."""
        schema = pa.schema(
            [*map(column_field, self.table.columns), bookkeeping_field("timestamp"), bookkeeping_field("frame_index")]
        )
        frames = np.arange(length)
        data = [column_array(feature, arrays[feature.name]) for feature in self.table.columns]
        data += [pa.array((frames / self.table.fps).astype(np.float32)), pa.array(frames, pa.int64())]
        write_plain(self._work / FRAMES, schema, [pa.Table.from_arrays(data, schema=schema)])

    def _write_sheet(self, outcome: EpisodeOutcome, arrays: Mapping[str, NDArray[Any]], length: int) -> None:
        """Write the sheet, which lists every file with its size and hash."""
        statistics = {name: column_statistics(array).as_lists() for name, array in arrays.items()}
        for feature in self.table.videos:
            histogram = self._histograms[feature.name]
            statistics[feature.name] = histogram.statistics(level_values(feature)).as_lists(image=True)
        files = {
            file.name: {"bytes": file.stat().st_size, "sha256": sha256_of(file)}
            for file in sorted(self._work.iterdir())
        }
        sheet = {
            "folder_version": FOLDER_VERSION,
            "outcome": outcome.to_json(),
            "length": length,
            "table": self.table.to_json(),
            "statistics": statistics,
            "histograms": {name: histogram.to_json() for name, histogram in self._histograms.items()},
            "video_headers": {name: video.header for name, video in self._videos.items()},
            "files": files,
        }
        with file_errors("write", self._work / SHEET):
            (self._work / SHEET).write_bytes(json_bytes(sheet))

    def _give_name(self) -> None:
        """Sync everything and rename the folder; if the attempt already exists, the existing folder stays."""
        with file_errors("write", self.folder):
            try:
                name_folder(self._work, self.folder)
            except OSError:
                if not (self.folder / SHEET).is_file():
                    raise
        self._discard()

    def _discard(self) -> None:
        """Remove the unfinished folder."""
        self._open = False
        for video in self._videos.values():
            video.abandon()
        shutil.rmtree(self._work, ignore_errors=True)

    def __enter__(self) -> "EpisodeWriter":
        return self

    def __exit__(self, *_: object) -> None:
        if self._open:
            self._discard()


def _levels(feature: Feature, image: NDArray[Any]) -> NDArray[Any]:
    """Return the levels of an image as a reader will see them."""
    if feature.depth is not None:
        return feature.depth.codes(image.reshape(image.shape[:2]))
    return ID_COLOURS[image] if feature.is_segmentation else image


def level_values(feature: Feature) -> Array:
    """Return the value of each level of a camera's histogram: brightness from 0 to 1, or depth in metres."""
    if feature.depth is None:
        return np.arange(256) / 255.0
    return feature.depth.metres(np.arange(HIGHEST_CODE + 1)).astype(np.float64)
