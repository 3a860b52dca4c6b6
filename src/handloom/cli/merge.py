"""``handloom merge``: join the shards of a run, or several datasets into one."""

import tempfile
from pathlib import Path
from typing import Annotated

import tyro

from handloom.dataset import DatasetReader, extract_episode, folder_name, merge_episodes
from handloom.engine import RunDirectory, merge_run
from handloom.engine.verify import dataset_of
from handloom.errors import InputError


def run(
    paths: tyro.conf.Positional[tuple[Path, ...]],
    *,
    output: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None,
) -> None:
    """Merge the finished attempts of a run whose shards ran apart, or several datasets into a new one.

    Args:
        paths: One run folder; or, with -o, runs and datasets in the order they are to have.
        output: Folder of the new dataset.
    """
    if output is None:
        if len(paths) != 1:
            raise InputError("give one run folder, or several datasets and -o for the new one")
        directory = RunDirectory.open(paths[0])
        with directory.locked():
            merge_run(directory, directory.receipts())
        print(f"dataset: {directory.dataset}")
        return
    with tempfile.TemporaryDirectory(dir=output.parent if output.parent.is_dir() else None) as folder:
        folders = []
        for path in paths:
            dataset = DatasetReader(dataset_of(path))
            folders += [
                extract_episode(dataset, e.index, Path(folder) / folder_name(len(folders) + i)).path
                for i, e in enumerate(dataset.episodes)
            ]
        print(f"dataset: {merge_episodes(folders, output)}")
