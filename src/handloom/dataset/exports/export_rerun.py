"""A recording for the Rerun viewer: cameras as video, columns as time series, words as text."""

from pathlib import Path
from typing import Any

import numpy as np

from handloom.dataset.exports.export_lerobot import refuse_existing
from handloom.dataset.exports.export_rlds import jpeg
from handloom.dataset.files.durable import atomic_write
from handloom.dataset.files.reading import damage_named
from handloom.dataset.lerobot.dataset_reader import DatasetReader
from handloom.errors import require

QUALITY = 90


def export_rerun(dataset: DatasetReader, out: Path) -> Path:
    """Write one ``.rrd`` file with every episode under ``episode_<n>``.

    Args:
        dataset: The dataset.
        out: File to write; it must not exist.

    Raises:
        MissingExtraError: The package rerun-sdk is not installed.
    """
    rr: Any = require("rerun", extra="rerun")
    refuse_existing(out)
    with atomic_write(out) as partial, damage_named(dataset.root):
        recording = rr.RecordingStream("handloom", recording_id=dataset.root.name)
        recording.save(str(partial))
        for episode in dataset.episodes:
            place = f"episode_{episode.index}"
            recording.log(f"{place}/task", rr.TextDocument("; ".join(episode.tasks)), static=True)
            times = np.arange(episode.length) / dataset.fps
            clock = rr.TimeColumn("time", duration=times)
            for feature in dataset.table.videos:
                if not feature.is_colour:
                    continue
                drawn = [jpeg(image, QUALITY) for image in dataset.images(episode.index, feature.name)]
                kinds = ["image/jpeg"] * len(drawn)
                columns = rr.EncodedImage.columns(blob=drawn, media_type=kinds)
                recording.send_columns(f"{place}/{feature.name}", indexes=[clock], columns=columns)
            for name, values in dataset.frames(episode.index).items():
                numbers = np.asarray(values, float)
                columns = rr.Scalars.columns(scalars=numbers.reshape(-1)).partition([numbers.shape[1]] * len(numbers))
                recording.send_columns(f"{place}/{name}", indexes=[clock], columns=columns)
        recording.flush()
        recording.disconnect()
    return out
