"""Export a dataset as one HDF5 file in the layout that robomimic and MimicGen read."""

import io
import json
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from handloom.arrays import Array
from handloom.dataset.episodes.archive import STATES, EpisodeArchive
from handloom.dataset.files.durable import atomic_write
from handloom.dataset.files.reading import damage_named
from handloom.dataset.lerobot.dataset_reader import DatasetEpisode, DatasetReader
from handloom.dataset.lerobot.feature import Feature
from handloom.errors import FileError, InputError, require

PICTURE_DIMENSIONS = 3
"""Arrays with this many dimensions are images, one per frame."""
JPEG_QUALITY = 75
FRAMES, ROWS = 4, 32
"""Images are stored in chunks of this many rows and frames; reading one frame unpacks all of its chunks."""
LEVEL = 4
"""Gzip level for images, of 9."""
ModelFile = Callable[[EpisodeArchive], str]


def export_hdf5(
    dataset: DatasetReader,
    out: Path,
    *,
    action: str = "action",
    images: bool = True,
    model_file: ModelFile | None = None,
    next_obs: bool = False,
    jpeg: bool = False,
) -> Path:
    """Write ``/data/demo_i`` with actions, states, observations, rewards and dones of every episode.

    The reward is 1 in the last frame of a successful episode. Observations are the other columns and the cameras;
    ``observation.images.head`` becomes ``head_image`` and ``observation.state`` becomes ``state``.

    Args:
        dataset: The dataset.
        out: The file to write; it must not exist.
        action: Column of the actions.
        images: Decode the cameras into the file; without them it is a hundredth of the size.
        model_file: Returns the MuJoCo model of an episode as MJCF, for the attribute of that name; states begin with
            its time, positions and velocities. None writes no models.
        next_obs: Also write each observation shifted by one frame as ``next_obs``, the last one repeated; this doubles
            the file and adds no information.
        jpeg: Keep colour images as JPEG files, (frames,) of bytes with the attribute ``encoding``; a tenth of the
            size. Programs that expect arrays cannot read them.

    Raises:
        MissingExtraError: The package h5py is not installed.
    """
    h5py = require("h5py", extra="hdf5")
    if out.exists():
        raise FileError(f"{out} exists; choose another name or remove it")
    if dataset.table[action].is_video:
        raise InputError(f"{action!r} is a camera stream; actions are a column of numbers")
    features = [f for f in dataset.table if f.name != action and (images or not f.is_video)]
    with atomic_write(out) as partial, h5py.File(partial, "w") as file, damage_named(dataset.root):
        demos = file.create_group("data")
        demos.attrs["total"] = dataset.info["total_frames"]
        demos.attrs["env_args"] = json.dumps(_environment(dataset))
        for episode in dataset.episodes:
            group = demos.create_group(f"demo_{episode.index}")
            _write_demo(group, dataset, episode, action, features, jpeg=jpeg)
            if next_obs:
                _write_next(group)
            if dataset.archive_files(episode.index).exists():
                _write_archive(group, dataset.archive(episode.index), episode.length, model_file)
        names = [f"demo_{episode.index}" for episode in dataset.episodes]
        file.create_dataset("mask/train", data=np.array(names, dtype="S"), track_times=False)
    return out


def _environment(dataset: DatasetReader) -> dict[str, Any]:
    """Return robomimic's description of the environment; type 2 is its number for Gym environments."""
    return {
        "env_name": "handloom",
        "env_version": dataset.info["codebase_version"],
        "type": 2,
        "env_kwargs": {"robot": dataset.info["robot_type"], "control_freq": dataset.fps, "tasks": list(dataset.tasks)},
    }


def _write_demo(
    group: Any,
    dataset: DatasetReader,
    episode: DatasetEpisode,
    action: str,
    features: list[Feature],
    *,
    jpeg: bool,
) -> None:
    """Write one episode."""
    frames = dataset.frames(episode.index)
    success = bool(episode.columns.get("success", True))
    ends = np.zeros(episode.length)
    ends[-1] = 1.0
    group.attrs["num_samples"] = episode.length
    group.attrs["task"] = "; ".join(episode.tasks)
    group.attrs["success"] = success
    _write(group, "actions", frames[action])
    _write(group, "rewards", ends * success)
    _write(group, "dones", ends.astype(np.int64))
    for feature in features:
        name = observation_name(feature)
        if feature.is_colour and jpeg:
            _write_jpegs(group, name, dataset.images(episode.index, feature.name))
        elif feature.is_video:
            _write_images(group, name, dataset.images(episode.index, feature.name), episode.length)
        else:
            _write(group, f"obs/{name}", frames[feature.name])


