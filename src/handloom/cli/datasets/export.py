"""``handloom export``: a dataset in the formats that other programs read."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal

from handloom.cli.datasets.dataset import checked_dataset
from handloom.cli.flags import Number, Output, Run
from handloom.config import own_code
from handloom.dataset import DatasetReader, EpisodeArchive, export_hdf5, record_of_archive
from handloom.dataset.exports.export_lerobot import export_lerobot_v3, export_lerobot_v21
from handloom.dataset.exports.export_rerun import export_rerun
from handloom.dataset.exports.export_rlds import export_rlds
from handloom.dataset.exports.export_zarr import export_zarr
from handloom.engine.trust import demand_trusted
from handloom.errors import FileError
from handloom.labels.export_coco import export_coco, export_questions
from handloom.scene import build_scene
from handloom.scene.build import model_xml

Format = Literal["hdf5", "lerobot-v3", "lerobot-v2.1", "rlds", "zarr", "rerun", "coco", "jsonl"]
PLAIN: dict[str, Callable[..., Path]] = {
    "lerobot-v3": export_lerobot_v3,
    "lerobot-v2.1": export_lerobot_v21,
    "rlds": export_rlds,
    "rerun": export_rerun,
    "jsonl": export_questions,
}
"""Formats without options."""


def run(
    path: Run,
    *,
    output: Output,
    format: Format = "hdf5",
    no_images: bool = False,
    jpeg: bool = False,
    no_models: bool = False,
    next_obs: bool = False,
    every: Number = 10,
    allow_code: bool = False,
    allow_outside: bool = False,
    skip_hashes: bool = False,
) -> None:
    """Write a dataset in another format.

    hdf5 is the layout that robomimic reads (extra hdf5); lerobot-v3 the dataset without our archives; lerobot-v2.1 has
    one file per episode; rlds the layout of TensorFlow Datasets; zarr a replay buffer; rerun a recording for its viewer
    (extra rerun); coco and jsonl the labels as annotations, and as questions with answers.

    Args:
        path: A run folder or a dataset.
        output: File or folder to write.
        format: Format to write.
        no_images: hdf5 and zarr: leave out the camera images, for a hundredth of the size.
        jpeg: hdf5: keep images as JPEG files, for a fifth of the size; robomimic needs arrays and cannot read these.
        no_models: hdf5: leave out the MuJoCo model of every episode, otherwise stored as MJCF.
        next_obs: hdf5: also write the observation that follows each frame, under next_obs; this doubles the file, and
            readers can take the next frame of obs instead.
        every: coco: export every N-th frame.
        allow_code: Run Python code that the archives refer to, such as an object my_module:my_function.
        allow_outside: Let the archives refer to robots and objects outside their own and surrounding folders.
        skip_hashes: Use the files even if they do not match their recorded hashes.
    """
    own_code.allow(code=allow_code, outside=allow_outside)
    dataset = DatasetReader(checked_dataset(path, skip_hashes=skip_hashes))
    if format == "hdf5":
        model_file = None if no_models else partial(_model_file, dataset.root)
        options: dict[str, Any] = {"images": not no_images, "model_file": model_file, "next_obs": next_obs}
        written = export_hdf5(dataset, output, jpeg=jpeg, **options)
    elif format == "zarr":
        written = export_zarr(dataset, output, images=not no_images)
    elif format == "coco":
        written = export_coco(dataset, output, every=every)
    else:
        written = PLAIN[format](dataset, output)
    print(written)


def _model_file(root: Path, archive: EpisodeArchive) -> str:
    """Return the model of an episode; raise an error if it differs from the recorded one."""
    record = record_of_archive(archive)
    demand_trusted(record.instance, root / "extras")
    same = build_scene(record.instance).world.model_hash() == record.model_hash
    if not same and not archive.certificate.differences_from_here():
        raise FileError(
            f"the files of robots or objects have changed since attempt {record.instance.episode} was recorded, so its "
            "model cannot be written; export with --no-models"
        )
    return model_xml(record.instance)
