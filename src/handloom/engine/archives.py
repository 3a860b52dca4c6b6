"""The archives of a dataset, or of the dataset of a run."""

from pathlib import Path

from handloom.dataset import DatasetReader
from handloom.dataset.lerobot.file_list import refuse_strange_files
from handloom.errors import FileError


def dataset_of(path: Path) -> Path:
    """Return a dataset folder: the path itself, or the dataset of the run at it.

    Raises:
        FileError: There is no dataset there.
    """
    for root in (path, path / "dataset"):
        if (root / "meta" / "info.json").is_file():
            return root
    raise FileError(f"{path} holds no dataset: neither meta/info.json nor dataset/meta/info.json is there")


def archives_of(path: Path) -> tuple[Path, ...]:
    """Return the archives of a dataset, or of the dataset of a run, in order; folders of no episode are left out.

    Raises:
        FileError: The dataset cannot be read, or has links that lead out of it.
    """
    root = dataset_of(path)
    refuse_strange_files(root)
    dataset = DatasetReader(root)
    folders = [dataset.archive_folder(episode.index) for episode in dataset.episodes]
    return tuple(folder for folder in folders if folder.is_dir())
