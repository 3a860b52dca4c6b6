"""Makes the dataset of a run from its episodes; the episodes' own folders are removed once the dataset exists."""

import os
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from handloom.dataset import DatasetReader, MergeOptions, extract_episode, folder_name, merge_episodes
from handloom.dataset.files.durable import PARTIAL, REMOVED, remove_folder
from handloom.dataset.files.parquet_files import read_table
from handloom.dataset.files.reading import check_shape, damage_named, read_json
from handloom.dataset.files.replacing import RECEIPT, remove_unnamed, settle
from handloom.dataset.files.shapes import Count, MergeReceipt
from handloom.dataset.lerobot.extend import MORE, extend_dataset, finish_extension
from handloom.dataset.lerobot.file_list import check_files
from handloom.dataset.lerobot.merge_plan import chained
from handloom.engine.runs.journal import Receipt
from handloom.engine.runs.run_directory import RunDirectory
from handloom.engine.runs.run_settings import RunSettings
from handloom.errors import FileError


def merge_run(
    run: RunDirectory, receipts: dict[int, Receipt], *, hashes: bool = True, replaced: Collection[int] = ()
) -> None:
    """Merge the demonstrations of these attempts into ``dataset/``, the kept failures into ``failures/``.

    Killed at any moment and called again, it continues. If there are more attempts after those of an earlier merge,
    they are added to its dataset, at a cost proportional to the additions. Otherwise the dataset is replaced: episodes
    are taken from their folders, or from the dataset if their folders are gone.

    Args:
        run: The run. Nothing else may merge it at the same time; a second merge waits.
        receipts: The attempts that count, by index.
        hashes: If episodes are taken from a dataset, compare its files with their hashes.
        replaced: Attempts whose folders replace the episodes of an earlier merge.
    """
    wins = [episode for episode, receipt in receipts.items() if receipt.success]
    kept = run.settings.keep_failures
    losses = [episode for episode, receipt in receipts.items() if kept and not receipt.success and receipt.frames]
    if run.settings.balanced:
        wins, losses = wins[: len(losses)], losses[: len(wins)]
    with run.locked(".merge", wait=True):
        for attempts, out, success in ((wins, run.dataset, True), (losses, run.failures, False)):
            settle(out)
            finish_extension(out)
            if attempts:
                _merge(run, attempts, out, success=success, hashes=hashes, replaced=replaced)
            for ending in (PARTIAL, MORE):
                remove_unnamed(out.with_name(out.name + ending))
        _remove_merged(run, {*wins, *losses})


def _merge(
    run: RunDirectory, attempts: list[int], out: Path, *, success: bool, hashes: bool, replaced: Collection[int]
) -> None:
    """Update a dataset so that it contains the given attempts."""
    options = merge_options(run.settings)
    merged = _merged_of(attempts, out)
    changed = bool(replaced) and any(episode in replaced for episode in attempts_in(out))
    if merged == len(attempts) and not changed:
        return
    if merged and not changed:
        folders = [run.episodes / folder_name(episode) for episode in attempts[merged:]]
        _demand_folders(run, folders)
        if extend_dataset(out, folders, options=options, success=success, hashes=hashes):
            return
    folders = _episode_folders(run, attempts, out, hashes=hashes)
    merge_episodes(folders, out, options=options, success=success, replace=True)


def _merged_of(attempts: list[int], out: Path) -> int:
    """Return the number of the attempts in a dataset, if it contains exactly these in this order; otherwise 0.

    The merge receipt of a dataset has a hash for this; for datasets of earlier versions, the rows are read.
    """
    if not (out / "meta" / "info.json").is_file():
        return 0
    receipt = read_json(out / RECEIPT, MergeReceipt) if (out / RECEIPT).is_file() else {}
    count = DatasetReader(out).episode_count
    if end := receipt.get("end"):
        return count if end["attempts"] == chained("", map(str, attempts[:count])) else 0
    return count if attempts[:count] == attempts_in(out) else 0


def _remove_merged(run: RunDirectory, attempts: set[int]) -> None:
    """Remove the folders of merged attempts; those beyond the goal stay, for a later call with a larger goal."""
    if not run.episodes.is_dir():
        return
    for entry in os.listdir(run.episodes):  # Names only: a million of them fit into memory.
        name = entry.removesuffix(REMOVED)
        number = name.rpartition("_")[2]
        if number.isdecimal() and int(number) in attempts and name == folder_name(int(number)):
            remove_folder(run.episodes / folder_name(int(number)))
    with suppress(OSError):
        run.episodes.rmdir()


def merge_options(settings: RunSettings) -> MergeOptions:
    """Return the options of a run's datasets."""
    return MergeOptions(language="language" in settings.lerobot_features)


def attempts_in(dataset: Path) -> list[int]:
    """Return the numbers of the attempts in a dataset; none if there is no dataset."""
    if not (dataset / "meta" / "info.json").is_file():
        return []
    attempts: list[Any] = []
    for path in sorted((dataset / "meta" / "episodes").glob("*/*.parquet")):
        with damage_named(path):
            attempts += read_table(path, ["attempt_index"]).column("attempt_index").to_pylist()
    check_shape(attempts, list[Count], source=f"{dataset}: attempt_index")
    return attempts


def _demand_folders(run: RunDirectory, folders: list[Path]) -> None:
    """Refuse to continue without the episode of an attempt that succeeded."""
    for folder in folders:
        if not folder.is_dir():
            episode = int(folder.name.rpartition("_")[2])
            journal = run.journal(episode // run.settings.unit_size).path
            raise FileError(
                f"attempt {episode} of {run.path} succeeded, but its files are gone; remove {journal} to make it again"
            )


def _episode_folders(run: RunDirectory, attempts: list[int], out: Path, *, hashes: bool) -> Iterable[Path]:
    """Return the folders of attempts; episodes that exist only in the dataset are extracted from it.

    This includes episodes that are not needed this time: the dataset is about to be replaced, and they stay in their
    folders for a later call with a larger goal.
    """
    merged = {episode: index for index, episode in enumerate(attempts_in(out))}
    needed = sorted({*attempts, *merged}) if merged else attempts
    missing = [episode for episode in needed if not os.path.isdir(f"{run.episodes}/{folder_name(episode)}")]
    _demand_folders(run, [run.episodes / folder_name(episode) for episode in missing if episode not in merged])
    if missing:
        check_files(out, hashes=hashes)
        reader = DatasetReader(out)
        for episode in missing:
            extract_episode(reader, merged[episode], run.episodes / folder_name(episode))
    return (run.episodes / folder_name(episode) for episode in attempts)
