"""``bench labels``: cost of labels on top of rendering and encoding the same episode."""

import tempfile
import time
from pathlib import Path
from typing import Any

from handloom.bench.result import BenchResult
from handloom.dataset.video.video_writer import VideoWriter
from handloom.engine.attempt import Stopwatch, simulate
from handloom.episode.columns import image_name, rendered_frames, video_features
from handloom.labels import EpisodeLabeller
from handloom.labels.kinds import KINDS, SPARSE
from handloom.scene import Scene
from handloom.tasks import load_task
from handloom.values import EpisodeRecord

TASKS = ("fr3_pick_place", "fr3_store_fruit", "lift2_dual_pick_place")
PRESET = "balanced"


def run(*, names: tuple[str, ...] = TASKS, seed: int = 0, rounds: int = 3) -> BenchResult:
    """Measure in CPU time of one core.

    Args:
        names: Tasks.
        seed: Seed of their first episode.
        rounds: Number of measurements, taken in turn; the minimum of each counts, since the machine may have other
            load.
    """
    kinds = {"": (), "all but images": SPARSE, "all": tuple(KINDS), "boxes and masks": ("boxes", "masks")}
    rows = []
    for name in names:
        scene, record = simulate(load_task(name), seed, 0, Stopwatch())
        images = len(record.kept) * len(record.instance.cameras)
        with tempfile.TemporaryDirectory() as folder:
            _measured(scene, record, tuple(KINDS), Path(folder))  # Compiles the kernels.
            measured = [
                {title: _measured(scene, record, chosen, Path(folder)) for title, chosen in kinds.items()}
                for _ in range(rounds)
            ]
        least = {title: min(figures[title] for figures in measured) for title in kinds}
        drawing, _ = least.pop("")
        rows += [
            {
                "name": f"handloom labels, {title}, {name}",
                "drawing_ms_per_image": 1e3 * drawing / images,
                "labels_ms_per_image": 1e3 * (with_labels - drawing) / images,
                "share_of_drawing": with_labels / drawing - 1.0,
                "kilobytes_per_image": size / images / 1e3,
            }
            for title, (with_labels, size) in least.items()
        ]
    return BenchResult(bench="labels", rows=tuple(rows))


def _measured(scene: Scene, record: EpisodeRecord, kinds: tuple[str, ...], folder: Path) -> tuple[float, int]:
    """Render and encode an episode with labels; return the CPU time [s] and the size of the labels in bytes."""
    for file in folder.iterdir():
        file.unlink()
    features = video_features(record.instance.cameras, "h264")
    begin = time.process_time()
    labeller = EpisodeLabeller(scene, record, kinds, folder) if kinds else None
    wanted: tuple[str, ...] = ("rgb", *(labeller.images if labeller else ()))
    videos: dict[str, Any] = {f.name: VideoWriter(folder / f"{f.name}.mp4", f, fps=30) for f in features}
    for number, images in enumerate(rendered_frames(scene, record, preset=PRESET, kinds=wanted)):
        if labeller is not None:
            labeller.add(number, images)
        for camera, drawn in images.items():
            videos[image_name(camera, "rgb")].add(drawn["rgb"])
    for video in videos.values():
        video.close()
    written = labeller.finish() if labeller else ()
    spent = time.process_time() - begin
    return spent, sum((folder / name).stat().st_size for name in written)
