"""Datasets and runs that a verb reads: nothing in them leads elsewhere, and their files are those that were written."""

import sys
from pathlib import Path

from handloom.cli.plain import plain
from handloom.dataset.file_list import FILE_LIST, check_files, refuse_strange_files
from handloom.engine import RunDirectory
from handloom.engine.verify import dataset_of


def checked_dataset(path: Path, *, skip_hashes: bool) -> Path:
    """Return the dataset at a path, or of the run there, after comparing its files with their hashes."""
    root = dataset_of(path)
    check_files(root, hashes=not skip_hashes)
    if skip_hashes:
        print(plain(f"note: the files of {root} were not compared with their hashes, as asked"), file=sys.stderr)
    elif not (root / FILE_LIST).is_file():
        print(plain(f"note: {root} has no {FILE_LIST}, so its files have no hashes to compare with"), file=sys.stderr)
    return root


def checked_run(path: Path) -> RunDirectory:
    """Open the run at a path, in which no link leads elsewhere: verbs write there, too."""
    directory = RunDirectory.open(path)
    refuse_strange_files(directory.path)
    return directory
