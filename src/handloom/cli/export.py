"""``handloom export``: a dataset in another format."""

from pathlib import Path
from typing import Annotated, Literal

import tyro

from handloom.dataset import DatasetReader, export_hdf5
from handloom.engine.verify import dataset_of


def run(
    path: tyro.conf.Positional[Path],
    *,
    output: Annotated[Path, tyro.conf.arg(aliases=["-o"])],
    format: Literal["hdf5"] = "hdf5",
    images: bool = True,
) -> None:
    """Write a dataset as one file: hdf5 is the layout robomimic reads (needs the extra hdf5).

    Args:
        path: A run folder or a dataset.
        output: File to write.
        format: Format of the file.
        images: Decode the camera streams into the file.
    """
    exporters = {"hdf5": export_hdf5}
    print(exporters[format](DatasetReader(dataset_of(path)), output, images=images))
