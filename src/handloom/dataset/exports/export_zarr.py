"""Zarr, version 2, in the layout of a replay buffer: ``data/<name>`` over all frames and ``meta/episode_ends``.

Written without the zarr package: a Zarr array is a folder with a JSON file and one compressed file per chunk.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from handloom.dataset.export_hdf5 import observation_name
from handloom.dataset.exports.export_lerobot import refuse_existing
from handloom.dataset.files.durable import atomic_folder, json_bytes
from handloom.dataset.files.reading import damage_named
from handloom.dataset.lerobot.dataset_reader import DatasetReader
from handloom.dataset.lerobot.feature import Feature

LEVEL = 5
"""Of Zstandard."""
ROWS, PICTURES = 1024, 16
"""Frames per chunk of a column and of a camera."""


def export_zarr(dataset: DatasetReader, out: Path, *, action: str = "action", images: bool = True) -> Path:
    """Write a dataset as one Zarr group.

    Args:
        dataset: The dataset.
        out: Folder to write; it must not exist.
        action: Column of the actions, which are stored as ``action``.
        images: Also write the cameras.
    """
    refuse_existing(out)
    codec = pa.Codec("zstd", compression_level=LEVEL)
    with atomic_folder(out) as work, damage_named(dataset.root):
        for folder in (work, work / "data", work / "meta"):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / ".zgroup").write_bytes(json_bytes({"zarr_format": 2}))
        ends = np.cumsum([episode.length for episode in dataset.episodes], dtype=np.int64)
        _write(work / "meta" / "episode_ends", [ends], codec, total=len(ends), rows=max(len(ends), 1))
        total = int(ends[-1]) if len(ends) else 0
        for feature in dataset.table:
            if feature.is_video and not images:
                continue
            name = "action" if feature.name == action else observation_name(feature)
            target = work / "data" / name.replace("/", "_")
            rows = PICTURES if feature.is_video else ROWS
            _write(target, _values(dataset, feature), codec, total=total, rows=rows)
        facts = {"fps": dataset.fps, "tasks": list(dataset.tasks), "robot_type": dataset.info["robot_type"]}
        (work / ".zattrs").write_bytes(json_bytes(facts))
    return out


def _values(dataset: DatasetReader, feature: Feature) -> Iterator[NDArray[Any]]:
    """Yield a feature in pieces (n, ...), in order."""
    for episode in dataset.episodes:
        if feature.is_video:
            yield from (image[None] for image in dataset.images(episode.index, feature.name))
        else:
            yield dataset.frames(episode.index)[feature.name]


def _write(folder: Path, pieces: Iterable[NDArray[Any]], codec: pa.Codec, *, total: int, rows: int) -> None:
    """Write an array of known length, chunk by chunk; the last chunk is padded with zeros."""
    folder.mkdir(parents=True)
    held: list[NDArray[Any]] = []
    count = number = 0
    shape: tuple[int, ...] = ()
    dtype = np.dtype(np.float32)
    for piece in pieces:
        shape, dtype = piece.shape[1:], piece.dtype.newbyteorder("<")
        held.append(piece)
        count += len(piece)
        while count >= rows:
            joined = np.concatenate(held)
            _chunk(folder, number, joined[:rows], codec)
            held, count, number = [joined[rows:]], count - rows, number + 1
    if count:
        left = np.concatenate(held)
        filled = np.zeros((rows, *shape), dtype)
        filled[: len(left)] = left
        _chunk(folder, number, filled, codec)
    described = {
        "zarr_format": 2,
        "shape": [total, *shape],
        "chunks": [rows, *shape],
        "dtype": dtype.str,
        "compressor": {"id": "zstd", "level": LEVEL},
        "fill_value": False if dtype.kind == "b" else 0,
        "order": "C",
        "filters": None,
    }
    (folder / ".zarray").write_text(json.dumps(described), encoding="utf-8")


def _chunk(folder: Path, number: int, values: NDArray[Any], codec: pa.Codec) -> None:
    name = ".".join([str(number), *("0" for _ in values.shape[1:])])
    (folder / name).write_bytes(codec.compress(np.ascontiguousarray(values).tobytes(), asbytes=True))
