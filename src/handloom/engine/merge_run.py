"""The dataset of a run, made of its episodes; the episodes' own folders go when the dataset is there."""

from contextlib import suppress
from pathlib import Path
from typing import Any

from handloom.dataset import DatasetReader, MergeOptions, extract_episode, folder_name, merge_episodes
from handloom.dataset.durable import remove_folder
from handloom.dataset.file_list import check_files
from handloom.dataset.reading import check_shape
from handloom.dataset.shapes import Count
from handloom.engine.journal import Receipt
from handloom.engine.run_directory import RunDirectory
from handloom.engine.run_settings import RunSettings
from handloom.errors import FileError


def merge_run(run: RunDirectory, receipts: dict[int, Receipt], *, hashes: bool = True) -> None:
    """Merge the demonstrations of these attempts into ``dataset/``, the kept failures into ``failures/``.

    Killed at any moment and called again, it goes on. Episodes are taken from their folders; those of an earlier merge,
    whose folders are gone, from the dataset that is being replaced.

    Args:
        run: The run. Nothing else may merge it meanwhile; a second merge waits.
        receipts: The attempts that count, by index.
        hashes: Compare the files of a dataset that episodes are taken from with their hashes.
    """
    wins = [episode for episode, receipt in receipts.items() if receipt.success]
    kept = run.settings.keep_failures
    losses = [episode for episode, receipt in receipts.items() if kept and not receipt.success and receipt.frames]
    with run.locked(".merge", wait=True):
        for attempts, out, success in ((wins, run.dataset, True), (losses, run.failures, False)):
            if attempts and attempts != _attempts_in(out):
                folders = _episode_folders(run, attempts, out, hashes=hashes)
                merge_episodes(folders, out, options=merge_options(run.settings), success=success, replace=True)
        for episode in (*wins, *losses):
            remove_folder(run.episodes / folder_name(episode))
        with suppress(OSError):
            run.episodes.rmdir()  # Attempts beyond the goal stay, for a later call that wants more.


def merge_options(settings: RunSettings) -> MergeOptions:
    """Return the options of a run's datasets."""
    return MergeOptions(language="language" in settings.lerobot_features)


def _attempts_in(dataset: Path) -> list[int]:
    """Return the numbers of the attempts that a dataset holds; none when there is no dataset."""
    if not (dataset / "meta" / "info.json").is_file():
        return []
    attempts: list[Any] = [episode.columns.get("attempt_index") for episode in DatasetReader(dataset).episodes]
    check_shape(attempts, list[Count], source=f"{dataset}: attempt_index")
    return attempts


def _episode_folders(run: RunDirectory, attempts: list[int], out: Path, *, hashes: bool) -> list[Path]:
    """Return the folders of attempts; what is only in the dataset by now is taken out of it.

    That goes for episodes that are not wanted this time, too: the dataset is about to be replaced, and they stay in
    their folders for a later call that wants more.
    """
    merged = {episode: index for index, episode in enumerate(_attempts_in(out))}
    folders = {episode: run.episodes / folder_name(episode) for episode in sorted({*attempts, *merged})}
    if any(not folders[episode].is_dir() for episode in merged):
        check_files(out, hashes=hashes)
    for episode, folder in folders.items():
        if folder.is_dir():
            continue
        if episode not in merged:
            journal = run.journal(episode // run.settings.unit_size).path
            raise FileError(
                f"attempt {episode} of {run.path} succeeded, but its files are gone; remove {journal} to make it again"
            )
        extract_episode(DatasetReader(out), merged[episode], folder)
    return [folders[episode] for episode in attempts]
