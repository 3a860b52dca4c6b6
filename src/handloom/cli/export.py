"""``handloom export``: a dataset in another format."""

from pathlib import Path
from typing import Annotated, Literal

import tyro

from handloom.cli.checked_dataset import checked_dataset
from handloom.dataset import DatasetReader, EpisodeArchive, export_hdf5, record_of_archive
from handloom.errors import FileError
from handloom.scene import build_scene
from handloom.scene.model_xml import model_xml


def run(
    path: tyro.conf.Positional[Path],
    *,
    output: Annotated[Path, tyro.conf.arg(aliases=["-o"])],
    format: Literal["hdf5"] = "hdf5",
    images: bool = True,
    models: bool = True,
    skip_hashes: bool = False,
) -> None:
    """Write a dataset as one file: hdf5 is the layout robomimic reads (needs the extra hdf5).

    Args:
        path: A run folder or a dataset.
        output: File to write.
        format: Format of the file.
        images: Decode the camera streams into the file.
        models: Write the MuJoCo model of every episode into the file, as MJCF.
        skip_hashes: Use the files even if they are not those that were written.
    """
    exporters = {"hdf5": export_hdf5}
    model_file = _model_file if models else None
    dataset = DatasetReader(checked_dataset(path, skip_hashes=skip_hashes))
    print(exporters[format](dataset, output, images=images, model_file=model_file))


def _model_file(archive: EpisodeArchive) -> str:
    """Return the model of an episode, or refuse when it would be another than the recorded one."""
    record = record_of_archive(archive)
    same = build_scene(record.instance).world.model_hash() == record.model_hash
    if not same and not archive.certificate.differences_from_here():
        raise FileError(
            f"the files of robots or objects have changed since attempt {record.instance.episode} was recorded, so its "
            "model cannot be written; export with --no-models"
        )
    return model_xml(record.instance)
