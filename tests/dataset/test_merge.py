"""Merging: the layout, roll-over, equal bytes, and going on after a kill at any step."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from handloom.dataset import FeatureTable, MergeOptions, column_feature, find_episodes, merge_episodes
from handloom.dataset.lerobot.statistics import QUANTILES
from handloom.dataset.video.video_reader import read_frames, read_packets
from handloom.errors import FileError, InputError


def contents(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()}


@pytest.fixture(scope="module")
def dataset(shards: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return merge_episodes(find_episodes([shards]), tmp_path_factory.mktemp("merged") / "dataset")


def test_successes_are_numbered_through_and_failures_left_out(dataset: Path) -> None:
    episodes = pq.read_table(dataset / "meta/episodes/chunk-000/file-000.parquet").to_pylist()
    assert [row["episode_index"] for row in episodes] == [0, 1, 2, 3]
    assert [row["attempt_index"] for row in episodes] == [0, 1, 3, 5]
    assert [row["length"] for row in episodes] == [6, 7, 9, 11]
    assert [row["dataset_from_index"] for row in episodes] == [0, 6, 13, 22]
    assert all(row["success"] and row["failure_reason"] is None for row in episodes)
    assert [row["distance_m"] for row in episodes] == [0.0, 0.25, 0.75, 1.25]
    assert [row["tasks"] for row in episodes] == [["pick the cube"]] + [["place the mug"]] * 3


def test_failures_make_a_dataset_of_their_own(shards: Path, tmp_path: Path) -> None:
    failed = merge_episodes(find_episodes([shards]), tmp_path / "failed", success=False)
    episodes = pq.read_table(failed / "meta/episodes/chunk-000/file-000.parquet").to_pylist()
    assert [(row["attempt_index"], row["failure_reason"]) for row in episodes] == [
        (2, "grasp_slipped"),
        (4, "grasp_slipped"),
    ]


def test_rows_hold_what_was_recorded(dataset: Path, samples) -> None:
    file = pq.ParquetFile(dataset / "data/chunk-000/file-000.parquet")
    assert file.num_row_groups == 4
    for group, (index, length) in enumerate([(0, 6), (1, 7), (3, 9), (5, 11)]):
        rows = file.read_row_group(group)
        state = np.array(rows["observation.state"].to_pylist(), np.float32)
        np.testing.assert_array_equal(state, samples.columns(index, length)["observation.state"])
        np.testing.assert_array_equal(rows["timestamp"], (np.arange(length) / 30).astype(np.float32))
        assert rows["frame_index"].to_pylist() == list(range(length))
        assert set(rows["episode_index"].to_pylist()) == {group}
    whole = file.read()
    assert whole["index"].to_pylist() == list(range(33))
    assert whole["subtask_index"].to_pylist()[:6] == [0, 0, 1, 1, 1, 2]


def test_videos_hold_every_frame_with_a_keyframe_at_each_start(dataset: Path, samples) -> None:
    for name in (samples.HEAD, samples.WRIST):
        path = dataset / "videos" / name / "chunk-000/file-000.mp4"
        sheet = read_packets(path)
        assert len(sheet.times) == 33
        assert all(sheet.keyframes[start] for start in (0, 6, 13, 22))
        truth = [samples.picture(name, index, frame) for index in (0, 1, 3, 5) for frame in range(6 + index)]
        frames = read_frames(path, samples.TABLE[name], fps=30)
        for got, want in zip(frames, truth, strict=True):
            assert np.abs(got[: want.shape[0], : want.shape[1]].astype(float) - want).mean() < 2


def test_global_quantiles_are_those_of_all_frames(dataset: Path) -> None:
    rows = pq.read_table(dataset / "data/chunk-000/file-000.parquet")
    statistics = json.loads((dataset / "meta/stats.json").read_text())
    state = np.array(rows["observation.state"].to_pylist(), np.float64)
    for name, level in QUANTILES.items():
        wanted = np.quantile(state, level, axis=0)
        np.testing.assert_allclose(statistics["observation.state"][name], wanted, rtol=1 / 512)
        assert statistics["index"][name] == [np.quantile(np.arange(33), level)]
    np.testing.assert_allclose(statistics["observation.state"]["std"], state.std(axis=0), rtol=1e-12)
    assert statistics["index"]["count"] == [33]


def test_the_bytes_do_not_depend_on_how_the_episodes_were_made(
    shards: Path, dataset: Path, samples, tmp_path: Path
) -> None:
    for number, index in enumerate((5, 3, 4, 1, 0, 2)):
        parent = tmp_path / f"worker{number % 2}"
        samples.make_episode(parent, index, length=6 + index, success=index not in (2, 4))
    again = merge_episodes(find_episodes([tmp_path / "worker0", tmp_path / "worker1"]), tmp_path / "dataset")
    assert contents(again) == contents(dataset)


@pytest.mark.parametrize("seed", ["0", "4711"])
def test_the_bytes_do_not_depend_on_hash_seed_locale_or_time_zone(
    shards: Path, dataset: Path, tmp_path: Path, seed: str
) -> None:
    script = (
        "import sys; from pathlib import Path; from handloom.dataset import *; "
        "merge_episodes(find_episodes([Path(sys.argv[1])]), Path(sys.argv[2]))"
    )
    given = {
        "PYTHONHASHSEED": seed,
        "LC_ALL": "C",
        "TZ": "Asia/Tokyo",
        "ARROW_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
    subprocess.run(
        [sys.executable, "-c", script, str(shards), str(tmp_path / "d")], check=True, env={**os.environ, **given}
    )
    assert contents(tmp_path / "d") == contents(dataset)


class Killed(BaseException):
    """Stands for a kill: nothing in the package may catch it and tidy up."""


def steps_of(monkeypatch: pytest.MonkeyPatch, action: Callable[[], object], stop_at: int | None) -> int:
    """Run something and count its durable steps; die at one of them as a killed program would."""
    count = 0

    def counted(function: Callable) -> Callable:
        def step(*args: object, **kwargs: object) -> object:
            nonlocal count
            count += 1
            if count == stop_at:
                raise Killed
            return function(*args, **kwargs)

        return step

    with monkeypatch.context() as patch:
        # A dead program removes nothing.
        patch.setattr(Path, "unlink", lambda *_, **__: None)
        for name in ("replace", "fsync", "link"):
            patch.setattr(os, name, counted(getattr(os, name)))
        with contextlib.suppress(Killed):
            action()
    return count


def test_a_merge_killed_at_any_step_goes_on_to_the_same_bytes(
    samples, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = FeatureTable(fps=30, features=(samples.TABLE["observation.state"], samples.TABLE[samples.WRIST]))
    for index in (0, 3):
        samples.make_episode(tmp_path / "shards", index, length=4, table=table)
    folders = find_episodes([tmp_path / "shards"])
    out, options = tmp_path / "dataset", MergeOptions(video_files_duration_s=0.2)

    def merge() -> None:
        merge_episodes(folders, out, options=options)

    steps = steps_of(monkeypatch, merge, None)
    expected = contents(out)
    assert steps > 40
    for step in range(1, steps + 1):
        shutil.rmtree(out)
        steps_of(monkeypatch, merge, step)
        assert not out.exists() or contents(out) == expected
        merge()
        assert contents(out) == expected, f"killed at step {step}"
        assert sorted(p.name for p in tmp_path.iterdir()) == ["dataset", "shards"]


def test_a_merge_killed_by_the_system_goes_on_to_the_same_bytes(shards: Path, dataset: Path, tmp_path: Path) -> None:
    script = """
