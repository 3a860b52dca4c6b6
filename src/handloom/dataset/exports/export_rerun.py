"""Recordings for the Rerun viewer: colours, depth in metres, instance ids, numbers and text on one timeline."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handloom.dataset.exports.export_lerobot import refuse_existing
from handloom.dataset.exports.export_rlds import jpeg
from handloom.dataset.files.durable import atomic_write
from handloom.dataset.files.reading import damage_named
from handloom.dataset.lerobot.dataset_reader import DatasetEpisode, DatasetReader
from handloom.dataset.lerobot.feature import Feature
from handloom.errors import InputError, require

QUALITY = 90
"""JPEG quality of colour images."""
BATCH = 64
"""Number of images of a camera held in memory at once."""


@dataclass(frozen=True, kw_only=True)
class RerunEpisode:
    """The content of a recording for one episode."""

    fps: int
    words: str
    """The instruction."""
    steps: Sequence[tuple[int, str]] = ()
    """First frame and label of every sub-task."""
    signals: Iterable[tuple[str, Sequence[str], NDArray[Any]]] = ()
    """Name, names of the entries and values (frames, entries) of every numeric column."""
    cameras: Iterable[tuple[str, str, Iterable[NDArray[Any]]]] = ()
    """Name, kind (``colour``, ``depth`` or ``segmentation``) and images of every camera, first frame first.

    Colour is ``(h, w, 3)`` uint8, depth ``(h, w)`` in metres, segmentation ``(h, w)`` instance ids.
    """


def export_rerun(dataset: DatasetReader, out: Path) -> Path:
    """Write one ``.rrd`` file with every episode under ``episode_<n>``.

    Args:
        dataset: The dataset.
        out: File to write; it must not exist.

    Raises:
        InputError: The file name has another extension.
        MissingExtraError: The package rerun-sdk is not installed.
    """
    require("rerun", extra="rerun")
    refuse_existing(out)
    with damage_named(dataset.root):
        episodes = {episode.index: _episode_of(dataset, episode) for episode in dataset.episodes}
        return write_recording(out, episodes, name=dataset.root.name)


def write_recording(out: Path, episodes: Mapping[int, RerunEpisode], *, name: str) -> Path:
    """Write episodes into one ``.rrd`` file, each under ``episode_<n>``.

    Args:
        out: File to write; an existing one is replaced.
        episodes: Number > episode.
        name: Name of the recording.

    Raises:
        InputError: The file name has another extension.
        MissingExtraError: The package rerun-sdk is not installed.
    """
    rr: Any = require("rerun", extra="rerun")
    if out.suffix != ".rrd":
        raise InputError(f"the name of a Rerun recording must end in .rrd, got {out}")
    out.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(out) as partial:
        recording = rr.RecordingStream("handloom", recording_id=name)
        recording.save(str(partial))
        for index, episode in episodes.items():
            _log(rr, recording, f"episode_{index}", episode)
        recording.flush()
        recording.disconnect()
    return out


def _log(rr: Any, recording: Any, place: str, episode: RerunEpisode) -> None:
    recording.log(f"{place}/task", rr.TextDocument(episode.words), static=True)
    if episode.steps:
        starts, labels = zip(*episode.steps, strict=True)
        recording.send_columns(
            f"{place}/sub-task", indexes=_clocks(rr, starts, episode.fps), columns=rr.TextLog.columns(text=labels)
        )
    for name, entries, values in episode.signals:
        numbers = np.asarray(values, np.float64)
        recording.log(f"{place}/{name}", rr.SeriesLines(names=list(entries)), static=True)
        columns = rr.Scalars.columns(scalars=numbers.reshape(-1)).partition([numbers.shape[1]] * len(numbers))
        recording.send_columns(
            f"{place}/{name}", indexes=_clocks(rr, range(len(numbers)), episode.fps), columns=columns
        )
    for name, kind, images in episode.cameras:
        rest, start = iter(images), 0
        while batch := list(islice(rest, BATCH)):
            indexes = _clocks(rr, range(start, start + len(batch)), episode.fps)
            recording.send_columns(f"{place}/{name}", indexes=indexes, columns=_image_columns(rr, kind, batch))
            start += len(batch)


def _clocks(rr: Any, frames: Iterable[int], fps: int) -> list[Any]:
    numbers = np.array(list(frames), np.int64)
    return [rr.TimeColumn("frame", sequence=numbers), rr.TimeColumn("time", duration=numbers / fps)]


def _image_columns(rr: Any, kind: str, images: Sequence[NDArray[Any]]) -> Any:
    if kind == "colour":
        files = [jpeg(image, QUALITY) for image in images]
        return rr.EncodedImage.columns(blob=files, media_type=["image/jpeg"] * len(files))
    height, width = images[0].shape
    is_depth = kind == "depth"
    layout = rr.components.ImageFormat(width=width, height=height, channel_datatype="F32" if is_depth else "U8")
    pixels = [image.astype(np.float32 if is_depth else np.uint8).tobytes() for image in images]
    layouts = [layout] * len(images)
    if is_depth:
        return rr.DepthImage.columns(buffer=pixels, format=layouts, meter=[1.0] * len(images))
    return rr.SegmentationImage.columns(buffer=pixels, format=layouts)


def _episode_of(dataset: DatasetReader, episode: DatasetEpisode) -> RerunEpisode:
    segments = episode.columns.get("segments") or ()
    return RerunEpisode(
        fps=dataset.fps,
        words="; ".join(episode.tasks),
        steps=[(segment["start"], segment["label"]) for segment in segments],
        signals=_signals(dataset, episode.index),
        cameras=((f.name, _kind(f), dataset.images(episode.index, f.name)) for f in dataset.table.videos),
    )


def _signals(dataset: DatasetReader, index: int) -> Iterator[tuple[str, Sequence[str], NDArray[Any]]]:
    for name, values in dataset.frames(index).items():
        yield name, dataset.table[name].names or (), values


def _kind(feature: Feature) -> str:
    return "segmentation" if feature.is_segmentation else "colour" if feature.is_colour else "depth"
