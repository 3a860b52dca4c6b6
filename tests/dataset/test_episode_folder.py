"""Episode folders: whole or absent, exact, and honest about what is wrong."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from handloom.dataset import (
    EpisodeFolder,
    EpisodeOutcome,
    EpisodeWriter,
    FeatureTable,
    Segment,
    column_feature,
    find_episodes,
    remove_unfinished,
)
from handloom.dataset.files.parquet_files import numpy_column
from handloom.errors import FileError, InputError, StateError


def test_an_episode_comes_back_exactly(samples, tmp_path: Path) -> None:
    episode = samples.make_episode(tmp_path, 3, length=8)
    again = EpisodeFolder.open(episode.path)
    assert again.outcome == episode.outcome
    assert again.outcome.columns == {"distance_m": 0.75, "object": "cube"}
    assert (again.length, again.duration_s, again.table) == (8, 8 / 30, samples.TABLE)
    for name, values in samples.columns(3, 8).items():
        np.testing.assert_array_equal(numpy_column(again.frames(), name, "float32"), values)
    assert again.archive().instance["index"] == 3
    assert again.faults() == ()


def test_statistics_of_an_episode_are_numpys(samples, tmp_path: Path) -> None:
    statistics = samples.make_episode(tmp_path, 3, length=8).statistics
    state = samples.columns(3, 8)["observation.state"].astype(float)
    np.testing.assert_array_equal(statistics["observation.state"]["q10"], np.quantile(state, 0.1, axis=0))
    assert np.shape(statistics[samples.HEAD]["mean"]) == (3, 1, 1)


def test_leaving_early_leaves_nothing_behind(samples, tmp_path: Path) -> None:
    with EpisodeWriter(tmp_path / "episode_000000", samples.TABLE) as episode:
        episode.add_image(samples.HEAD, samples.picture(samples.HEAD, 0, 0))
        assert len(list(tmp_path.iterdir())) == 1
        assert find_episodes([tmp_path]) == ()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(StateError):
        episode.add_image(samples.HEAD, samples.picture(samples.HEAD, 0, 0))


def test_an_attempt_made_twice_stays_as_it_was(samples, tmp_path: Path) -> None:
    first = samples.make_episode(tmp_path, 0)
    inode = first.path.stat().st_ino
    samples.make_episode(tmp_path, 0)
    assert first.path.stat().st_ino == inode
    assert [p.name for p in tmp_path.iterdir()] == ["episode_000000"]


def test_an_attempt_finished_by_two_writers_at_once_is_there_once(samples, tmp_path: Path) -> None:
    table = FeatureTable(fps=30, features=samples.TABLE.columns)
    outcome = EpisodeOutcome(index=0, task="pick", success=True, seed=0, robot="fr3")
    with EpisodeWriter(tmp_path / "episode_000000", table) as first:
        with EpisodeWriter(tmp_path / "episode_000000", table) as second:
            second.finish(outcome, samples.columns(0, 5))
        first.finish(outcome, samples.columns(0, 5))
    assert [p.name for p in tmp_path.iterdir()] == ["episode_000000"]
    assert EpisodeFolder.open(tmp_path / "episode_000000").faults() == ()


def test_a_writer_killed_at_any_step_leaves_a_whole_episode_or_none(samples, tmp_path: Path) -> None:
    script = """
import os, signal, sys
sys.path.insert(0, sys.argv[3])
from pathlib import Path
import conftest
from handloom.dataset import FeatureTable
count, sync = 0, os.fsync
def dying(handle):
    global count
    count += 1
    if count == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    return sync(handle)
