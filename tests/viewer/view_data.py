"""Small datasets to look at: ours, one of somebody else, one with ten thousand episodes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from handloom.dataset import (
    EpisodeArchive,
    EpisodeOutcome,
    EpisodeWriter,
    FeatureTable,
    Segment,
    column_feature,
    folder_name,
    merge_episodes,
    video_feature,
)
from handloom.dataset.files.durable import write_json
from handloom.engine import merge_run
from handloom.engine.policy.evaluation import evaluation_of
from handloom.engine.runs.journal import Receipt
from handloom.engine.runs.run_directory import RunDirectory
from handloom.engine.runs.run_settings import RunSettings
from handloom.tasks import load_task

JOINTS = ["shoulder", "elbow", "gripper"]
HEAD, DEPTH, IDS = "observation.images.head", "observation.images.head_depth", "observation.images.head_ids"
TABLE = FeatureTable(
    fps=30,
    features=(
        column_feature("observation.state", JOINTS),
        column_feature("action", JOINTS),
        video_feature(HEAD, height=48, width=64),
        video_feature(DEPTH, height=48, width=64, codec="depth"),
        video_feature(IDS, height=48, width=64, codec="segmentation"),
    ),
)
REASONS = ("not_grasped", "goal_unreachable")


def picture(index: int, frame: int) -> np.ndarray:
    """Return a picture whose brightness tells the frame and whose tint tells the episode."""
    image = np.full((48, 64, 3), 40 + 3 * (frame % 60), np.uint8)
    image[:, : 8 + 5 * (index % 8)] //= 2
    return image


def write_episode(
    parent: Path,
    index: int,
    *,
    length: int = 20,
    success: bool = True,
    instance: dict[str, Any] | None = None,
    **changes: Any,
) -> None:
    """Write an episode in which the gripper closes in the middle."""
    state = np.zeros((length, 3), np.float32)
    state[:, 0] = np.sin(np.arange(length) / 9 + index)
    state[length // 2 :, 2] = 1.0
    archive = EpisodeArchive.made_here(
        instance={"index": index} if instance is None else instance,
        commands={"applied": state.astype(np.float64)},
        states={"integration": np.random.default_rng(index).normal(size=(length, 5))},
        timeline={"model_hash": "0", "spans": [], "failure": None},
    )
    facts = {
        "index": index,
        "task": f"put the {['red', 'blue', 'green'][index % 3]} cube away",
        "success": success,
        "failure_reason": None if success else REASONS[index % 2],
        "seed": 7,
        "robot": ["fr3", "so101"][index % 2],
        "segments": (Segment(label="reach", start=0, stop=8), Segment(label="grasp", start=8, stop=length)),
        "columns": {"task_name": "tidy", "recovery": index == 2, "state_hash": f"{index:064x}"},
    }
    with EpisodeWriter(parent / folder_name(index), TABLE) as episode:
        for frame in range(length):
            episode.add_image(HEAD, picture(index, frame))
            episode.add_image(DEPTH, np.full((48, 64), 0.5 + 0.01 * frame, np.float32))
            episode.add_image(IDS, np.full((48, 64), frame % 5, np.uint8))
        columns = {"observation.state": state, "action": state}
        episode.finish(EpisodeOutcome(**{**facts, **changes}), columns, archive)


def write_dataset(root: Path, count: int = 6, *, first: int = 0, success: bool = True, **changes: Any) -> Path:
    """Write a dataset of our own."""
    folder = root.with_name(f"{root.name}_episodes")
    for index in range(first, first + count):
        write_episode(folder, index, length=20 + 5 * (index % 4), success=success, **changes)
    return merge_episodes(sorted(folder.iterdir()), root, success=success)


def write_video(path: Path, frames: int, *, fps: int = 10) -> None:
    """Write a video as others do: no keyframe but the first of every ten."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=fps, options={"g": "10", "bf": "0"})
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for frame in range(frames):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture(0, frame), format="rgb24")))
        container.mux(stream.encode(None))


def write_plain_dataset(root: Path, count: int = 3, *, words: Callable[[int], str] = lambda index: "fold") -> Path:
    """Write a LeRobot v3 dataset without a single column of ours, all episodes in one video file."""
    length, fps = 30, 10
    features = {
        "observation.state": {"dtype": "float32", "shape": [2], "names": {"motors": ["pan", "tilt"]}},
        "action": {"dtype": "float64", "shape": [2], "names": None},
        "observation.images.top": {
            "dtype": "video",
            "shape": [3, 48, 64],
            "names": ["channels", "height", "width"],
            "info": {"video.codec": "h264", "video.fps": fps},
        },
    }
    info = {
        "codebase_version": "v3.0",
        "robot_type": "koch",
        "total_episodes": count,
        "total_frames": count * length,
        "fps": fps,
        "features": features,
    }
    rows = {
        "episode_index": list(range(count)),
        "tasks": [[words(index)] for index in range(count)],
        "length": [length] * count,
        "data/chunk_index": [0] * count,
        "data/file_index": [0] * count,
        "dataset_from_index": [length * index for index in range(count)],
        "dataset_to_index": [length * (index + 1) for index in range(count)],
        "videos/observation.images.top/chunk_index": [0] * count,
        "videos/observation.images.top/file_index": [0] * count,
        "videos/observation.images.top/from_timestamp": [index % 3 * length / fps for index in range(count)],
        "videos/observation.images.top/to_timestamp": [(index % 3 + 1) * length / fps for index in range(count)],
    }
    for folder in ("meta/episodes/chunk-000", "data/chunk-000"):
        (root / folder).mkdir(parents=True)
    (root / "meta" / "info.json").write_text(json.dumps(info), encoding="utf-8")
    pq.write_table(pa.table(rows), root / "meta" / "episodes" / "chunk-000" / "file-000.parquet")
    kept = min(count, 3)
    values = np.arange(2 * kept * length, dtype=np.float64).reshape(-1, 2)
    frames = {"observation.state": list(values.astype(np.float32)), "action": list(values)}
    pq.write_table(pa.table(frames), root / "data" / "chunk-000" / "file-000.parquet", row_group_size=17)
    write_video(root / "videos" / "observation.images.top" / "chunk-000" / "file-000.mp4", kept * length)
    return root


def write_evaluation(root: Path, *, wins: Callable[[int], bool], scenes: int = 8, seed: int = 99) -> Path:
    """Write the folder of an evaluation whose cube lies further right in later scenes and changes its colour."""
    settings = RunSettings.of_task(load_task("fr3_pick_cube"), seed=seed, unit_size=1, keep_failures=True)
    run = RunDirectory.begin(root, settings)
    for index in range(scenes):
        cube = {"name": "cube", "position": [0.05 * index, -0.1, 0.8], "quat": [1.0, 0.0, 0.0, 0.0]}
        instance = {"objects": [{**cube, "words": ["red cube", "blue cube"][index % 2], "fixed": False}]}
        write_episode(run.episodes, index, success=wins(index), instance=instance)
        stage, reason = ("", "") if wins(index) else ("success", "not_lifted")
        receipt = Receipt(
            episode=index, success=wins(index), frames=20, stage=stage, reason=reason, skills={"pick": 0.5}
        )
        run.journal(index).append(receipt)
    merge_run(run, run.receipts())
    run.note_finished(scenes)
    write_json(root / "evaluation.json", evaluation_of(run.receipts().values(), seed=seed).to_json())
    return root
