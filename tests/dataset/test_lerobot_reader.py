"""The real readers load what we write: lerobot 0.4.4 and rerun.

They live in an environment of their own; name its interpreter in ``HANDLOOM_READER_PYTHON``.
"""

import json
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from handloom.dataset import (
    EpisodeOutcome,
    EpisodeWriter,
    FeatureTable,
    MergeOptions,
    column_feature,
    find_episodes,
    folder_name,
    merge_episodes,
    video_feature,
)

pytestmark = pytest.mark.reader

ATTEMPTS = ((0, 6), (1, 7), (3, 9), (5, 11))
"""Attempt and length of the successful sample episodes."""


def reader_python() -> str:
    python = os.environ.get("HANDLOOM_READER_PYTHON", "")
    if not python:
        pytest.skip("HANDLOOM_READER_PYTHON does not name an interpreter with lerobot")
    return python


def run_reader(script: str, *arguments: object) -> dict:
    command = [reader_python(), str(Path(__file__).parent / script), *map(str, arguments)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr[-3000:]
    return json.loads(finished.stdout.splitlines()[-1])


@pytest.fixture(scope="module", params=["one file, h264", "many files, av1"])
def dataset(request, shards: Path, samples: SimpleNamespace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reader")
    if request.param == "one file, h264":
        return merge_episodes(find_episodes([shards]), folder / "dataset")
    features = [
        video_feature(f.name, height=f.shape[0], width=f.shape[1], codec="av1") if f.name == samples.HEAD else f
        for f in samples.TABLE
    ]
    for index, length in ATTEMPTS:
        table = FeatureTable(fps=30, features=tuple(features))
        samples.make_episode(folder, index, length=length, table=table)
    options = MergeOptions(chunks_size=2, data_files_size_in_mb=0.0017, video_files_duration_s=0.5)
    return merge_episodes(find_episodes([folder]), folder / "dataset", options=options)


@pytest.fixture(scope="module")
def read(dataset: Path, samples: SimpleNamespace) -> SimpleNamespace:
    out = dataset.parent / "read.npz"
    facts = run_reader("read_with_lerobot.py", dataset, out, samples.HEAD, 30)
    return SimpleNamespace(**facts, **np.load(out))


def truth(samples: SimpleNamespace, column: str) -> np.ndarray:
    return np.concatenate([samples.columns(index, length)[column] for index, length in ATTEMPTS])


def pictures(samples: SimpleNamespace) -> np.ndarray:
    return np.stack([samples.picture(samples.HEAD, index, frame) for index, n in ATTEMPTS for frame in range(n)])


def test_lerobot_returns_states_exactly(read: SimpleNamespace, samples: SimpleNamespace) -> None:
    assert (read.episodes, read.frames, read.fps) == (4, 33, 30)
    np.testing.assert_array_equal(read.states, truth(samples, "observation.state"))
    np.testing.assert_array_equal(read.actions, truth(samples, "action"))
    assert read.tasks == ["pick the cube"] * 6 + ["place the mug"] * 27
    assert read.subtasks[:6] == ["reach", "reach", "grasp", "grasp", "grasp", "idle"]
    assert read.success == [True] * 4


def test_lerobot_returns_aligned_frames(read: SimpleNamespace, samples: SimpleNamespace) -> None:
    shown, images = pictures(samples), read.images.astype(float)
    errors = np.abs(images - shown).mean(axis=(1, 2, 3))
    assert errors.max() < 2
    # A frame off by one would be far from the truth: the scene moves.
    assert np.abs(images[1:6] - shown[:5]).mean(axis=(1, 2, 3)).min() > 2 * errors.max()


def test_lerobot_windows_stay_within_their_episode(read: SimpleNamespace, samples: SimpleNamespace) -> None:
    shown, actions = pictures(samples), truth(samples, "action")
    start = 0
    for _, length in ATTEMPTS:
        for i in range(length):
            before = shown[start + max(i - 1, 0)]
            assert np.abs(read.previous[start + i].astype(float) - before).mean() < 2
            following = np.minimum(i + np.arange(8), length - 1) + start
            np.testing.assert_array_equal(read.future[start + i], actions[following])
        start += length
    assert read.batches == [[[16, 8, 4], [16, 2, 3, 48, 64]]] * 2 + [[[1, 8, 4], [1, 2, 3, 48, 64]]]


def test_lerobot_reads_one_episode_on_its_own(read: SimpleNamespace, samples: SimpleNamespace) -> None:
    np.testing.assert_array_equal(read.subset_states, truth(samples, "observation.state")[6:13])
    assert np.abs(read.subset_images.astype(float) - pictures(samples)[6:13]).mean(axis=(1, 2, 3)).max() < 2


def test_rerun_streams_every_episode_without_an_ffmpeg_program(dataset: Path, samples: SimpleNamespace) -> None:
    rows = run_reader("read_with_rerun.py", dataset)
    assert rows["version"] == "v3"
    assert sorted(rows["episodes"]) == ["0", "1", "2", "3"]
    for number, (_, length) in enumerate(ATTEMPTS):
        entities = rows["episodes"][str(number)]
        assert entities["/action"] >= length
        assert entities[f"/{samples.HEAD}"] >= length
        assert entities[f"/{samples.WRIST}"] >= length


def test_rerun_streams_a_dataset_with_depth(tmp_path: Path) -> None:
    depth = video_feature("observation.images.depth", height=32, width=48, codec="depth")
    table = FeatureTable(fps=30, features=(column_feature("action", ["x"]), depth))
    with EpisodeWriter(tmp_path / folder_name(0), table) as episode:
        for frame in range(6):
            episode.add_image(depth.name, np.full((32, 48), 0.5 + 0.1 * frame))
        outcome = EpisodeOutcome(index=0, task="look", success=True, seed=0, robot="fr3")
        episode.finish(outcome, {"action": np.zeros((6, 1))})
    rows = run_reader("read_with_rerun.py", merge_episodes(find_episodes([tmp_path]), tmp_path / "dataset"))
    assert rows["episodes"]["0"][f"/{depth.name}"] >= 6