def _write_next(group: Any) -> None:
    """Write the observations of one episode again, each shifted to the previous frame, the last one twice."""
    for name, observed in group["obs"].items():
        following = group.create_dataset(
            f"next_obs/{name}", shape=observed.shape, dtype=observed.dtype, **_how(observed.shape)
        )
        for start in range(0, len(observed), FRAMES):  # A few at a time: a camera's images need not fit into memory.
            block = observed[start + 1 : start + 1 + FRAMES]
            following[start : start + len(block)] = block
        following[len(observed) - 1] = observed[len(observed) - 1]


def _how(shape: tuple[int, ...]) -> dict[str, Any]:
    """Return the storage options of an array (n, ...): compressed, images in chunks of a few rows over a few frames.

    Gzip looks back 32 kB. Within a chunk, the same rows of the previous frame are closer than that, so static parts
    cost next to nothing: two thirds of the size of images compressed separately. Sixteen frames would save another 6
    % but make random access, as in training, 3.5 times as slow.
    """
    if len(shape) < PICTURE_DIMENSIONS:
        # Numbers hardly change from frame to frame, so their bytes compress well when shuffled by position.
        return {"chunks": shape, "compression": "gzip", "shuffle": True, "track_times": False}
    chunks = (min(FRAMES, shape[0]), min(ROWS, shape[1]), *shape[2:])
    return {"chunks": chunks, "compression": "gzip", "compression_opts": LEVEL, "track_times": False}


def _write_archive(group: Any, archive: EpisodeArchive, length: int, model_file: ModelFile | None) -> None:
    """Write the data from the archive of an episode: states, scene and model."""
    if STATES in archive.states:
        _write(group, "states", _kept_states(archive)[:length])
    group.attrs["instance"] = json.dumps(archive.instance)
    if model_file is not None:
        group.attrs["model_file"] = model_file(archive)


def _kept_states(archive: EpisodeArchive) -> Array:
    """Return the states (n, size) before each frame of the demonstration, and the one after the last.

    The archive has every simulated frame, including those that a skill kept out of the demonstration.
    """
    states = archive.states[STATES]
    kept = np.ones(len(states), dtype=bool)
    for start, stop in archive.timeline.get("left_out", ()):
        kept[start:stop] = False
    return states[kept]


def observation_name(feature: Feature) -> str:
    """Return the name of a feature among robomimic's observations."""
    name = feature.name.removeprefix("observation.").removeprefix("images.").replace(".", "_")
    if feature.depth is not None:
        return f"{name.removesuffix('_depth')}_depth"
    return f"{name}_image" if feature.is_colour else name


def _write(group: Any, name: str, values: NDArray[Any]) -> None:
    group.create_dataset(name, data=values, **(_how(values.shape) if values.size else {"track_times": False}))


def _write_jpegs(group: Any, name: str, images: Iterator[NDArray[Any]]) -> None:
    """Write a camera's images as JPEG files, one after another, and the end of each."""
    files = [_jpeg(image) for image in images]
    flat = np.frombuffer(b"".join(files), np.uint8)
    stored = group.create_dataset(f"obs/{name}", data=flat, track_times=False)
    stored.attrs["encoding"] = "jpeg"
    group.create_dataset(f"obs/{name}_ends", data=np.cumsum([len(file) for file in files]), track_times=False)


def _jpeg(image: NDArray[np.uint8]) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, "JPEG", quality=JPEG_QUALITY)
    return buffer.getvalue()


def _write_images(group: Any, name: str, images: Iterator[NDArray[Any]], length: int) -> None:
    """Write a camera's images while they are decoded."""
    observed, start = None, 0
    while block := list(islice(images, FRAMES)):
        if observed is None:
            shape = (length, *block[0].shape)
            observed = group.create_dataset(f"obs/{name}", shape=shape, dtype=block[0].dtype, **_how(shape))
        observed[start : start + len(block)] = np.stack(block)
        start += len(block)
