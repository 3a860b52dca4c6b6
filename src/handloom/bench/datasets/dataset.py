"""``bench dataset``: encoding, writing, merging and reading episodes, compared with LeRobot's encoder settings."""

import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from handloom.bench.result import BenchResult
from handloom.dataset import (
    DatasetReader,
    EpisodeArchive,
    EpisodeOutcome,
    EpisodeWriter,
    FeatureTable,
    column_feature,
    find_episodes,
    folder_name,
    merge_episodes,
    video_feature,
)
from handloom.dataset.video.video_reader import read_frames
from handloom.dataset.video.video_writer import VideoWriter, quiet_encoder

SIZE, FPS, FRAMES = 224, 30, 150
JOINTS = [f"joint{i}" for i in range(8)]
CAMERA = "observation.images.head"


def run(*, episodes: int = 6) -> BenchResult:
    """Measure in CPU time, so that waiting for the disk or for other programs does not count.

    Args:
        episodes: Number of episodes of 5 s to write and merge.
    """
    images = _scene()
    with tempfile.TemporaryDirectory() as folder:
        parent = Path(folder)
        rows = [_encoded(parent, images, codec) for codec in ("h264", "av1")]
        rows.append(_peer(parent, images))
        rows += _dataset(parent, images, episodes)
    return BenchResult(bench="dataset", rows=tuple(rows))


def _scene() -> list[NDArray[np.uint8]]:
    """Return smoothly changing images with a sharp-edged object, like those of a rendered scene."""
    y, x = np.mgrid[:SIZE, :SIZE]
    images = []
    for frame in range(FRAMES):
        shade = 120 + 60 * np.sin((x + frame) / 37) * np.cos(y / 43)
        image = (shade[..., None] * [1.0, 0.95, 0.85]).astype(np.uint8)
        image[60:110, 20 + frame // 2 : 70 + frame // 2] = (190, 60, 50)
        images.append(image)
    return images


def _cpu_seconds(work: Callable[[], Any], *, repeats: int = 3) -> float:
    """Return the minimum CPU time of a few runs [s]."""
    least = float("inf")
    for _ in range(repeats):
        begin = time.process_time()
        work()
        least = min(least, time.process_time() - begin)
    return least


def _figures(name: str, seconds: float, path: Path, images: list[NDArray[np.uint8]]) -> dict[str, Any]:
    """Return the figures of an encoder's row."""
    feature = video_feature(CAMERA, height=SIZE, width=SIZE)
    decoded = read_frames(path, feature, fps=FPS)
    error = np.mean([np.abs(a.astype(float) - b).mean() for a, b in zip(decoded, images, strict=True)])
    return {
        "name": name,
        "encode_cpu_ms_per_frame": 1e3 * seconds / FRAMES,
        "kB_per_frame": path.stat().st_size / FRAMES / 1e3,
        "mean_error_of_255": float(error),
    }


def _encoded(parent: Path, images: list[NDArray[np.uint8]], codec: str) -> dict[str, Any]:
    """Encode with one of our codecs."""
    path = parent / f"{codec}.mp4"

    def work() -> None:
        with VideoWriter(path, video_feature(CAMERA, height=SIZE, width=SIZE, codec=codec), fps=FPS) as video:
            for image in images:
                video.add(image)

    work()
    return _figures(f"handloom {codec}", _cpu_seconds(work), path, images)


def _peer(parent: Path, images: list[NDArray[np.uint8]]) -> dict[str, Any]:
    """Encode as LeRobot does by default: SVT-AV1, preset 12, quality 30, a keyframe every second frame."""
    path = parent / "peer.mp4"

    def work() -> None:
        with quiet_encoder(), av.open(str(path), "w") as container:
            options = {"preset": "12", "crf": "30", "g": "2"}
            stream: Any = container.add_stream("libsvtav1", rate=FPS, options=options)
            stream.width = stream.height = SIZE
            stream.pix_fmt = "yuv420p"
            for number, image in enumerate(images):
                frame = av.VideoFrame.from_ndarray(image, format="rgb24")
                frame.pts, frame.time_base = number, Fraction(1, FPS)
                container.mux(stream.encode(frame))
            container.mux(stream.encode(None))

    return _figures("LeRobot's encoder settings", _cpu_seconds(work), path, images)


def _dataset(parent: Path, images: list[NDArray[np.uint8]], episodes: int) -> list[dict[str, Any]]:
    """Write, merge and read a small dataset."""
    table = FeatureTable(
        fps=FPS,
        features=(
            column_feature("observation.state", JOINTS),
            column_feature("action", JOINTS),
            video_feature(CAMERA, height=SIZE, width=SIZE),
        ),
    )
    finishing = [_written(parent / "episodes", table, images, number) for number in range(episodes)]
    begin = time.process_time()
    dataset = DatasetReader(merge_episodes(find_episodes([parent / "episodes"]), parent / "dataset"))
    merging = time.process_time() - begin
    places = np.random.default_rng(0).integers(0, [episodes, FRAMES], size=(40, 2))
    reading = _cpu_seconds(lambda: [dataset.image(int(e), CAMERA, int(f)) for e, f in places])
    seconds = FRAMES / FPS
    return [
        {"name": "handloom finish an episode", "cpu_ms_per_simulated_s": 1e3 * float(np.median(finishing)) / seconds},
        {"name": "handloom merge", "cpu_ms_per_simulated_s": 1e3 * merging / episodes / seconds},
        {"name": "handloom read one frame", "cpu_ms": 1e3 * reading / len(places)},
    ]


def _written(parent: Path, table: FeatureTable, images: list[NDArray[np.uint8]], number: int) -> float:
    """Write one episode; return the CPU time of everything except the encoding [s]."""
    states = np.random.default_rng(number).normal(size=(FRAMES + 1, 100)).cumsum(axis=0)
    outcome = EpisodeOutcome(index=number, task="pick the cube", success=True, seed=0, robot="fr3")
    with EpisodeWriter(parent / folder_name(number), table) as episode:
        for image in images:
            episode.add_image(CAMERA, image)
        begin = time.process_time()
        archive = EpisodeArchive.made_here(
            instance={"number": number},
            commands={"applied": states[:-1, :8]},
            states={"integration": states},
            timeline={},
        )
        columns = {"observation.state": states[:-1, :8], "action": states[1:, :8]}
        episode.finish(outcome, columns, archive)
        return time.process_time() - begin
