"""Make one dataset of several, without encoding anything again."""

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path

from handloom.dataset.dataset_reader import DatasetReader
from handloom.dataset.durable import PARTIAL, sha256_of
from handloom.dataset.episode_folder import SHEET, folder_name
from handloom.dataset.extract import extract_episode
from handloom.dataset.merge import merge_episodes
from handloom.errors import FileError, InputError


def merge_datasets(datasets: Sequence[Path], out: Path) -> Path:
    """Write the episodes of several datasets as a new one, in the given order; return ``out``.

    Killed and called again with the same datasets, it goes on.

    Raises:
        FileError: The datasets hold different features, or successes and failures.
        InputError: An episode is there twice.
    """
    readers = [DatasetReader(path) for path in datasets]
    if not readers:
        raise InputError("there is no dataset to merge; give at least one")
    success = _checked(readers)
    known = "\n".join(f"{reader.root.resolve()} {sha256_of(reader.root / 'meta' / 'info.json')}" for reader in readers)
    # Named for what goes in: a call that was killed is taken up by the same call only.
    work = out.with_name(f"{out.name}.{hashlib.sha256(known.encode()).hexdigest()[:8]}{PARTIAL}")
    folders: list[Path] = []
    for reader in readers:
        for episode in reader.episodes:
            folder = work / folder_name(len(folders))
            folders.append(extract_episode(reader, episode.index, folder).path)
    merge_episodes(folders, out, success=success)
    shutil.rmtree(work, ignore_errors=True)
    return out


def _checked(readers: Sequence[DatasetReader]) -> bool:
    """Return whether the datasets hold successes or failures, or say why they cannot share a dataset."""
    first, places, outcomes = readers[0], {}, {}
    for reader in readers:
        if difference := first.table.difference(reader.table):
            raise FileError(f"{first.root} and {reader.root} cannot share a dataset: {difference}")
        for episode in reader.episodes:
            outcomes.setdefault(bool(episode.columns.get("success", True)), reader.root)
            # The hash of the states names an episode that was simulated; others are known by their sheet.
            sheet = reader.archive_folder(episode.index) / SHEET
            if not sheet.is_file():
                raise FileError(f"{sheet} is missing; only datasets that were merged here can be taken apart")
            key = str(episode.columns.get("state_hash") or sha256_of(sheet))
            place = f"episode {episode.index} of {reader.root}"
            if key in places:
                raise InputError(f"{places[key]} and {place} are the same episode; give it once")
            places[key] = place
    if len(outcomes) > 1:
        raise FileError(f"{outcomes[True]} holds successes and {outcomes[False]} failures; they never share a dataset")
    return next(iter(outcomes), True)
