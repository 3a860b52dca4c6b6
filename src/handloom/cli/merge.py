"""``handloom merge``: join the shards of a run, or several datasets into one."""

from pathlib import Path
from typing import Annotated

import tyro

from handloom.cli.checked_dataset import checked_dataset, checked_run
from handloom.dataset import merge_datasets
from handloom.engine import merge_run
from handloom.errors import InputError


def run(
    paths: tyro.conf.Positional[tuple[Path, ...]],
    *,
    output: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None,
    skip_hashes: bool = False,
) -> None:
    """Merge the finished attempts of a run whose shards ran apart, or several datasets into a new one.

    Args:
        paths: One run folder; or, with -o, runs and datasets in the order they are to have.
        output: Folder of the new dataset.
        skip_hashes: Use the files even if they are not those that were written.
    """
    if output is None:
        if len(paths) != 1:
            raise InputError("give one run folder, or several datasets and -o for the new one")
        directory = checked_run(paths[0])
        with directory.locked():
            merge_run(directory, directory.counted(), hashes=not skip_hashes)
        print(f"dataset: {directory.dataset}")
        return
    datasets = [checked_dataset(path, skip_hashes=skip_hashes) for path in paths]
    print(f"dataset: {merge_datasets(datasets, output)}")
