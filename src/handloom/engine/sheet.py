"""A picture of a dataset: frames of its first episodes, side by side."""

from pathlib import Path

import numpy as np

from handloom.dataset import DatasetReader
from handloom.render import contact_sheet, write_png


def dataset_sheet(dataset: Path, out: Path, *, episodes: int = 5, per_camera: int = 4) -> Path:
    """Draw evenly spaced frames of every camera of the first episodes, one row per episode."""
    reader = DatasetReader(dataset)
    cameras = [feature.name for feature in reader.table.videos]
    images, labels = [], []
    for episode in reader.episodes[:episodes]:
        for camera in cameras:
            for frame in np.linspace(0, episode.length - 1, per_camera).round().astype(int):
                images.append(reader.image(episode.index, camera, int(frame)))
                labels.append(f"{episode.index}  {camera.rpartition('.')[2]}  {frame / reader.fps:.1f} s")
    return write_png(out, contact_sheet(images, labels, columns=per_camera * len(cameras)))
