"""An episode as a rerun recording: colours, depth in metres, instance ids, numbers and words on one clock."""

from pathlib import Path
from typing import Any

import numpy as np

from handloom.errors import InputError, require
from handloom.viewer.episode_source import Camera, EpisodeSource
from handloom.viewer.pictures import depths, pictures
from handloom.viewer.signals import signals_of

BATCH = 64
"""Frames of a camera that are decoded at once."""
QUALITY = 85


def write_rerun(source: EpisodeSource, index: int, file: Path) -> Path:
    """Write one episode; return the file.

    Args:
        source: The dataset.
        index: Number of the episode.
        file: Where to; its ending is ``.rrd``.

    Raises:
        InputError: The file has another ending, or there is no such episode.
        MissingExtraError: The package is not installed.
    """
    rr = require("rerun", extra="rerun")
    if file.suffix != ".rrd":
        raise InputError(f"a rerun recording ends with .rrd, got {file}")
    length = source.table().columns["length"][source.check(index)]
    file.parent.mkdir(parents=True, exist_ok=True)
    with rr.RecordingStream(f"handloom: {source.name}", recording_id=f"episode {index}") as recording:
        recording.save(str(file))
        _log_words(rr, recording, source, index)
        for signal in signals_of(source.frames(index), source.features):
            values = np.array(signal["values"], dtype=np.float64).T
            recording.log(signal["name"], rr.SeriesLines(names=signal["names"]), static=True)
            for frame in range(length):
                _at(recording, frame, source.fps)
                recording.log(signal["name"], rr.Scalars(values[frame]))
        for camera in source.cameras.values():
            for start in range(0, length, BATCH):
                _log_pictures(rr, recording, source, index, camera, range(start, min(start + BATCH, length)))
    return file


def _at(recording: Any, frame: int, fps: int) -> None:
    recording.set_time("frame", sequence=frame)
    recording.set_time("time", duration=frame / fps)


def _log_words(rr: Any, recording: Any, source: EpisodeSource, index: int) -> None:
    table = source.table()
    recording.log("words", rr.TextDocument(table.columns["words"][index]), static=True)
    for segment in table.row(index).get("segments") or ():
        _at(recording, segment["start"], source.fps)
        recording.log("sub-task", rr.TextLog(segment["label"]))


def _log_pictures(rr: Any, recording: Any, source: EpisodeSource, index: int, camera: Camera, frames: range) -> None:
    if camera.kind == "depth":
        images: list[Any] = [rr.DepthImage(depth, meter=1.0) for depth in depths(source, index, camera, frames)]
    else:
        found = pictures(source, index, camera, frames)
        is_ids = camera.kind == "segmentation"  # Ids are stored as colours, of which red is the id.
        images = [
            rr.SegmentationImage(image[..., 0]) if is_ids else rr.Image(image).compress(jpeg_quality=QUALITY)
            for image in found
        ]
    for frame, image in zip(frames, images, strict=True):
        _at(recording, frame, source.fps)
        recording.log(camera.name, image)