os.fsync = dying
conftest.make_episode(Path(sys.argv[1]), 0, length=4, table=FeatureTable(fps=30, features=conftest.TABLE.columns))
"""
    seen = []
    for step in (1, 7, 8, 9):
        parent = tmp_path / str(step)
        command = [sys.executable, "-c", script, str(parent), str(step), str(Path(__file__).parent)]
        run = subprocess.run(command, check=False)
        assert run.returncode in (0, -signal.SIGKILL)
        folders = find_episodes([parent])
        assert all(EpisodeFolder.open(folder).faults() == () for folder in folders)
        seen.append((run.returncode == 0, len(folders), remove_unfinished(parent)))
        assert len(list(parent.iterdir())) == len(folders)
    # Seven files, then the folder, are synced under the temporary name; then it is renamed and its parent synced.
    assert seen == [(False, 0, 1), (False, 0, 1), (False, 0, 1), (False, 1, 0)]


def test_a_changed_file_is_named(samples, tmp_path: Path) -> None:
    episode = samples.make_episode(tmp_path, 0)
    (episode.path / "commands.npz").write_bytes(b"nothing")
    (episode.path / f"{samples.WRIST}.mp4").unlink()
    faults = episode.faults()
    assert len(faults) == 2
    assert "commands.npz has changed since it was written" in faults[0]
    assert "observation.images.wrist.mp4 is missing" in faults[1]


def test_wrong_columns_are_refused(samples, tmp_path: Path) -> None:
    table = type(samples.TABLE)(fps=30, features=(column_feature("action", ["x", "y"]),))
    outcome = EpisodeOutcome(index=0, task="pick", success=True, seed=0, robot="fr3")

    def finish(columns: dict) -> str:
        with EpisodeWriter(tmp_path / "episode_000000", table) as episode, pytest.raises(InputError) as caught:
            episode.finish(outcome, columns)
        return str(caught.value)

    assert "expected shape (3, 2), got (3, 4)" in finish({"action": np.zeros((3, 4))})
    assert "entry 1 of frame 2 is nan" in finish({"action": np.array([[0, 0], [0, 0], [0, np.nan]])})
    assert "entry 0 of frame 0 is inf" in finish({"action": np.full((1, 2), 1e300)})
    assert "cannot store complex128 as float32" in finish({"action": np.zeros((3, 2), complex)})
    assert "got actoin" in finish({"actoin": np.zeros((3, 2))})
    assert "at least one frame" in finish({"action": np.zeros((0, 2))})
    assert list(tmp_path.iterdir()) == []


def test_images_must_match_the_frames(samples, tmp_path: Path) -> None:
    with EpisodeWriter(tmp_path / "episode_000000", samples.TABLE) as episode:
        episode.add_image(samples.HEAD, samples.picture(samples.HEAD, 0, 0))
        outcome = EpisodeOutcome(index=0, task="pick", success=True, seed=0, robot="fr3")
        with pytest.raises(InputError, match=r"'observation\.images\.head' has 1 images for 3 frames"):
            episode.finish(outcome, samples.columns(0, 3))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"success": False}, "a failure needs a reason"),
        ({"failure_reason": "slipped"}, "a success has none"),
        ({"task": " "}, "needs an instruction"),
        ({"seed": -1}, "must be >= 0"),
        ({"columns": {"seed": 1}}, "writes these episode columns itself: seed"),
        ({"columns": {"pose": [1, 2]}}, "must be a boolean, number or text"),
        ({"segments": (Segment(label="a", start=0, stop=4), Segment(label="b", start=3, stop=5))}, "not overlap"),
    ],
)
def test_contradictory_outcomes_are_refused(change: dict, message: str) -> None:
    facts = {"index": 0, "task": "pick", "success": True, "seed": 0, "robot": "fr3"}
    with pytest.raises(InputError, match=message):
        EpisodeOutcome(**{**facts, **change})


def test_an_unwritable_folder_says_what_to_do(samples, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="a part of the path is a file, not a folder"):
        EpisodeWriter(tmp_path / "file" / "x" / "episode_000000", samples.TABLE)


@pytest.mark.skipif(os.name == "nt", reason="limits on file sizes are a Unix thing")
def test_a_disk_that_takes_no_more_is_reported_and_leaves_nothing(tmp_path: Path) -> None:
    # A limit on the size of files makes the system refuse writes as a full disk does, without filling one.
    script = """
import resource, signal, sys
from pathlib import Path
import numpy as np
from handloom.dataset import *
from handloom.dataset.video.video_writer import VideoWriter
from handloom.errors import FileError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
video = sys.argv[2] == "video"
features = (column_feature("action", ["x", "y"]), video_feature("observation.images.a", height=64, width=64))
table = FeatureTable(fps=30, features=features if video else features[:1])
rng = np.random.default_rng(0)
with VideoWriter(Path(sys.argv[1]) / "x.mp4", features[1], fps=30) as first:
    first.add(np.zeros((64, 64, 3), np.uint8))  # Compiled before the limit is there: the cache must be writable.
first.path.unlink()
resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
try:
    with EpisodeWriter(Path(sys.argv[1]) / "episode_000000", table) as episode:
        for _ in range(100 if video else 0):
            episode.add_image("observation.images.a", rng.integers(0, 255, (64, 64, 3), dtype=np.uint8))
        outcome = EpisodeOutcome(index=0, task="pick", success=True, seed=0, robot="fr3")
        episode.finish(outcome, {"action": rng.normal(size=(100 if video else 20_000, 2))})
except FileError as error:
    sys.stdout.write(str(error))
"""
    for kind in ("video", "frames"):
        run = subprocess.run(
            [sys.executable, "-B", "-c", script, str(tmp_path), kind], capture_output=True, text=True, check=True
        )
        assert "cannot write" in run.stdout
        assert "exceed the allowed file size" in run.stdout
        assert list(tmp_path.iterdir()) == []
