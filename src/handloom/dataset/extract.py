"""Take an episode out of a dataset again, as the folder it was merged from.

Datasets are merged, split and extended by way of episode folders: extract what is kept, merge it anew. Nothing is
encoded again, and the data files come out with the bytes that a direct merge would have given.
"""

from pathlib import Path
from typing import Any

import pyarrow as pa

from handloom.dataset.dataset_reader import DatasetReader
from handloom.dataset.durable import (
    atomic_folder,
    damage_named,
    json_bytes,
    link_or_copy,
    read_json,
    sha256_of,
)
from handloom.dataset.episode_folder import FRAMES, SHEET, EpisodeFolder, video_file
from handloom.dataset.feature_table import FeatureTable
from handloom.dataset.parquet_files import bookkeeping_field, column_field, write_plain
from handloom.dataset.video_join import cut_video
from handloom.errors import FileError


def extract_episode(dataset: DatasetReader, index: int, folder: Path) -> EpisodeFolder:
    """Write one episode of a dataset as an episode folder.

    Args:
        dataset: A dataset that was merged here; its ``extras/`` hold the sheets of the episodes.
        index: Number of the episode.
        folder: The folder to make; one that is there already is kept.
    """
    if (folder / SHEET).is_file():
        return EpisodeFolder.open(folder)
    extras = dataset.archive_folder(index)
    if not (extras / SHEET).is_file():
        raise FileError(f"{extras / SHEET} is missing; only datasets that were merged here can be taken apart")
    with atomic_folder(folder) as work:
        _fill(work, dataset, index, extras)
    return EpisodeFolder.open(folder)


def _fill(work: Path, dataset: DatasetReader, index: int, extras: Path) -> None:
    """Put the files of an episode into a folder."""
    sheet: dict[str, Any] = read_json(extras / SHEET)
    with damage_named(extras / SHEET):
        table = FeatureTable.from_json(sheet["table"])
    for file in sorted(extras.iterdir()):
        if file.name != SHEET:
            link_or_copy(file, work / file.name)
    names = [*(feature.name for feature in table.columns), "timestamp", "frame_index"]
    schema = pa.schema([*map(column_field, table.columns), *map(bookkeeping_field, names[-2:])])
    write_plain(work / FRAMES, schema, [dataset.rows(index).select(names)])
    for feature in table.videos:
        cut_video(
            dataset.video_path(index, feature.name),
            work / video_file(feature.name),
            start=dataset.first_video_frame(index, feature.name),
            length=sheet["length"],
            fps=table.fps,
        )
    # Archives keep the hashes they had; what was cut out gets new ones, for its container is new.
    for name in [FRAMES, *(video_file(feature.name) for feature in table.videos)]:
        file = work / name
        sheet["files"][name] = {"bytes": file.stat().st_size, "sha256": sha256_of(file)}
    (work / SHEET).write_bytes(json_bytes(sheet))
