"""An episode of the viewer as a Rerun recording."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handloom.dataset.exports.export_rerun import BATCH, RerunEpisode, write_recording
from handloom.viewer.episode_source import Camera, EpisodeSource
from handloom.viewer.pictures import depths, pictures
from handloom.viewer.signals import signals_of


def write_rerun(source: EpisodeSource, index: int, file: Path) -> Path:
    """Write one episode; return the file.

    Args:
        source: The dataset.
        index: Number of the episode.
        file: File to write, ``.rrd``.

    Raises:
        InputError: The file name has another extension, or there is no such episode.
        MissingExtraError: The package rerun-sdk is not installed.
    """
    table = source.table()
    length = table.columns["length"][source.check(index)]
    episode = RerunEpisode(
        fps=source.fps,
        words=table.columns["words"][index],
        steps=[(segment["start"], segment["label"]) for segment in table.row(index).get("segments") or ()],
        signals=(
            (signal["name"], signal["names"], np.array(signal["values"], np.float64).T)
            for signal in signals_of(source.frames(index), source.features)
        ),
        cameras=(
            (camera.name, camera.kind, _images(source, index, camera, length)) for camera in source.cameras.values()
        ),
    )
    return write_recording(file, {index: episode}, name=source.name)


def _images(source: EpisodeSource, index: int, camera: Camera, length: int) -> Iterator[NDArray[Any]]:
    for start in range(0, length, BATCH):
        frames = range(start, min(start + BATCH, length))
        if camera.kind == "depth":
            yield from depths(source, index, camera, frames)
        elif camera.kind == "segmentation":  # Ids are stored as colours whose red channel is the id.
            yield from (image[..., 0] for image in pictures(source, index, camera, frames))
        else:
            yield from pictures(source, index, camera, frames)
