"""Labels that are images: depth, normals and optical flow, written while they are drawn."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.labels.kernels import flow_planes
from handloom.labels.motion import EpisodeMotion
from handloom.spatial import invert_pose
from handloom.values import CameraSpec

NO_FLOW = -32768
"""Flow of a pixel that shows nothing."""
ROWS_PER_GROUP = 64
"""Images held in memory at a time."""
DENSE = {
    "depth": ("<u2", 1e-4, ()),
    "normals": ("<i1", 1.0 / 127.0, (3,)),
    "flow": ("<i2", 1.0 / 32.0, (2,)),
}
"""Kind > type of the stored numbers, what one of them is worth [m, 1, px], channels."""
SCALES = {"depth": 1e4, "normals": 127.0}
"""Stored numbers per metre and per unit."""
FURTHEST = np.float32(6.5535)
"""Depth that is stored for everything further away [m]."""
STILL = 1e-6
"""Motions whose largest entry is below this count as none [m or 1]."""


class LabelPictures:
    """Writes one row per frame and camera; every image is the plain bytes of an array, row by row.

    Numbers of a row of pixels are stored as differences from the pixel before, which pack well.

    Args:
        file: File to write.
        motion: The motion of the episode.
        cameras: The cameras.
        kinds: Any of depth, normals and flow.
    """

    def __init__(self, file: Path, motion: EpisodeMotion, cameras: Sequence[CameraSpec], kinds: Sequence[str]) -> None:
        self._motion, self._cameras, self._kinds = motion, cameras, tuple(kinds)
        fields = [("frame_index", pa.int64()), ("camera", pa.string()), ("height", pa.int32()), ("width", pa.int32())]
        self._schema = pa.schema([*fields, *((kind, pa.binary()) for kind in kinds)])
        self._writer = pq.ParquetWriter(
            file, self._schema, compression="lz4", use_dictionary=False, write_statistics=False
        )
        self._rows: list[tuple[int, int]] = []
        """Frame and camera of the buffered images."""
        pixels = max(camera.height * camera.width for camera in cameras)
        self._buffers = {kind: np.empty(_size(kind, ROWS_PER_GROUP * pixels), np.uint8) for kind in kinds}
        self._ends = {kind: [0] for kind in kinds}
        self._lens = [np.array([c.fx, c.fy, c.cx, c.cy]) for c in cameras]
        self._T_world_camera = [motion.T_world_camera(camera) for camera in cameras]

    def add(self, frame: int, camera: int, images: Mapping[str, NDArray[Any]]) -> None:
        """Take the images of a camera: ``depth``, ``normals`` and ``geoms`` as far as the kinds need them."""
        spec = self._cameras[camera]
        for kind in self._kinds:
            dtype, _, channels = DENSE[kind]
            start = self._ends[kind][-1]
            stop = start + _size(kind, spec.height * spec.width)
            out = self._buffers[kind][start:stop].view(dtype).reshape(spec.height, spec.width, *channels)
            if kind == "flow":
                self._flow(frame, camera, images, out)
            else:
                values = images[kind] if kind == "normals" else np.minimum(images[kind], FURTHEST)
                rounded = np.rint(values * np.float32(SCALES[kind])).astype(out.dtype)
                if kind == "depth":
                    rounded[~np.isfinite(images[kind])] = 0
                _store(rounded, out)
            self._ends[kind].append(stop)
        self._rows.append((frame, camera))
        if len(self._rows) == ROWS_PER_GROUP:
            self._flush()

    def _flow(self, frame: int, camera: int, images: Mapping[str, NDArray[Any]], out: NDArray[np.int16]) -> None:
        M, still = self._moves(frame, camera)
        planes = np.empty((2, *out.shape[:2]), np.float32)
        flow_planes(images["depth"], images["geoms"], M, still, self._lens[camera], NO_FLOW, planes[0], planes[1])
        np.clip(planes, NO_FLOW, -NO_FLOW - 1, out=planes)
        np.rint(planes, out=planes)
        rounded = planes.astype(np.int16)
        for k in range(2):
            _store(rounded[k], out[..., k])

    def _moves(self, frame: int, camera: int) -> tuple[Array, NDArray[np.bool_]]:
        """Return T_nextcamera_nextgeom T_geom_camera of every geom, and which of them are 1; the last frame is still.

        Motion below a hundredth of a pixel counts as none: objects at rest jitter by less than a micrometre.
        """
        after = min(frame + 1, self._motion.frames - 1)
        model, poses, T_camera = self._motion.scene.world.model, self._motion.T_world_body, self._T_world_camera[camera]
        T_move = poses[after] @ invert_pose(poses[frame])
        moves = invert_pose(T_camera[after]) @ T_move @ T_camera[frame]
        still = np.abs(moves - np.eye(4)).max(axis=(1, 2)) < STILL
        return np.ascontiguousarray(moves[model.geom_bodyid]), still[model.geom_bodyid]

    def _flush(self) -> None:
        if not self._rows:
            return
        frames, cameras = np.array(self._rows, np.int64).T
        specs = [self._cameras[camera] for camera in cameras]
        columns = [
            pa.array(frames),
            pa.array([spec.name for spec in specs]),
            pa.array([spec.height for spec in specs], pa.int32()),
            pa.array([spec.width for spec in specs], pa.int32()),
        ]
        for kind in self._kinds:
            offsets = np.array(self._ends[kind], np.int32)
            buffers = [None, pa.py_buffer(offsets), pa.py_buffer(self._buffers[kind])]
            columns.append(pa.Array.from_buffers(pa.binary(), len(specs), buffers))
            self._ends[kind] = [0]
        self._writer.write_table(pa.Table.from_arrays(columns, schema=self._schema))
        self._rows = []

    def close(self) -> None:
        """Write what is left."""
        self._flush()
        self._writer.close()


def _store(values: NDArray[Any], out: NDArray[Any]) -> None:
    """Write numbers (h, w, ...) as the differences from pixel to pixel along each row; they wrap around."""
    out[:, 0] = values[:, 0]
    np.subtract(values[:, 1:], values[:, :-1], out=out[:, 1:])


def _size(kind: str, pixels: int) -> int:
    """Return the bytes of images of a kind."""
    dtype, _, channels = DENSE[kind]
    return pixels * np.dtype(dtype).itemsize * int(np.prod(channels, dtype=int))


def picture_of(row: Mapping[str, Any], kind: str) -> NDArray[Any]:
    """Return an image of a row in its unit: depth (h, w) [m], normals (h, w, 3), flow (h, w, 2) [px]; NaN is nothing.

    Args:
        row: A row of the file.
        kind: ``depth``, ``normals`` or ``flow``.
    """
    dtype, unit, channels = DENSE[kind]
    steps = np.frombuffer(row[kind], np.dtype(dtype)).reshape(row["height"], row["width"], *channels)
    stored = np.cumsum(steps, axis=1, dtype=steps.dtype)
    values = stored.astype(np.float32) * np.float32(unit)
    if kind == "depth":
        values[stored == 0] = np.nan
    elif kind == "flow":
        values[stored == NO_FLOW] = np.nan
    else:
        values[~stored.any(axis=-1)] = np.nan
    return values
