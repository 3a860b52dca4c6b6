"""Small episodes with known contents for the tests of this folder."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray

from handloom.dataset import (
    EpisodeArchive,
    EpisodeFolder,
    EpisodeOutcome,
    EpisodeWriter,
    FeatureTable,
    Segment,
    column_feature,
    folder_name,
    video_feature,
)

JOINTS = [f"joint{i}" for i in range(4)]
HEAD, WRIST = "observation.images.head", "observation.images.wrist"
TABLE = FeatureTable(
    fps=30,
    features=(
        column_feature("observation.state", JOINTS),
        column_feature("action", JOINTS),
        column_feature("gripper", ["openness"]),
        video_feature(HEAD, height=48, width=64),
        video_feature(WRIST, height=31, width=45),
    ),
)


def image(index: int, frame: int, *, height: int = 48, width: int = 64) -> NDArray[np.uint8]:
    """Return a smooth picture that no other frame of any episode has; columns and rows move with the frame."""
    y, x = np.mgrid[:height, :width]
    shade = 110 + 70 * np.sin((x + 2 * frame) / 9) * np.cos((y - frame) / 12)
    tint = np.array([1.0, 0.9, 0.8]) * (1 + 0.15 * np.sin(index + np.arange(3)))
    return np.clip(shade[..., None] * tint, 0, 255).astype(np.uint8)


def columns(index: int, length: int) -> dict[str, NDArray[np.float32]]:
    """Return the columns of an episode."""
    rng = np.random.default_rng(index)
    state = rng.normal(size=(length, 4)).astype(np.float32)
    gripper = (state[:, :1] > 0).astype(np.float32)
    return {"observation.state": state, "action": np.roll(state, -1, axis=0), "gripper": gripper}


def make_episode(
    parent: Path, index: int, *, length: int = 7, success: bool = True, table: FeatureTable = TABLE, **changes: object
) -> EpisodeFolder:
    """Write one episode whose contents depend on its index and length only."""
    arrays = columns(index, length)
    rng = np.random.default_rng(1000 + index)
    archive = EpisodeArchive.made_here(
        instance={"index": index, "cube": [0.1, 0.2, 0.3]},
        commands={"applied": arrays["action"].astype(np.float64)},
        states={"integration": rng.normal(size=(length, 11))},
        timeline={"skills": [{"name": "pick", "start": 0, "stop": length}]},
    )
    facts = {
        "index": index,
        "task": ["pick the cube", "place the mug"][index % 2],
        "success": success,
        "failure_reason": None if success else "grasp_slipped",
        "seed": 7,
        "robot": "fr3",
        "segments": (Segment(label="reach", start=0, stop=2), Segment(label="grasp", start=2, stop=length - 1)),
        "columns": {"distance_m": 0.25 * index, "object": "cube"},
    }
    with EpisodeWriter(parent / folder_name(index), table) as episode:
        for frame in range(length):
            for video in table.videos:
                episode.add_image(video.name, picture(video.name, index, frame))
        present = {feature.name: arrays[feature.name] for feature in table.columns}
        return episode.finish(EpisodeOutcome(**{**facts, **changes}), present, archive)


def picture(name: str, index: int, frame: int) -> NDArray[np.uint8]:
    """Return what a camera sees; the wrist camera has an odd size."""
    return image(index, frame) if name == HEAD else image(index + 5, frame, height=31, width=45)


@pytest.fixture(scope="session")
def samples() -> SimpleNamespace:
    """The functions and names above."""
    return SimpleNamespace(
        TABLE=TABLE, HEAD=HEAD, WRIST=WRIST, make_episode=make_episode, columns=columns, picture=picture
    )


@pytest.fixture(scope="session")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with six attempts of different lengths, the third and fifth of them failed; tests only read it."""
    parent = tmp_path_factory.mktemp("shards")
    for index in range(6):
        make_episode(parent, index, length=6 + index, success=index not in (2, 4))
    return parent
