"""Reads the labels of an episode back: masks as images, everything else as plain rows."""

import json
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from handloom.dataset.episodes.episode_files import EpisodeFiles
from handloom.errors import FileError, unknown_name
from handloom.labels.images.label_pictures import PACKED, PACKING, picture_of
from handloom.labels.kinds import LABEL_FILE, LABELS_VERSION, PICTURE_FILE, WORDS_FILE

METADATA = b"handloom.labels"


class EpisodeLabels:
    """The label files of one episode.

    Example::

        labels = EpisodeLabels(dataset.archive_folder(0))
        labels.rows("boxes", frame=12)      # [{"camera": "head", "object": "cube", "box": [...], ...}, ...]
        labels.mask(12, "head", "cube")     # (h, w) bool

    Args:
        folder: ``extras/episode_XXXXXX`` of a dataset, in a folder or a pack, or an episode folder.

    Raises:
        FileError: There are no labels, or they are damaged.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.files = EpisodeFiles.at(self.folder)
        if not self.files.has(LABEL_FILE):
            raise FileError(f"{self.folder} has no {LABEL_FILE}; handloom label writes it")

    @cached_property
    def table(self) -> pa.Table:
        """The stored labels, one row per frame."""
        try:
            return pq.read_table(pa.BufferReader(self.files.read(LABEL_FILE)), use_threads=False)
        except (OSError, pa.ArrowException) as error:
            raise FileError(f"{self.folder / LABEL_FILE} cannot be read: {error}; handloom label --again") from error

    @cached_property
    def metadata(self) -> dict[str, Any]:
        """Version, kinds, parts and cameras."""
        return label_metadata(self.files)

    @property
    def frames(self) -> int:
        """Number of frames."""
        return self.table.num_rows

    def rows(self, column: str, frame: int | None = None) -> list[dict[str, Any]]:
        """Return the items of a column, for one frame or for all; in the latter case they include ``frame_index``.

        Args:
            column: ``boxes``, ``objects``, ``points`` and so on.
            frame: Frame index; None for all.
        """
        if column not in self.table.column_names:
            raise unknown_name("label column", column, self.table.column_names)
        if frame is not None:
            return self.table[column][frame].as_py()
        items = enumerate(self.table[column].to_pylist())
        return [{"frame_index": number, **item} for number, frame_items in items for item in frame_items]

    def parts(self, frame: int, camera: str) -> NDArray[np.int16]:
        """Return the image of parts (h, w) of a camera; -1 is nothing, others are rows of ``metadata["parts"]``."""
        for item in self.rows("masks", frame):
            if item["camera"] == camera:
                size = next(c for c in self.metadata["cameras"] if c["camera"] == camera)
                flat = np.repeat(np.array(item["parts"], np.int16), item["lengths"])
                return flat.reshape(size["height"], size["width"])
        raise unknown_name("camera", camera, (c["camera"] for c in self.metadata["cameras"]))

    def mask(self, frame: int, camera: str, obj: str, part: str = "") -> NDArray[np.bool_]:
        """Return the visible mask (h, w) of an object or one of its parts."""
        known = self.metadata["parts"]
        numbers = [n for n, p in enumerate(known) if p["object"] == obj and part in ("", p["part"])]
        if not numbers:
            raise unknown_name("object", f"{obj}/{part}", (f"{p['object']}/{p['part']}" for p in known))
        return np.isin(self.parts(frame, camera), numbers)

    def pictures(self, kind: str) -> Iterator[tuple[int, str, NDArray[Any]]]:
        """Yield frame, camera and image of a kind (``depth`` [m], ``normals``, ``flow`` [px]); NaN is nothing."""
        return stored_pictures(self.files, kind)

    @cached_property
    def words(self) -> dict[str, Any]:
        """Raw ``words.json``."""
        if not self.files.has(WORDS_FILE):
            raise FileError(f"{self.folder} has no {WORDS_FILE}; handloom label --labels words writes it")
        return json.loads(self.files.read(WORDS_FILE))


def stored_pictures(files: EpisodeFiles, kind: str) -> Iterator[tuple[int, str, NDArray[Any]]]:
    """Yield frame, camera and image of a kind for an episode, like ``EpisodeLabels.pictures``.

    Raises:
        FileError: There are no such images.
    """
    missing = FileError(f"{files.folder} has no images of {kind}; handloom label --labels {kind} writes them")
    if not files.has(PICTURE_FILE):
        raise missing
    with files.parquet(PICTURE_FILE) as stored:
        if kind not in stored.schema_arrow.names:
            raise missing
        packed = (stored.schema_arrow.metadata or {}).get(PACKING) == PACKED
        for group in range(stored.num_row_groups):
            for row in stored.read_row_group(group, use_threads=False).to_pylist():
                yield row["frame_index"], row["camera"], picture_of(row, kind, packed=packed)


def label_metadata(files: EpisodeFiles) -> dict[str, Any]:
    """Return the metadata of an episode's label file.

    Raises:
        FileError: Not a label file, or written by another version.
    """
    file = files.folder / LABEL_FILE
    try:
        metadata = json.loads((pq.read_schema(pa.BufferReader(files.read(LABEL_FILE))).metadata or {})[METADATA])
    except (OSError, KeyError, ValueError, pa.ArrowException) as error:
        raise FileError(f"{file} is not a label file: {error}; write it again with handloom label --again") from error
    if metadata["version"] != LABELS_VERSION:
        raise FileError(f"{file} has labels of version {metadata['version']}, expected {LABELS_VERSION}")
    return metadata
