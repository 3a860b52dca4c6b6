"""LeRobot v3 without Handloom's extras, and LeRobot v2.1, whose readers need one file per episode."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from handloom.dataset.files.durable import atomic_folder, json_bytes, link_or_copy
from handloom.dataset.files.parquet_files import open_parquet
from handloom.dataset.files.reading import damage_named
from handloom.dataset.lerobot.dataset_reader import DatasetReader
from handloom.dataset.lerobot.tables import LANGUAGE_COLUMNS
from handloom.dataset.video.video_join import cut_video
from handloom.errors import FileError

PLAIN_META = ("info.json", "stats.json", "tasks.parquet", "subtasks.parquet")
"""Files of ``meta/`` that belong to the format; the others are Handloom's."""
DATA_PATH = "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet"
VIDEO_PATH = "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4"
CHUNK = 1000
STATISTICS = ("min", "max", "mean", "std", "count")
"""Statistics that v2.1 stores for every episode."""


def export_lerobot_v3(dataset: DatasetReader, out: Path) -> Path:
    """Write the dataset without archives, lists and hashes, for training on another machine.

    Args:
        dataset: The dataset.
        out: Folder to write; it must not exist.
    """
    refuse_existing(out)
    with atomic_folder(out) as work, damage_named(dataset.root):
        for name in PLAIN_META:
            if (dataset.root / "meta" / name).is_file():
                link_or_copy(dataset.root / "meta" / name, work / "meta" / name)
        for folder in ("data", "videos", "meta/episodes"):
            for file in sorted((dataset.root / folder).rglob("*")):
                if file.suffix in (".parquet", ".mp4"):
                    target = work / file.relative_to(dataset.root)
                    link_or_copy(file, target)
    return out


def export_lerobot_v21(dataset: DatasetReader, out: Path) -> Path:
    """Write the dataset in the layout v2.1: one file per episode and camera, without re-encoding.

    Args:
        dataset: The dataset.
        out: Folder to write; it must not exist.
    """
    refuse_existing(out)
    cameras = [feature.name for feature in dataset.table.videos]
    with atomic_folder(out) as work, damage_named(dataset.root):
        for index in range(len(dataset.episodes)):
            _write_episode(dataset, index, work, cameras)
        meta = work / "meta"
        meta.mkdir(parents=True, exist_ok=True)
        (meta / "info.json").write_bytes(json_bytes(_info(dataset, cameras), indent=4))
        tasks = ({"task_index": number, "task": task} for number, task in enumerate(dataset.tasks))
        episodes = (
            {"episode_index": e.index, "tasks": list(e.tasks), "length": e.length, "success": e.columns.get("success")}
            for e in dataset.episodes
        )
        for name, rows in (("tasks", tasks), ("episodes", episodes), ("episodes_stats", episode_statistics(dataset))):
            with (meta / f"{name}.jsonl").open("wb") as file:
                file.writelines(json_bytes(row).rstrip() + b"\n" for row in rows)
    return out


def refuse_existing(out: Path) -> None:
    """Refuse to overwrite existing files."""
    if out.exists():
        raise FileError(f"{out} exists; choose another name or remove it")


def _write_episode(dataset: DatasetReader, index: int, work: Path, cameras: list[str]) -> None:
    place = {"episode_chunk": index // CHUNK, "episode_index": index}
    file = work / DATA_PATH.format(**place)
    file.parent.mkdir(parents=True, exist_ok=True)
    rows = dataset.rows(index)
    pq.write_table(rows.drop([name for name in LANGUAGE_COLUMNS if name in rows.column_names]), file)
    for camera in cameras:
        video = work / VIDEO_PATH.format(video_key=camera, **place)
        video.parent.mkdir(parents=True, exist_ok=True)
        start, length = dataset.first_video_frame(index, camera), dataset.episode(index).length
        cut_video(dataset.video_path(index, camera), video, start=start, length=length, fps=dataset.fps)


def _info(dataset: DatasetReader, cameras: list[str]) -> dict[str, Any]:
    count = len(dataset.episodes)
    info = {k: v for k, v in dataset.info.items() if k not in ("data_files_size_in_mb", "video_files_size_in_mb")}
    features = {name: value for name, value in info["features"].items() if value["dtype"] != "language"}
    return {
        **info,
        "codebase_version": "v2.1",
        "total_videos": count * len(cameras),
        "total_chunks": (count + CHUNK - 1) // CHUNK,
        "chunks_size": CHUNK,
        "data_path": DATA_PATH,
        "video_path": VIDEO_PATH if cameras else None,
        "features": features,
    }


def episode_statistics(dataset: DatasetReader) -> Iterator[dict[str, Any]]:
    """Yield the statistics of every episode, by feature."""
    for path in sorted((dataset.root / "meta" / "episodes").glob("*/*.parquet")):
        with damage_named(path), open_parquet(path) as file:
            names = [name for name in file.schema_arrow.names if name.startswith("stats/")]
            names = [name for name in names if name.rpartition("/")[2] in STATISTICS]
            for batch in file.iter_batches(batch_size=100, columns=["episode_index", *names], use_threads=False):
                yield from (_statistics_row(row) for row in pa.Table.from_batches([batch]).to_pylist())


def _statistics_row(row: dict[str, Any]) -> dict[str, Any]:
    stats: dict[str, dict[str, Any]] = {}
    for name, value in row.items():
        if name != "episode_index":
            feature, _, statistic = name.removeprefix("stats/").rpartition("/")
            stats.setdefault(feature, {})[statistic] = value
    return {"episode_index": row["episode_index"], "stats": stats}
