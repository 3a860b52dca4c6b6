"""Opt-in features: depth streams and language columns."""

from pathlib import Path

import av
import numpy as np
import pyarrow.parquet as pq

from handloom.dataset import (
    DatasetReader,
    DepthRange,
    EpisodeOutcome,
    EpisodeWriter,
    FeatureTable,
    MergeOptions,
    Segment,
    check_layout,
    column_feature,
    find_episodes,
    folder_name,
    merge_episodes,
    video_feature,
)

DEPTH = "observation.images.head_depth"


def depth_image(frame: int) -> np.ndarray:
    y, x = np.mgrid[:32, :48]
    return (0.4 + 0.05 * frame + 0.02 * x + 0.01 * y).astype(np.float32)


def make_depth_episode(parent: Path, index: int, length: int) -> None:
    features = (column_feature("action", ["x"]), video_feature(DEPTH, height=32, width=48, codec="depth"))
    with EpisodeWriter(parent / folder_name(index), FeatureTable(fps=10, features=features)) as episode:
        for frame in range(length):
            episode.add_image(DEPTH, depth_image(frame + index))
        outcome = EpisodeOutcome(
            index=index,
            task="look",
            success=True,
            seed=0,
            robot="fr3",
            segments=(Segment(label="approach", start=1, stop=3), Segment(label="wait", start=3, stop=4)),
        )
        episode.finish(outcome, {"action": np.zeros((length, 1))})


def test_a_depth_video_says_a_level_that_exists(tmp_path: Path) -> None:
    for index in range(2):
        make_depth_episode(tmp_path, index, 4)
    dataset = merge_episodes(find_episodes([tmp_path]), tmp_path / "dataset")
    with av.open(str(next((dataset / "videos" / DEPTH).rglob("*.mp4")))) as video:
        frames = list(video.decode(video=0))
        assert video.streams.video[0].codec_context.level <= 186  # 6.2; rerun refuses 8.5
    codes = DepthRange().codes(depth_image(1))
    assert np.array_equal(frames[1].to_ndarray(format="gray12le"), codes)


def test_codes_are_steps_of_the_logarithm() -> None:
    depth = DepthRange()
    assert depth.codes(np.array([0.01, 10.0, 99.0, np.nan, np.inf, -1.0])).tolist() == [0, 4095, 4095, 4095, 4095, 0]
    codes = np.arange(4096)
    np.testing.assert_array_equal(depth.codes(depth.metres(codes)), codes)
    near = np.linspace(0.01, 10, 10_001)
    error = np.abs(depth.metres(depth.codes(near)) - near)
    assert error.max() < 0.0023
    assert error[near < 1].max() < 0.0008


def test_depth_comes_back_to_half_a_step_through_a_dataset(tmp_path: Path) -> None:
    for index in range(2):
        make_depth_episode(tmp_path, index, 5)
    dataset = DatasetReader(merge_episodes(find_episodes([tmp_path]), tmp_path / "d"))
    assert check_layout(dataset.root) == ()
    for index in range(2):
        for frame, image in enumerate(dataset.images(index, DEPTH)):
            truth = depth_image(frame + index)
            assert image.dtype == np.float32
            np.testing.assert_array_equal(image, DepthRange().metres(DepthRange().codes(truth)))
            assert np.abs(image - truth).max() < 0.001
    stored = dataset.info["features"][DEPTH]
    assert stored["shape"] == [32, 48, 1]
    assert stored["info"]["is_depth_map"] is True
    assert stored["info"]["video.codec"] == "hevc"
    low, high = dataset.statistics[DEPTH]["min"][0][0][0], dataset.statistics[DEPTH]["max"][0][0][0]
    assert 0.39 < low < 0.41
    assert 1.5 < high < 1.9


def test_language_columns_name_every_subtask_and_its_time(tmp_path: Path) -> None:
    make_depth_episode(tmp_path, 0, 5)
    folders = find_episodes([tmp_path])
    out = merge_episodes(folders, tmp_path / "d", options=MergeOptions(language=True))
    table = pq.read_table(out / "data/chunk-000/file-000.parquet")
    rows = table["language_persistent"].to_pylist()
    assert all(row == rows[0] for row in rows)
    told = [(r["role"], r["content"], r["style"], r["timestamp"], r["camera"], r["tool_calls"]) for r in rows[0]]
    first, second = np.float32(0.1).item(), np.float32(0.3).item()
    assert told == [
        ("assistant", "approach", "subtask", first, None, None),
        ("assistant", "wait", "subtask", second, None, None),
    ]
    assert table["language_events"].to_pylist() == [[]] * 5
    assert DatasetReader(out).info["features"]["language_persistent"]["dtype"] == "language"
    plain = merge_episodes(folders, tmp_path / "plain")
    assert not any("language" in name for name in pq.read_schema(plain / "data/chunk-000/file-000.parquet").names)
