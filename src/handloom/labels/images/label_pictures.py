"""Image labels: depth, normals and optical flow, written during rendering."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.labels.images.kernels import flow_planes
from handloom.labels.images.picture_packing import BLOCK, most_words, pack_plane, unpack
from handloom.labels.motion import EpisodeMotion
from handloom.spatial import invert_pose
from handloom.values import CameraSpec

NO_FLOW = -32768
"""Flow of a pixel without a surface."""
ROWS_PER_GROUP = 64
"""Images held in memory at a time."""
DENSE = {
    "depth": ("<u2", 1e-4, ()),
    "normals": ("<i1", 1.0 / 127.0, (3,)),
    "flow": ("<i2", 1.0 / 32.0, (2,)),
}
"""Kind > type of the stored numbers, value of one unit [m, 1, px], channels."""
LAYOUT = {"depth": (1, 1), "normals": (1, 3), "flow": (2, 1)}
"""Kind > planes that are packed one after the other, channels side by side in each."""
STORED = {"depth": (1e4, 0.0, 6.5535), "normals": (127.0, -1.0, 1.0), "flow": (1.0, NO_FLOW, -NO_FLOW - 1.0)}
"""Kind > stored numbers per unit, for flow as the kernel gives it; smallest and largest value that can be stored."""
PACKING, PACKED = b"handloom.label_pictures", b"2"
"""Entry of the metadata of files whose images are packed; older files hold plain differences along rows."""
STILL = 1e-6
"""Motions whose largest entry is below this count as no motion [m or 1]."""


class LabelPictures:
    """Writes one row per frame and camera, with every image as ``picture_packing`` packs it.

    Args:
        file: File to write.
        motion: The motion of the episode.
        cameras: The cameras.
        kinds: Any of depth, normals and flow.
    """

    def __init__(self, file: Path, motion: EpisodeMotion, cameras: Sequence[CameraSpec], kinds: Sequence[str]) -> None:
        self._motion, self._cameras, self._kinds = motion, cameras, tuple(kinds)
        fields = [("frame_index", pa.int64()), ("camera", pa.string()), ("height", pa.int32()), ("width", pa.int32())]
        self._schema = pa.schema([*fields, *((kind, pa.binary()) for kind in kinds)], metadata={PACKING: PACKED})
        self._writer = pq.ParquetWriter(
            file, self._schema, compression="none", use_dictionary=False, write_statistics=False
        )
        self._rows: list[tuple[int, int]] = []
        """Frame and camera of the buffered images."""
        self._buffers = {
            kind: np.empty(ROWS_PER_GROUP * max(_most_words(kind, camera) for camera in cameras), np.uint16)
            for kind in kinds
        }
        self._ends = {kind: [0] for kind in kinds}
        widths = {LAYOUT[kind][1] * camera.width for kind in kinds for camera in cameras}
        self._numbers = {width: np.empty(-(-width // BLOCK) * BLOCK, np.uint16) for width in widths}
        self._two_rows = np.empty((2, max(widths) + max(LAYOUT[kind][1] for kind in kinds)), np.int16)
        self._planes = {(c.height, c.width): np.empty((2, c.height, c.width), np.float32) for c in cameras}
        self._lens = [np.array([c.fx, c.fy, c.cx, c.cy]) for c in cameras]
        self._T_world_camera = [motion.T_world_camera(camera) for camera in cameras]
        self._T_move = np.zeros((0, 0, 4, 4))
        self._moves = [(np.zeros((0, 0, 4, 4)), np.zeros((0, 0), bool)) for _ in cameras]
        self._first_move = 0

    def add(self, frame: int, camera: int, images: Mapping[str, NDArray[Any]]) -> None:
        """Add the images of a camera: ``depth``, ``normals`` and ``geoms`` as far as the kinds need them."""
        for kind in self._kinds:
            values = self._flow(frame, camera, images) if kind == "flow" else images[kind]
            self._ends[kind].append(self._pack(kind, values))
        self._rows.append((frame, camera))
        if len(self._rows) == ROWS_PER_GROUP:
            self._flush()

    def _pack(self, kind: str, values: NDArray[np.float32]) -> int:
        """Add an image to the buffer of its kind, plane by plane; return the word at which it ends."""
        planes, channels = LAYOUT[kind]
        scale, low, high = map(np.float32, STORED[kind])
        end = self._ends[kind][-1]
        height = values.shape[-2] if planes > 1 else values.shape[0]
        for plane in np.ascontiguousarray(values).reshape(planes, height, -1):
            width = plane.shape[1]
            rows = self._two_rows[:, : channels + width]
            out = self._buffers[kind][end:]
            is_depth, is_byte = kind == "depth", kind == "normals"
            numbers = self._numbers[width]
            fours = numbers.view(np.uint64).reshape(-1, 4)
            end += int(pack_plane(plane, channels, scale, low, high, is_depth, is_byte, rows, numbers, fours, out))
        return end

    def _flow(self, frame: int, camera: int, images: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
        """Return the flow (2, h, w) of a frame [1/32 px], not rounded; the array is reused."""
        spec = self._cameras[camera]
        moves, still = self._moves_of(frame, camera)
        planes = self._planes[spec.height, spec.width]
        body = self._motion.scene.world.model.geom_bodyid
        flow_planes(
            images["depth"], images["geoms"], moves, still, body, self._lens[camera], NO_FLOW, planes[0], planes[1]
        )
        return planes

    def _moves_of(self, frame: int, camera: int) -> tuple[Array, NDArray[np.bool_]]:
        """Return T_nextcamera_nextbody T_body_camera of every body, and whether it is the identity.

        The last frame is static. Motion below a hundredth of a pixel counts as none: objects at rest jitter by less
        than a micrometre. Several frames are computed at a time.
        """
        if not self._first_move <= frame < self._first_move + len(self._T_move):
            now = np.arange(frame, min(frame + ROWS_PER_GROUP, self._motion.frames))
            after = np.minimum(now + 1, self._motion.frames - 1)
            poses = self._motion.T_world_body
            self._first_move, self._T_move = frame, poses[after] @ invert_pose(poses[now])
            for k, T in enumerate(self._T_world_camera):
                moves = invert_pose(T[after])[:, None] @ self._T_move @ T[now][:, None]
                self._moves[k] = moves, np.abs(moves - np.eye(4)).max(axis=(2, 3)) < STILL
        moves, still = self._moves[camera]
        return moves[frame - self._first_move], still[frame - self._first_move]

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
            offsets = 2 * np.array(self._ends[kind], np.int32)
            words = self._buffers[kind][: self._ends[kind][-1]]
            buffers = [None, pa.py_buffer(offsets), pa.py_buffer(words)]
            columns.append(pa.Array.from_buffers(pa.binary(), len(specs), buffers))
            self._ends[kind] = [0]
        self._writer.write_table(pa.Table.from_arrays(columns, schema=self._schema))
        self._rows = []

    def close(self) -> None:
        """Write the remaining rows."""
        self._flush()
        self._writer.close()


def _most_words(kind: str, camera: CameraSpec) -> int:
    planes, channels = LAYOUT[kind]
    return planes * most_words(camera.height, channels * camera.width)


def picture_of(row: Mapping[str, Any], kind: str, *, packed: bool = True) -> NDArray[Any]:
    """Return an image of a row in its unit: depth (h, w) [m], normals (h, w, 3), flow (h, w, 2) [px]; NaN is nothing.

    Args:
        row: A row of the file.
        kind: ``depth``, ``normals`` or ``flow``.
        packed: Whether the images are packed, according to the file; older files hold differences along rows.
    """
    dtype, unit, channels = DENSE[kind]
    shape = (row["height"], row["width"], *channels)
    if packed:
        planes, sides = LAYOUT[kind]
        stored = unpack(row[kind], planes, (*shape[:2], sides), dtype)
        # Planes or channels (an image kind has only one of them) become the last axis.
        stored = np.moveaxis(stored, 0, -2).reshape(shape)
    else:
        steps = np.frombuffer(row[kind], np.dtype(dtype)).reshape(shape)
        stored = np.cumsum(steps, axis=1, dtype=steps.dtype)
    values = stored.astype(np.float32) * np.float32(unit)
    if kind == "depth":
        values[stored == 0] = np.nan
    elif kind == "flow":
        values[stored == NO_FLOW] = np.nan
    else:
        values[~stored.any(axis=-1)] = np.nan
    return values
