"""A dataset as we write it is sound; every kind of damage is found and named. No torch needed."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from handloom.dataset import FeatureTable, MergeOptions, check_layout, find_episodes, merge_episodes, video_feature
from handloom.dataset.video.video_writer import VideoWriter

HEAD = "observation.images.head"


@pytest.fixture(scope="module")
def sound(shards: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return merge_episodes(find_episodes([shards]), tmp_path_factory.mktemp("sound") / "dataset")


@pytest.mark.parametrize(
    "options",
    [
        MergeOptions(),
        MergeOptions(chunks_size=2, data_files_size_in_mb=0.001, video_files_duration_s=0.5),
        MergeOptions(language=True),
    ],
    ids=["plain", "many files", "language"],
)
def test_a_dataset_as_written_has_no_fault(shards: Path, tmp_path: Path, options: MergeOptions) -> None:
    assert check_layout(merge_episodes(find_episodes([shards]), tmp_path / "d", options=options)) == ()


def test_failures_and_plain_columns_have_no_fault_either(shards: Path, samples, tmp_path: Path) -> None:
    assert check_layout(merge_episodes(find_episodes([shards]), tmp_path / "failed", success=False)) == ()
    samples.make_episode(tmp_path, 0, table=FeatureTable(fps=30, features=samples.TABLE.columns), segments=())
    assert check_layout(merge_episodes(find_episodes([tmp_path]), tmp_path / "plain")) == ()


def edit_info(change: Callable[[dict], object]) -> Callable[[Path], None]:
    def edit(root: Path) -> None:
        path = root / "meta/info.json"
        info = json.loads(path.read_text())
        change(info)
        path.write_text(json.dumps(info))

    return edit


def edit_table(name: str, change: Callable[[pa.Table], pa.Table], *, rows: int = 10**6) -> Callable[[Path], None]:
    def edit(root: Path) -> None:
        path = root / name
        pq.write_table(change(pq.read_table(path)), path, row_group_size=rows)

    return edit


def with_column(name: str, values: Callable[[np.ndarray], np.ndarray]) -> Callable[[pa.Table], pa.Table]:
    def change(table: pa.Table) -> pa.Table:
        place, column = table.schema.get_field_index(name), table.column(name)
        return table.set_column(place, name, pa.array(values(column.to_numpy().copy()), column.type))

    return change


def shifted_after(row: int) -> Callable[[np.ndarray], np.ndarray]:
    return lambda values: values + (np.arange(len(values)) >= row).astype(values.dtype)


def replace_video(**changes: object) -> Callable[[Path], None]:
    def edit(root: Path) -> None:
        feature = video_feature(HEAD, height=changes.get("height", 48), width=64, codec=changes.get("codec", "h264"))
        with VideoWriter(root / VIDEO, feature, fps=changes.get("fps", 30)) as video:
            for _ in range(changes.get("frames", 33)):
                video.add(np.zeros((feature.shape[0], 64, 3), np.uint8))

    return edit


VIDEO = f"videos/{HEAD}/chunk-000/file-000.mp4"
DATA, EPISODES = "data/chunk-000/file-000.parquet", "meta/episodes/chunk-000/file-000.parquet"
DAMAGES = {
    "total": (edit_info(lambda i: i.update(total_frames=34)), "total_frames is 34, should be 33"),
    "version": (edit_info(lambda i: i.update(codebase_version="v2.1")), "has the format 'v2.1'"),
    "splits": (edit_info(lambda i: i.update(splits={})), "splits is {}"),
    "path": (edit_info(lambda i: i.update(data_path="data/{episode}.parquet")), "data_path is"),
    "robot": (edit_info(lambda i: i.pop("robot_type")), "robot_type is missing"),
    "size": (edit_info(lambda i: i["features"][HEAD]["info"].update({"video.width": 60})), "video.width is 60"),
    "wrong dtype": (edit_info(lambda i: i["features"]["action"].update(shape=[5], names=None)), "action must be"),
    "timestamps": (edit_table(DATA, with_column("timestamp", lambda v: v * 2)), "row groups and episodes do not match"),
    "gap": (edit_table(EPISODES, with_column("episode_index", shifted_after(2))), "row 2 is episode 3"),
    "lengths": (edit_table(EPISODES, with_column("length", shifted_after(3))), "does not match its end"),
    "statistics column": (edit_table(EPISODES, lambda t: t.drop_columns(["stats/action/q99"])), "stats/action/q99"),
    "cut short": (lambda r: (r / DATA).write_bytes((r / DATA).read_bytes()[:-20]), "damaged or cut short"),
    "no data": (lambda r: (r / DATA).unlink(), "file-000.parquet is missing"),
    "tasks": (edit_table("meta/tasks.parquet", with_column("task_index", lambda v: v + 1)), "must count from 0"),
    "pandas": (edit_table("meta/tasks.parquet", lambda t: t.replace_schema_metadata()), "pandas index column"),
    "no video": (lambda r: (r / VIDEO).unlink(), "render its episodes again"),
    "damaged video": (
        lambda r: (r / VIDEO).write_bytes(b"x"),
        "not a readable video",
    ),
    "short video": (replace_video(frames=32), "has 32 frames, its episodes 33"),
    "slow video": (replace_video(fps=15), "frames are not exactly 1/30 s apart"),
    "keyframes": (replace_video(), "episode 2 does not start with a keyframe"),
    "codec": (replace_video(codec="av1"), "is stored as (48, 64, 'av1', 'yuv420p')"),
    "video size": (replace_video(height=64), "is stored as (64, 64, 'h264', 'yuv420p')"),
    "archive": (lambda r: (r / "extras/episode_000002/states.npz").unlink(), "lacks states.npz"),
    "sheet": (lambda r: (r / "extras/episode_000002/episode.json").unlink(), "lacks episode.json"),
    "unfinished": (lambda r: (r / "data/x.parquet.partial").write_text(""), "is unfinished"),
    "no stats": (lambda r: (r / "meta/stats.json").write_text("{}"), "observation.state needs min, max"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_found_and_named(sound: Path, tmp_path: Path, damage: str) -> None:
    root = tmp_path / "dataset"
    shutil.copytree(sound, root)
    change, words = DAMAGES[damage]
    change(root)
    faults = [str(fault) for fault in check_layout(root)]
    assert any(words in fault for fault in faults), faults


@pytest.mark.parametrize("name", ["timestamp", "frame_index", "episode_index", "index", "task_index"])
def test_a_wrong_number_in_one_frame_is_found(sound: Path, tmp_path: Path, name: str) -> None:
    root = tmp_path / "dataset"
    shutil.copytree(sound, root)
    table = with_column(name, lambda v: np.where(np.arange(len(v)) == 20, v + 1, v).astype(v.dtype))(
        pq.read_table(root / DATA)
    )
    with pq.ParquetWriter(root / DATA, table.schema) as writer:
        for start, length in ((0, 6), (6, 7), (13, 9), (22, 11)):
            writer.write_table(table.slice(start, length), row_group_size=length)
    faults = [str(fault) for fault in check_layout(root)]
    assert len(faults) == 2
    assert f"{name} of episode 2" in faults[0]
    assert "was changed after it was written" in faults[1]


def test_a_changed_byte_in_any_file_is_found_and_never_a_traceback(sound: Path, tmp_path: Path) -> None:
    root = tmp_path / "dataset"
    shutil.copytree(sound, root)
    rng = np.random.default_rng(0)
    for file in sorted(f for f in root.rglob("*") if f.is_file() and f.name != "files.json"):
        whole = file.read_bytes()
        changed = bytearray(whole)
        changed[rng.integers(len(changed))] ^= 1 << int(rng.integers(8))
        for damaged in (bytes(changed), whole[: rng.integers(len(whole))]):
            file.write_bytes(damaged)
            faults = check_layout(root)
            assert any(file.name in fault.file or file.name in fault.problem for fault in faults), file
        file.write_bytes(whole)
    assert check_layout(root) == ()
