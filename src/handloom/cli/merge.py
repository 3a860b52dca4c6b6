"""``handloom merge``: join the shards of a run, or several datasets into one."""

from pathlib import Path
from typing import Annotated

import tyro

from handloom.dataset import merge_datasets
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
            merge_run(directory, directory.counted())
        print(f"dataset: {directory.dataset}")
        return
    print(f"dataset: {merge_datasets([dataset_of(path) for path in paths], output)}")