import os, signal, sys
from pathlib import Path
from handloom.dataset import find_episodes, merge_episodes
count, replace = 0, os.replace
def dying(*args):
    global count
    count += 1
    if count == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
    return replace(*args)
os.replace = dying
merge_episodes(find_episodes([Path(sys.argv[1])]), Path(sys.argv[2]))
"""
    for step in (2, 5):
        run = subprocess.run([sys.executable, "-c", script, str(shards), str(tmp_path / "d"), str(step)], check=False)
        assert run.returncode == -signal.SIGKILL
        assert not (tmp_path / "d").exists()
    merge_episodes(find_episodes([shards]), tmp_path / "d")
    assert contents(tmp_path / "d") == contents(dataset)


def test_an_interrupted_merge_of_other_episodes_is_started_afresh(
    shards: Path, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = find_episodes([shards])
    steps_of(monkeypatch, lambda: merge_episodes(folders[:2], tmp_path / "d"), 12)
    assert (tmp_path / "d.partial").is_dir()
    merge_episodes(folders, tmp_path / "d")
    assert contents(tmp_path / "d") == contents(dataset)


def test_an_existing_dataset_is_kept_unless_replacing_was_asked_for(shards: Path, tmp_path: Path) -> None:
    folders = find_episodes([shards])
    out = merge_episodes(folders[:2], tmp_path / "d")
    before = contents(out)
    assert merge_episodes(folders[:2], out) == out
    with pytest.raises(FileError, match="exists and was not made from these episodes"):
        merge_episodes(folders, out)
    assert contents(out) == before
    merge_episodes(folders, out, replace=True)
    assert len(list((out / "extras").iterdir())) == 4
    assert [p.name for p in tmp_path.iterdir()] == ["d"]


def test_a_foreign_folder_is_never_removed(shards: Path, tmp_path: Path) -> None:
    (tmp_path / "d.partial").mkdir()
    (tmp_path / "d.partial" / "thesis.txt").write_text("years of work")
    with pytest.raises(FileError, match="not an interrupted merge"):
        merge_episodes(find_episodes([shards]), tmp_path / "d")
    assert (tmp_path / "d.partial" / "thesis.txt").read_text() == "years of work"


def test_files_and_chunks_roll_over(shards: Path, tmp_path: Path) -> None:
    options = MergeOptions(chunks_size=2, data_files_size_in_mb=0.0008, video_files_duration_s=0.5)
    out = merge_episodes(find_episodes([shards]), tmp_path / "d", options=options)
    rows = pq.read_table(out / "meta/episodes/chunk-000/file-000.parquet").to_pylist()
    assert [(row["data/chunk_index"], row["data/file_index"]) for row in rows] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    head = "videos/observation.images.head"
    assert [(row[f"{head}/chunk_index"], row[f"{head}/file_index"]) for row in rows] == [(0, 0), (0, 0), (0, 1), (1, 0)]
    assert [row[f"{head}/from_timestamp"] for row in rows] == [0.0, 6 / 30, 0.0, 0.0]
    assert [row[f"{head}/to_timestamp"] for row in rows] == [6 / 30, 13 / 30, 9 / 30, 11 / 30]
    for row in rows:
        path = out / f"data/chunk-{row['data/chunk_index']:03d}/file-{row['data/file_index']:03d}.parquet"
        assert set(pq.read_table(path)["episode_index"].to_pylist()) == {row["episode_index"]}
    assert len(list(out.glob("data/*/*.parquet"))) == 4
    assert len(list(out.glob("videos/observation.images.head/*/*.mp4"))) == 3


def test_a_damaged_episode_stops_the_merge_and_is_named(samples, tmp_path: Path) -> None:
    def damaged(change: Callable[[Path], object], name: str) -> str:
        parent = tmp_path / name
        folder = samples.make_episode(parent, 0).path
        change(folder)
        with pytest.raises(FileError) as caught:
            merge_episodes(find_episodes([parent]), parent / "d")
        assert not (parent / "d").exists()
        return str(caught.value)

    assert "observation.images.head.mp4 is missing" in damaged(lambda f: (f / f"{samples.HEAD}.mp4").unlink(), "a")
    assert "frames.parquet has changed since it was written" in damaged(
        lambda f: (f / "frames.parquet").write_bytes((f / "frames.parquet").read_bytes()[:-9]), "b"
    )
    assert "states.npz has changed since it was written" in damaged(
        lambda f: (f / "states.npz").write_bytes(b"PK"), "c"
    )
    assert "episode.json is not valid JSON" in damaged(lambda f: (f / "episode.json").write_text("{"), "d")


def test_episodes_with_different_features_are_not_mixed(samples, tmp_path: Path) -> None:
    samples.make_episode(tmp_path, 0)
    other = FeatureTable(fps=30, features=(column_feature("observation.state", ["a", "b", "c", "d"]),))
    samples.make_episode(tmp_path, 1, table=other)
    with pytest.raises(FileError, match=r"cannot share a dataset: feature 'observation\.state'"):
        merge_episodes(find_episodes([tmp_path]), tmp_path / "d")


def test_nothing_to_merge_says_so(shards: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no successful episode"):
        merge_episodes(find_episodes([shards])[2:3], tmp_path / "d")
    first = find_episodes([shards])[0]
    with pytest.raises(InputError, match="are the same episode"):
        merge_episodes([first, first], tmp_path / "d")


def test_video_files_are_short_enough_for_readers_that_compare_times_as_float32() -> None:
    """LeRobot adds an episode's start to a frame's float32 time, rounds to float32 and allows 0.1 ms to the video's."""

    def worst(start_s: int, duration_s: int, fps: int) -> float:
        first, frames = start_s * fps, np.arange(duration_s * fps)
        asked = (first / fps + (frames / fps).astype(np.float32).astype(float)).astype(np.float32)
        return float(np.abs(asked - ((first + frames) / fps).astype(np.float32)).max())

    limit = int(MergeOptions().video_files_duration_s)
    for fps in (10, 15, 20, 30, 50, 60):
        assert max(worst(start, limit - start, fps) for start in range(0, limit, 90)) < 1e-4
    assert worst(3000, 600, 30) > 1e-4


