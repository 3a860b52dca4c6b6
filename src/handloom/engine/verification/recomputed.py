"""All data about an episode in a dataset, recomputed from its recording: every column, fact and statistic."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handloom.dataset import DatasetReader, EpisodeArchive, EpisodeFolder, Feature, outcome_of_record
from handloom.dataset.episodes.episode_writer import level_values
from handloom.dataset.files.reading import damage_named
from handloom.dataset.lerobot.statistics import column_statistics
from handloom.dataset.lerobot.table_check import short, statistic_differences
from handloom.dataset.lerobot.tables import outcome_columns
from handloom.dataset.robot_columns import DETAILED, INTERVENTION
from handloom.episode.columns import drawing_facts, episode_columns, video_features
from handloom.labels.touches import failure_facts
from handloom.scene import Scene
from handloom.values import EpisodeRecord

DRAWN_BY = ("cpu", "cuda")
"""Backends that render images of datasets."""
MARKERS = {
    "canonical": "observation.state",
    "reference": "states.robot_to_env_pose",
    DETAILED: "next.done",
    INTERVENTION: "annotation.intervention",
}
"""A column that identifies each set of columns."""

Frames = Mapping[str, NDArray[Any]]
"""Columns of an episode (frames, n) by name, as stored in the data file."""


def columns_differ(
    dataset: DatasetReader, frames: Frames, scene: Scene, record: EpisodeRecord, *, tolerance: float = 0.0
) -> Iterator[str]:
    """Yield the differences between the columns of an episode and those computed from its recording, bit for bit.

    Args:
        dataset: The dataset.
        frames: Its columns of the episode.
        scene: The scene of the record's instance; its state is overwritten.
        record: The recorded episode.
        tolerance: Largest allowed difference on another platform, relative to the number or to one, whichever is
            larger; 0 compares bits.
    """
    stored = dataset.table.columns
    names = [feature.name for feature in stored]
    styles = [style for style, marker in MARKERS.items() if any(name.endswith(marker) for name in names)]
    scene.world.restore_state(record.states[0])
    columns = episode_columns(scene, record, styles)
    wanted = {feature.name: feature for feature in columns.features}
    for feature in stored:
        if feature.name not in wanted:
            yield f"the column {feature.name} cannot be computed from the recording"
        elif feature != wanted[feature.name]:
            yield f"the column {feature.name} is declared as {_kind(feature)}, expected {_kind(wanted[feature.name])}"
    for name in wanted:
        if name not in names:
            yield f"the column {name} is missing"
    length = len(next(iter(frames.values())))
    if length != len(record.kept):
        yield f"the dataset has {length} frames of the episode, the recording {len(record.kept)}"
        return
    for name, values in frames.items():
        if name in wanted and values.shape[1:] == wanted[name].shape:
            right = wanted[name].as_array(columns.values[name], length=length)
            yield from _values_differ(wanted[name], values, right, tolerance)


def _kind(feature: Feature) -> str:
    return f"{feature.dtype} {short(list(feature.names or ()))}"


def _values_differ(feature: Feature, stored: NDArray[Any], wanted: NDArray[Any], tolerance: float) -> Iterator[str]:
    """Yield the first differing value, and the number of differing values."""
    if stored.tobytes() == wanted.tobytes():
        return
    # Bits are compared, so that 0 and -0 differ and NaN equals NaN.
    wrong = _bits(stored) != _bits(wanted)
    if tolerance and stored.dtype.kind == "f":
        numbers = stored.astype(np.float64), wanted.astype(np.float64)
        wrong &= ~np.isclose(*numbers, rtol=tolerance, atol=tolerance)
    if not wrong.any():
        return
    frame, entry = (int(k) for k in np.argwhere(wrong)[0])
    names = feature.names or ()
    which = f" ({names[entry]})" if len(names) > 1 else ""
    there, right = stored[frame, entry].item(), wanted[frame, entry].item()
    more = f"; {int(wrong.sum())} values of this column differ" if wrong.sum() > 1 else ""
    yield f"{feature.name}, frame {frame}{which}: recorded is {there!r}, the replay gives {right!r}{more}"


def _bits(array: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(array).view(f"u{array.itemsize}")


def facts_differ(
    dataset: DatasetReader,
    index: int,
    frames: Frames,
    scene: Scene,
    record: EpisodeRecord,
    archive: EpisodeArchive,
) -> Iterator[str]:
    """Yield the differences of an episode's row and ``episode.json`` from its archive: outcome, streams, numbers.

    Args:
        dataset: The dataset.
        index: Number of the episode in it.
        frames: Its columns of the episode.
        scene: The scene of the record's instance.
        record: The recorded episode.
        archive: Folder of the archive.
    """
    folder, row = dataset.archive_folder(index), dataset.episode(index)
    episode = EpisodeFolder.open(folder)
    table = episode.table
    if (table.fps, dataset.fps) != (record.instance.fps,) * 2:
        yield f"fps: recorded are {dataset.fps} and {table.fps}, expected {record.instance.fps}"
    preset = str(row.columns.get("render_preset"))
    backend, card = str(row.columns.get("render_backend", "cpu")), str(row.columns.get("render_card") or "")
    if backend not in DRAWN_BY:
        yield f"render_backend: recorded is {backend!r}, images are rendered by {' or '.join(DRAWN_BY)}"
    how = drawing_facts(scene, table.videos, preset, backend=backend, card=card)
    if not table.videos and "cameras" not in row.columns:
        how = {}  # A program that writes no images need not record the cameras.
    extra = failure_facts(scene, record)
    how |= {name: value for name, value in extra.items() if name in row.columns}
    outcome = outcome_of_record(record, archive, columns=how)
    right = outcome_columns(outcome)
    for source, told in (
        ("episode.json", outcome_columns(episode.outcome)),
        ("the episode table", _row(dataset, index)),
    ):
        for name in {**right, **told}:
            # A column that only other episodes have is empty in this episode's row.
            if told.get(name) != right.get(name):
                there, wanted = short(told.get(name)), short(right.get(name))
                yield f"{name}: recorded in {source} is {there}, the archive gives {wanted}"
    yield from _streams_differ(episode, record)
    yield from _statistics_differ(dataset, frames, episode)


def _row(dataset: DatasetReader, index: int) -> dict[str, Any]:
    row = dataset.episode(index)
    return {"tasks": list(row.tasks), **{name: value for name, value in row.columns.items() if name != "duration_s"}}


def _streams_differ(episode: EpisodeFolder, record: EpisodeRecord) -> Iterator[str]:
    """Yield streams that belong to no camera of the scene."""
    videos = episode.table.videos
    if not videos:
        return
    codec = next((feature.codec or "" for feature in videos if feature.is_colour), "h264")
    kinds = ["rgb"] if any(feature.is_colour for feature in videos) else []
    kinds += ["depth"] if any(feature.depth is not None for feature in videos) else []
    kinds += ["segmentation"] if any(feature.is_segmentation for feature in videos) else []
    wanted = {feature.name: feature for feature in video_features(record.instance.cameras, codec, kinds)}
    stored = {feature.name: feature for feature in videos}
    for name in {**wanted, **stored}:
        if stored.get(name) != wanted.get(name):
            there, right = (list(f.shape) if f else None for f in (stored.get(name), wanted.get(name)))
            yield f"the stream {name} is {short(there)}, the cameras of the archive give {short(right)}"


def _statistics_differ(dataset: DatasetReader, frames: Frames, episode: EpisodeFolder) -> Iterator[str]:
    """Yield statistics in ``episode.json`` that do not follow from the columns and the image histograms."""
    with damage_named(episode.path):
        for feature in dataset.table:
            stored = episode.statistics.get(feature.name, {})
            if feature.is_video:
                wanted = episode.histograms[feature.name].statistics(level_values(feature)).as_lists(image=True)
            else:
                wanted = column_statistics(frames[feature.name]).as_lists()
            yield from statistic_differences(f"episode.json: statistics of {feature.name}", stored, wanted)


def reader_of(root: Path) -> DatasetReader:
    """Return a reader of a dataset, the same one for every episode as long as its tables do not change."""
    files = [root / "meta" / "info.json", *sorted((root / "meta" / "episodes").glob("*/*.parquet"))]
    stamp = tuple((str(file), file.stat().st_mtime_ns, file.stat().st_size, file.stat().st_ino) for file in files)
    if _READERS.get(root, ((), None))[0] != stamp:
        _READERS.clear()
        _READERS[root] = (stamp, DatasetReader(root))
    return _READERS[root][1]


_READERS: dict[Path, tuple[tuple[Any, ...], Any]] = {}
"""The dataset that was read last; a verifying process handles many of its episodes."""
