"""Tool traces: where the tool will be over the next seconds, as pixels of the picture of now."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from handloom.labels import arrow_rows
from handloom.labels.cameras import pixels_of
from handloom.labels.motion import EpisodeMotion
from handloom.values import CameraSpec

SECONDS = 2.0
"""How far a trace looks ahead [s]."""
RATE = 10
"""Points of a trace per second."""


def trace_frames(frames: int, fps: int) -> np.ndarray:
    """Return the frames (frames, points) whose tool positions make up each trace, from the frame itself on.

    A trace that would go beyond the end of the episode stays at its last frame.
    """
    ahead = np.round(np.arange(round(SECONDS * RATE) + 1) * fps / RATE).astype(np.int64)
    return np.minimum(np.arange(frames)[:, None] + ahead, frames - 1)


def trace_column(motion: EpisodeMotion, cameras: Sequence[CameraSpec]) -> pa.Array:
    """Return the column ``traces``: of every camera and arm the way of the tool centre, NaN behind the camera."""
    arms = list(motion.arms())
    ahead = trace_frames(motion.frames, motion.record.instance.fps)
    tools = [motion.T_world_tcp(arm)[:, :3, 3][ahead] for _, arm in arms]
    drawn = [pixels_of(c, motion.T_world_camera(c), points)[0] for c in cameras for points in tools]
    rows = [(camera.name, robot, arm.name) for camera in cameras for robot, arm in arms]
    which = arrow_rows.every_frame(motion.frames, rows)
    points = np.stack(drawn, axis=1).reshape(-1, 2) if drawn else np.zeros((0, 2))
    fields = {
        "camera": arrow_rows.names([row[0] for row in rows], which),
        "robot": arrow_rows.names([row[1] for row in rows], which),
        "arm": arrow_rows.names([row[2] for row in rows], which),
        "pixels": arrow_rows.lists(np.full(len(which), ahead.shape[1]), arrow_rows.vectors(points)),
    }
    return arrow_rows.ragged(np.full(motion.frames, len(rows)), fields)
