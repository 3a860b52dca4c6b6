"""Read a dataset with the real lerobot package and print what it returns, as JSON and an NPZ file.

Run by ``test_lerobot_reader.py`` with another interpreter: lerobot needs torch, which Handloom does not.
Usage: ``python read_with_lerobot.py DATASET OUT.npz CAMERA FPS``.
"""

import json
import os
import sys

os.environ["HF_HUB_OFFLINE"] = "1"

from typing import Any

import numpy as np


def make_torchvision_importable() -> None:
    """Stand in for the two things lerobot 0.4.4 expects of an older torchvision.

    The wheel on PyPI is built for CUDA, so beside a CPU torch its operators are missing; and ``io.VideoReader``,
    which lerobot's ``pyav`` backend calls, is gone.
    """
    import torch

    if torch.version.cuda is None:
        library = torch.library.Library("torchvision", "DEF")
        for operator in ("nms", "qnms"):
            library.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        KEPT.append(library)
    import torchvision.io

    if not hasattr(torchvision.io, "VideoReader"):
        torchvision.io.VideoReader = VideoReader


KEPT: list[Any] = []
"""A torch library forgets its operators when it is collected."""


class VideoReader:
    """Seek to the keyframe before a time, then return frame after frame."""

    def __init__(self, source: str, stream: str = "video") -> None:
        import av

        self.container = av.open(source)
        self._stream = self.container.streams.video[0]
        self._frames: Any = None

    def seek(self, time_s: float, keyframes_only: bool = False) -> "VideoReader":
        """Go to the last keyframe that is not later."""
        self.container.seek(int(time_s / self._stream.time_base), stream=self._stream, backward=True)
        return self

    def __iter__(self) -> "VideoReader":
        return self

    def __next__(self) -> dict[str, Any]:
        import torch

        if self._frames is None:
            self._frames = self.container.decode(video=0)
        frame = next(self._frames)
        pixels = torch.from_numpy(frame.to_ndarray(format="rgb24")).permute(2, 0, 1)
        return {"data": pixels, "pts": float(frame.pts * self._stream.time_base)}


def pixels_of(image: Any) -> np.ndarray:
    """Return a picture (3, h, w) in [0, 1] as (h, w, 3) uint8."""
    return (image.numpy().transpose(1, 2, 0) * 255).round().astype(np.uint8)


def main(root: str, out: str, camera: str, fps: float) -> None:
    """Read every frame, a window of frames, batches, and one episode on its own."""
    make_torchvision_importable()
    import torch
    from lerobot.datasets.lerobot_dataset import LeRobotDataset

    plain = LeRobotDataset("local/test", root=root, video_backend="pyav")
    items = [plain[i] for i in range(len(plain))]
    window = {"action": [i / fps for i in range(8)], camera: [-1 / fps, 0.0]}
    windowed = LeRobotDataset("local/test", root=root, video_backend="pyav", delta_timestamps=window)
    batches = torch.utils.data.DataLoader(windowed, batch_size=16, num_workers=0)
    subset = LeRobotDataset("local/test", root=root, video_backend="pyav", episodes=[1])
    np.savez(
        out,
        states=np.stack([item["observation.state"].numpy() for item in items]),
        actions=np.stack([item["action"].numpy() for item in items]),
        images=np.stack([pixels_of(item[camera]) for item in items]),
        previous=np.stack([pixels_of(windowed[i][camera][0]) for i in range(len(items))]),
        future=np.stack([windowed[i]["action"].numpy() for i in range(len(items))]),
        subset_states=np.stack([subset[i]["observation.state"].numpy() for i in range(len(subset))]),
        subset_images=np.stack([pixels_of(subset[i][camera]) for i in range(len(subset))]),
    )
    facts = {
        "episodes": plain.num_episodes,
        "frames": plain.num_frames,
        "fps": plain.fps,
        "tasks": [item["task"] for item in items],
        "subtasks": [item.get("subtask", "") for item in items],
        "batches": [(tuple(batch["action"].shape), tuple(batch[camera].shape)) for batch in batches],
        "success": list(plain.meta.episodes["success"]),
    }
    sys.stdout.write(json.dumps(facts) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]))
