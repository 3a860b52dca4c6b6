"""Small datasets to look at: ours, one of somebody else, one with ten thousand episodes."""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

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
from handloom.viewer.library import Library
from handloom.viewer.view_app import ViewOptions, view_server
from handloom.web import Request, Response, WebServer
from handloom.web.web_app import called

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

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


def write_episode(parent: Path, index: int, *, length: int = 20, success: bool = True, **changes: Any) -> None:
    """Write an episode in which the gripper closes in the middle."""
    state = np.zeros((length, 3), np.float32)
    state[:, 0] = np.sin(np.arange(length) / 9 + index)
    state[length // 2 :, 2] = 1.0
    archive = EpisodeArchive.made_here(
        instance={"index": index},
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


@pytest.fixture(scope="session")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of ours with colours, depth and ids."""
    return write_dataset(tmp_path_factory.mktemp("ours") / "cubes")


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of somebody else."""
    return write_plain_dataset(tmp_path_factory.mktemp("plain") / "towels")


@dataclass
class Asked:
    """Calls handlers as the server does, without one."""

    server: WebServer

    def __call__(self, path: str, method: str = "GET", **more: Any) -> Response:
        app = self.server.app
        for route in app.routes:
            if route.method == method and (places := route.places(path)) is not None:
                return called(route.handler, Request(method=method, path=path, places=places, **more))
        raise AssertionError(f"no route for {path}")

    def json(self, path: str, method: str = "GET", **more: Any) -> Any:
        answer = self(path, method, **more)
        assert isinstance(answer.body, bytes)
        assert answer.status == 200, answer.body
        return json.loads(answer.body)


@pytest.fixture
def asked() -> Iterator[Callable[..., Asked]]:
    """Return a function that opens paths and answers their requests."""
    opened: list[WebServer] = []

    def open_paths(*paths: Path, edit: bool = False, **options: Any) -> Asked:
        server = view_server(Library(paths), ViewOptions(edit=edit, **options))
        opened.append(server)
        return Asked(server)

    yield open_paths
    for server in opened:
        server.app.close()
        server.loop.close()
