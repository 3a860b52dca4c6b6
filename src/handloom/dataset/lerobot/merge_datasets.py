"""Extract episodes from a dataset, and merge several datasets into one, without re-encoding anything.

Datasets are merged and split through episode folders: extract the episodes to keep, then merge them again. The files
have the bytes that a direct merge would have given.
"""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from handloom.dataset.episodes.episode_files import EpisodeFiles
from handloom.dataset.episodes.episode_folder import COPIES, FRAMES, SHEET, EpisodeFolder, folder_name, video_file
from handloom.dataset.episodes.flags import flag_key, read_flags
from handloom.dataset.files.durable import (
    atomic_folder,
    interrupted_calls,
    json_bytes,
    link_or_copy,
    name_of_call,
    remove_folder,
    sha256_of,
)
from handloom.dataset.files.parquet_files import bookkeeping_field, column_field, write_plain
from handloom.dataset.files.reading import damage_named
from handloom.dataset.lerobot.dataset_reader import DatasetEpisode, DatasetReader
from handloom.dataset.lerobot.merge import merge_episodes
from handloom.dataset.video.video_join import cut_video
from handloom.errors import FileError, InputError


def extract_episode(dataset: DatasetReader, index: int, folder: Path) -> EpisodeFolder:
    """Write one episode of a dataset as an episode folder.

    Args:
        dataset: A dataset merged by Handloom; its ``extras/`` contain the sheets of the episodes.
        index: Number of the episode.
        folder: The folder to create; an existing one is kept.
    """
    if (folder / SHEET).is_file():
        return EpisodeFolder.open(folder)
    extras = dataset.archive_folder(index)
    if not EpisodeFiles.at(extras).has(SHEET):
        raise FileError(f"{extras / SHEET} is missing; only datasets merged by Handloom can be split")
    with atomic_folder(folder) as work:
        _fill(work, dataset, index, extras)
    return EpisodeFolder.open(folder)


def _fill(work: Path, dataset: DatasetReader, index: int, extras: Path) -> None:
    """Copy the files of an episode into a folder."""
    episode, row = EpisodeFolder.open(extras), dataset.episode(index)
    if difference := dataset.table.difference(episode.table):
        raise FileError(f"{extras / SHEET} does not belong to {dataset.root}: {difference}")
    if episode.length != row.length:
        raise FileError(f"{extras / SHEET} has {episode.length} frames, its row in {dataset.root} {row.length}")
    for name in (*episode.archive_files(), *episode.label_files()):
        _take(episode, name, work / name)
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
    # The sheet stays unchanged, so that a merge gives the same bytes as before. If the container of an extracted
    # file differs from the original, its size and hash are stored beside the sheet.
    cut = [work / FRAMES, *(work / video_file(feature.name) for feature in table.videos)]
    copies = {file.name: {"bytes": file.stat().st_size, "sha256": sha256_of(file)} for file in cut}
    copies = {name: entry for name, entry in copies.items() if entry != episode.sheet["files"][name]}
    if copies:
        (work / COPIES).write_bytes(json_bytes(copies))


def _take(episode: EpisodeFolder, name: str, target: Path) -> None:
    """Copy a file of an archive, as a link if possible."""
    if episode.files.packed:
        target.write_bytes(episode.extra_bytes(name))
    else:
        link_or_copy(episode.path / name if name == SHEET else episode.checked_file(name), target)


def merge_datasets(datasets: Sequence[Path], out: Path, *, flagged: bool | None = None) -> Path:
    """Merge the episodes of several datasets into a new one, in the given order; return ``out``.

    Killed and called again with the same datasets, it continues.

    Args:
        datasets: Folders of the datasets.
        out: Folder of the new one.
        flagged: Use only episodes that a person flagged (True), only the others (False), or all (None).

    Raises:
        FileError: The datasets have different features, or mix successes and failures.
        InputError: An episode occurs twice.
    """
    readers = [DatasetReader(path) for path in datasets]
    if not readers:
        raise InputError("there is no dataset to merge; give at least one")
    success = _checked(readers)
    chosen = [(reader, episode.index) for reader in readers for episode in _chosen(reader, flagged)]
    if not chosen:
        raise InputError(
            f"no episode of {', '.join(str(r.root) for r in readers)} is {'' if flagged else 'not '}flagged"
        )
    known = "\n".join(f"{reader.root.resolve()} {sha256_of(reader.root / 'meta' / 'info.json')}" for reader in readers)
    if flagged is not None:
        known += "\n" + " ".join(f"{readers.index(reader)}:{index}" for reader, index in chosen)
    # Named after its input: only the same call resumes a killed one.
    work = name_of_call(out, known.encode())
    folders: list[Path] = []
    for reader, index in chosen:
        folder = work / folder_name(len(folders))
        folders.append(extract_episode(reader, index, folder).path)
    merge_episodes(folders, out, success=success)
    for left in {work, *interrupted_calls(out)}:
        remove_folder(left)
    return out


def _chosen(reader: DatasetReader, flagged: bool | None) -> Iterator[DatasetEpisode]:
    """Yield the episodes of a dataset that are, or are not, flagged."""
    flags = {} if flagged is None else read_flags(reader.root)
    for episode in reader.episodes:
        key = flag_key(episode.index, {"length": episode.length, **episode.columns})
        if flagged is None or (key in flags) == flagged:
            yield episode


def _checked(readers: Sequence[DatasetReader]) -> bool:
    """Return whether the datasets contain successes or failures; raise an error if they cannot be merged."""
    first, places, outcomes = readers[0], {}, {}
    for reader in readers:
        if difference := first.table.difference(reader.table):
            raise FileError(f"{first.root} and {reader.root} cannot share a dataset: {difference}")
        for episode in reader.episodes:
            outcomes.setdefault(bool(episode.columns.get("success", True)), reader.root)
            # The hash of the states identifies a simulated episode; others are identified by their sheet.
            files = reader.archive_files(episode.index)
            if not files.has(SHEET):
                what = files.folder / SHEET
                raise FileError(f"{what} is missing; only datasets merged by Handloom can be split")
            key = str(episode.columns.get("state_hash") or hashlib.sha256(files.read(SHEET)).hexdigest())
            place = f"episode {episode.index} of {reader.root}"
            if key in places:
                raise InputError(f"{places[key]} and {place} are the same episode; list it once")
            places[key] = place
    if len(outcomes) > 1:
        raise FileError(
            f"{outcomes[True]} contains successes and {outcomes[False]} failures; they never share a dataset"
        )
    return next(iter(outcomes), True)
