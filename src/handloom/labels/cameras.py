"""Camera parameters per frame, projection of world points, and future tool traces."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from handloom.arrays import Array
from handloom.labels import arrow_rows
from handloom.labels.entities import pose7
from handloom.labels.motion import EpisodeMotion
from handloom.spatial import invert_pose
from handloom.values import CameraSpec


def camera_column(motion: EpisodeMotion, cameras: Sequence[CameraSpec]) -> pa.Array:
    """Return the column ``cameras``: size, intrinsics and pose of every camera in every frame."""
    frames = motion.frames
    T = np.stack([motion.T_world_camera(camera) for camera in cameras], axis=1) if cameras else np.zeros((0, 0, 4, 4))
    T_base = invert_pose(motion.T_world_base)[:, None] @ T if cameras else T
    which = arrow_rows.every_frame(frames, cameras)
    lens = np.array([[c.fx, c.fy, c.cx, c.cy] for c in cameras]).reshape(-1, 4)
    size = np.array([[c.width, c.height] for c in cameras], np.int32).reshape(-1, 2)
    fields = {
        "camera": arrow_rows.names([camera.name for camera in cameras], which),
        "size": arrow_rows.vectors(size[which], dtype=np.int32),
        "intrinsics": arrow_rows.vectors(lens[which], dtype=np.float64),
        "pose_world": arrow_rows.vectors(pose7(T.reshape(-1, 4, 4)), dtype=np.float64),
        "pose_base": arrow_rows.vectors(pose7(T_base.reshape(-1, 4, 4)), dtype=np.float64),
    }
    return arrow_rows.ragged(np.full(frames, len(cameras)), fields)


def pixels_of(camera: CameraSpec, T_world_camera: Array, points: Array) -> tuple[Array, Array]:
    """Return pixels (k, n, 2) and depths (k, n) [m] of points (k, n, 3) seen from poses (k, 4, 4).

    Points that are not in front of the camera get NaN pixels.
    """
    T = invert_pose(T_world_camera)
    p = np.einsum("kij,knj->kni", T[:, :3, :3], points) + T[:, None, :3, 3]
    depth = p[..., 2]
    z = np.where(depth > camera.near, depth, np.nan)
    return np.stack([camera.cx + camera.fx * p[..., 0] / z, camera.cy + camera.fy * p[..., 1] / z], axis=-1), depth


SECONDS = 2.0
"""Time span of a trace [s]."""
RATE = 10
"""Points of a trace per second."""


def trace_frames(frames: int, fps: int) -> np.ndarray:
    """Return the frames (frames, points) of the tool positions in each trace, starting with the frame itself.

    Beyond the end of the episode, a trace repeats the last frame.
    """
    ahead = np.round(np.arange(round(SECONDS * RATE) + 1) * fps / RATE).astype(np.int64)
    return np.minimum(np.arange(frames)[:, None] + ahead, frames - 1)


def trace_column(motion: EpisodeMotion, cameras: Sequence[CameraSpec]) -> pa.Array:
    """Return the column ``traces``: future path of the tool centre per camera and arm, NaN behind the camera."""
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