@pytest.mark.skipif(os.name == "nt", reason="limits on file sizes are a Unix thing")
def test_a_merge_onto_a_full_disk_is_reported_and_goes_on_later(shards: Path, dataset: Path, tmp_path: Path) -> None:
    # A limit on the size of files makes the system refuse writes as a full disk does, without filling one.
    script = """
import resource, signal, sys
from pathlib import Path
from handloom.dataset import find_episodes, merge_episodes
from handloom.errors import FileError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), int(sys.argv[3])))
try:
    merge_episodes(find_episodes([Path(sys.argv[1])]), Path(sys.argv[2]))
except FileError as error:
    sys.stdout.write(str(error))
"""
    for size, file in (
        (2_000, "data/chunk-000/file-000.parquet"),
        (12_000, "meta/episodes/chunk-000/file-000.parquet"),
    ):
        command = [sys.executable, "-c", script, str(shards), str(tmp_path / "d"), str(size)]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        assert "cannot write" in run.stdout
        assert file in run.stdout
        assert "file size" in run.stdout
        assert not (tmp_path / "d").exists()
    merge_episodes(find_episodes([shards]), tmp_path / "d")
    assert contents(tmp_path / "d") == contents(dataset)


def test_an_output_that_cannot_be_written_is_named(shards: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="a part of the path is a file, not a folder"):
        merge_episodes(find_episodes([shards]), tmp_path / "file" / "d")
