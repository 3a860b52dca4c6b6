"""RLDS episodes in the layout of TensorFlow Datasets, written without TensorFlow.

``tfds.builder_from_directory(out / "1.0.0")`` opens it: ``features.json`` describes the steps, the records are
``tf.train.Example`` messages with one list per feature over all steps, images as JPEG.
"""

import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from handloom.dataset.exports.export_lerobot import refuse_existing
from handloom.dataset.exports.tfrecord import example, write_record
from handloom.dataset.files.durable import atomic_folder, json_bytes
from handloom.dataset.files.reading import damage_named
from handloom.dataset.lerobot.dataset_reader import DatasetEpisode, DatasetReader
from handloom.dataset.lerobot.feature import Feature

VERSION = "1.0.0"
EPISODES_PER_FILE = 50
QUALITY = 95
"""Of JPEG images."""
_FEATURES = "tensorflow_datasets.core.features."
Described = dict[str, Any]


def export_rlds(dataset: DatasetReader, out: Path, *, action: str = "action") -> Path:
    """Write a dataset as RLDS.

    Args:
        dataset: The dataset.
        out: Folder to write; its name is the name of the dataset; it must not exist.
        action: Column of the actions.
    """
    refuse_existing(out)
    name = re.sub(r"\W+", "_", out.name.lower()).strip("_") or "handloom"
    features = [f for f in dataset.table if f.name != action and (not f.is_video or f.is_colour)]
    with atomic_folder(out) as work, damage_named(dataset.root):
        folder = work / VERSION
        folder.mkdir(parents=True)
        count = len(dataset.episodes)
        files = max(1, -(-count // EPISODES_PER_FILE))
        lengths, size = [], 0
        for number in range(files):
            path = folder / f"{name}-train.tfrecord-{number:05d}-of-{files:05d}"
            members = dataset.episodes[number * EPISODES_PER_FILE : (number + 1) * EPISODES_PER_FILE]
            with path.open("wb") as file:
                for episode in members:
                    write_record(file, example(_episode(dataset, episode, action, features)))
            lengths.append(len(members))
            size += path.stat().st_size
        described = _described(dataset, action, features)
        (folder / "features.json").write_bytes(json_bytes(described, indent=4))
        (folder / "dataset_info.json").write_bytes(json_bytes(_info(name, lengths, size), indent=2))
    return out


def observation_name(feature: Feature) -> str:
    """Return the name of a feature among the observations: ``observation.images.head`` is ``head``."""
    return feature.name.removeprefix("observation.").removeprefix("images.").replace(".", "_").replace("/", "_")


def _episode(
    dataset: DatasetReader, episode: DatasetEpisode, action: str, features: list[Feature]
) -> Mapping[str, list[bytes] | NDArray[Any]]:
    frames, length = dataset.frames(episode.index), episode.length
    first, last = np.zeros(length, np.int64), np.zeros(length, np.int64)
    first[0] = last[-1] = 1
    success = bool(episode.columns.get("success", True))
    steps: dict[str, list[bytes] | NDArray[Any]] = {
        "action": frames[action],
        "reward": (last * success).astype(np.float32),
        "discount": np.ones(length, np.float32),
        "is_first": first,
        "is_last": last,
        "is_terminal": last * success,
        "language_instruction": [(episode.tasks[0] if episode.tasks else "").encode()] * length,
    }
    for feature in features:
        key = f"observation/{observation_name(feature)}"
        if feature.is_video:
            steps[key] = [jpeg(image, QUALITY) for image in dataset.images(episode.index, feature.name)]
        else:
            steps[key] = frames[feature.name]
    about = {
        "episode_metadata/episode_id": np.array([episode.index]),
        "episode_metadata/success": np.array([int(success)]),
        "episode_metadata/seed": np.array([int(episode.columns.get("seed") or 0)]),
        "episode_metadata/robot": [str(episode.columns.get("robot") or dataset.info["robot_type"]).encode()],
    }
    return {**{f"steps/{name}": value for name, value in steps.items()}, **about}


def jpeg(image: NDArray[np.uint8], quality: int) -> bytes:
    """Return an image (h, w, 3) as a JPEG file."""
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()


def _described(dataset: DatasetReader, action: str, features: list[Feature]) -> Described:
    """Return ``features.json``."""
    kinds = {"int64": "int64", "bool": "int64"}
    observation = {
        observation_name(f): _image(f) if f.is_video else _tensor(f.shape, kinds.get(f.dtype, "float32"))
        for f in features
    }
    steps = {
        "observation": _dictionary(observation),
        "action": _tensor(dataset.table[action].shape, "float32"),
        **{name: _scalar("float32") for name in ("reward", "discount")},
        **{name: _scalar("bool") for name in ("is_first", "is_last", "is_terminal")},
        "language_instruction": _text(),
    }
    about = {"episode_id": _scalar("int64"), "success": _scalar("bool"), "seed": _scalar("int64"), "robot": _text()}
    sequence = {
        "pythonClassName": f"{_FEATURES}dataset_feature.Dataset",
        "sequence": {"feature": _dictionary(steps), "length": "-1"},
    }
    return _dictionary({"steps": sequence, "episode_metadata": _dictionary(about)})


def _dictionary(features: Described) -> Described:
    return {"pythonClassName": f"{_FEATURES}features_dict.FeaturesDict", "featuresDict": {"features": features}}


def _tensor(shape: tuple[int, ...], dtype: str) -> Described:
    dimensions = {"dimensions": [str(n) for n in shape]}
    return {
        "pythonClassName": f"{_FEATURES}tensor_feature.Tensor",
        "tensor": {"shape": dimensions, "dtype": dtype, "encoding": "none"},
    }


def _scalar(dtype: str) -> Described:
    return {
        "pythonClassName": f"{_FEATURES}scalar.Scalar",
        "tensor": {"shape": {}, "dtype": dtype, "encoding": "none"},
    }


def _text() -> Described:
    return {"pythonClassName": f"{_FEATURES}text_feature.Text", "text": {}}


def _image(feature: Feature) -> Described:
    dimensions = {"dimensions": [str(n) for n in feature.shape]}
    return {
        "pythonClassName": f"{_FEATURES}image_feature.Image",
        "image": {"shape": dimensions, "dtype": "uint8", "encodingFormat": "jpeg"},
    }


def _info(name: str, lengths: list[int], size: int) -> Described:
    split = {
        "name": "train",
        "numBytes": str(size),
        "shardLengths": [str(length) for length in lengths],
        "filepathTemplate": "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}",
    }
    return {
        "name": name,
        "version": VERSION,
        "fileFormat": "tfrecord",
        "description": "Demonstrations made with Handloom.",
        "citation": "",
        "releaseNotes": {VERSION: "First release."},
        "splits": [split],
    }
