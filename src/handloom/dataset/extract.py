"""Take an episode out of a dataset again, as the folder it was merged from.

Datasets are merged, split and extended by way of episode folders: extract what is kept, merge it anew. Nothing is
encoded again, and the data files come out with the bytes that a direct merge would have given.
"""

from pathlib import Path

import pyarrow as pa

from handloom.dataset.dataset_reader import DatasetReader
from handloom.dataset.durable import atomic_folder, json_bytes, link_or_copy, sha256_of
from handloom.dataset.episode_folder import FRAMES, SHEET, EpisodeFolder, video_file
from handloom.dataset.parquet_files import bookkeeping_field, column_field, write_plain
from handloom.dataset.reading import damage_named
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
    episode, row = EpisodeFolder.open(extras), dataset.episode(index)
    if difference := dataset.table.difference(episode.table):
        raise FileError(f"{extras / SHEET} does not belong to {dataset.root}: {difference}")
    if episode.length != row.length:
        raise FileError(f"{extras / SHEET} has {episode.length} frames, its row in {dataset.root} {row.length}")
    for name in episode.archive_files():
        if name != SHEET:
            link_or_copy(episode.checked_file(name), work / name)
    table, data = episode.table, dataset.root / "data" / row.data.path("parquet")
    names = [*(feature.name for feature in table.columns), "timestamp", "frame_index"]
    schema = pa.schema([*map(column_field, table.columns), *map(bookkeeping_field, names[-2:])])
    with damage_named(data):
        frames = dataset.rows(index).select(names).cast(schema)
    write_plain(work / FRAMES, schema, [frames])
    for feature in table.videos:
        cut_video(
            dataset.video_path(index, feature.name),
            work / video_file(feature.name),
            start=dataset.first_video_frame(index, feature.name),
            length=episode.length,
            fps=table.fps,
        )
    # Archives keep the hashes they had; what was cut out gets new ones, for its container is new.
    for name in [FRAMES, *(video_file(feature.name) for feature in table.videos)]:
        file = work / name
        episode.sheet["files"][name] = {"bytes": file.stat().st_size, "sha256": sha256_of(file)}
    (work / SHEET).write_bytes(json_bytes(episode.sheet))
