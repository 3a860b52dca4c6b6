"""Boxes and masks: what of every object is seen, and what would be with nothing in front."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.labels import arrow_rows
from handloom.labels.entities import Entities, Entity, pose7
from handloom.labels.kernels import scan_parts, silhouette
from handloom.labels.surfaces import Surfaces
from handloom.spatial import invert_pose
from handloom.values import CameraSpec

UNMOVED = 0.02
"""Motion in the picture below which an outline is not drawn again [px]."""


class OutlineLabels:
    """Boxes, visibility and masks of an episode, measured while its pictures are drawn.

    Args:
        entities: What is labelled.
        surfaces: The parts of the scene.
        cameras: The cameras.
        boxes: Measure boxes.
        masks: Keep masks.
    """

    def __init__(
        self, entities: Entities, surfaces: Surfaces, cameras: Sequence[CameraSpec], *, boxes: bool, masks: bool
    ) -> None:
        self.entities, self.surfaces, self.cameras = entities, surfaces, cameras
        self._labelled = (*entities.objects, *entities.robots) if boxes else ()
        frames, shape = entities.motion.frames, (len(cameras), len(self._labelled))
        self._box = np.zeros((frames, *shape, 4), np.int32)
        self._pixels = np.zeros((frames, *shape), np.int32)
        self._whole = np.full((frames, *shape, 4), np.nan, np.float32)
        self._whole_pixels = np.full((frames, *shape), -1, np.int32)
        self._runs: list[list[tuple[NDArray[np.int32], NDArray[np.uint32]]]] = [[] for _ in range(frames)]
        self._masks = masks
        self._part_of_geom = surfaces.part_of_geom
        count = len(surfaces.parts)
        self._scan = np.zeros((count, 4), np.int64), np.zeros(count, np.int64)
        self._T_camera_world = [invert_pose(entities.motion.T_world_camera(camera)) for camera in cameras]
        self._drawers = [[_Outline(camera, entity) for entity in self._labelled] for camera in cameras]

    def add(self, frame: int, camera: int, geoms: NDArray[np.int32]) -> None:
        """Measure the picture of geom ids (h, w) of a camera."""
        boxes, counts = self._scan
        parts, lengths = np.empty(geoms.size, np.int32), np.empty(geoms.size, np.uint32)
        runs = scan_parts(geoms, self._part_of_geom, boxes, counts, parts, lengths)
        if self._masks:
            self._runs[frame].append((parts[:runs].copy(), lengths[:runs].copy()))
        motion = self.entities.motion
        for k, entity in enumerate(self._labelled):
            mine = entity.parts[counts[entity.parts] > 0]
            if len(mine):
                self._pixels[frame, camera, k] = counts[mine].sum()
                self._box[frame, camera, k, :2] = boxes[mine, :2].min(axis=0)
                self._box[frame, camera, k, 2:] = boxes[mine, 2:].max(axis=0)
            if entity.surface is not None:
                T = self._T_camera_world[camera][frame] @ motion.T_world_body[frame, entity.surface.bodies]
                covered, whole = self._drawers[camera][k].measure(T)
                self._whole[frame, camera, k] = whole
                self._whole_pixels[frame, camera, k] = covered

    def box_column(self) -> pa.Array:
        """Return the column ``boxes``: of every camera, object, moving part and robot."""
        motion, cameras, labelled = self.entities.motion, self.cameras, self._labelled
        frames = motion.frames
        rows = [(c, e) for c in range(len(cameras)) for e in range(len(labelled))]
        which = arrow_rows.every_frame(frames, rows)
        camera, entity = np.array(rows, np.int64).reshape(-1, 2)[which].T
        pixels, whole = self._pixels.reshape(-1), self._whole_pixels.reshape(-1)
        visible = np.where(whole > 0, np.minimum(pixels / np.maximum(whole, 1), 1.0), np.where(whole < 0, np.nan, 0.0))
        size = np.array([[c.width, c.height] for c in cameras], float).reshape(-1, 2)[camera]
        fields = {
            "camera": arrow_rows.names([c.name for c in cameras], camera),
            "object": arrow_rows.names([e.owner for e in labelled], entity),
            "part": arrow_rows.names([e.part for e in labelled], entity),
            "box": arrow_rows.vectors(self._box.reshape(-1, 4), dtype=np.int32),
            "whole_box": arrow_rows.vectors(self._whole.reshape(-1, 4)),
            "pixels": arrow_rows.numbers(pixels, dtype=np.int32),
            "whole_pixels": arrow_rows.numbers(whole, dtype=np.int32),
            "visible": arrow_rows.numbers(visible),
            "in_view": arrow_rows.numbers(share_in_view(self._whole.reshape(-1, 4), size)),
            "pose_camera": arrow_rows.vectors(self._poses().reshape(-1, 7)),
        }
        return arrow_rows.ragged(np.full(frames, len(rows)), fields)

    def _poses(self) -> Array:
        bodies = np.array([entity.body for entity in self._labelled], np.int64)
        T_world = self.entities.motion.T_world_body[:, bodies]
        poses = [pose7(T[:, None] @ T_world) for T in self._T_camera_world]
        return np.stack(poses, axis=1) if poses else np.zeros((len(T_world), 0, len(bodies), 7))

    def mask_column(self) -> pa.Array:
        """Return the column ``masks``: the picture of parts of every camera as runs of equal pixels, row by row."""
        flat = [runs for frame in self._runs for runs in frame]
        lengths = [len(parts) for parts, _ in flat]
        parts = np.concatenate([parts for parts, _ in flat]) if flat else np.zeros(0, np.int32)
        counts = np.concatenate([counts for _, counts in flat]) if flat else np.zeros(0, np.uint32)
        which = arrow_rows.every_frame(self.entities.motion.frames, self.cameras)
        fields = {
            "camera": arrow_rows.names([camera.name for camera in self.cameras], which),
            "parts": arrow_rows.lists(lengths, pa.array(parts.astype(np.int16))),
            "lengths": arrow_rows.lists(lengths, pa.array(counts.astype(np.uint32))),
        }
        return arrow_rows.ragged([len(self.cameras)] * self.entities.motion.frames, fields)


class _Outline:
    """The outline of one entity in one camera, drawn again only when it has moved in the picture."""

    def __init__(self, camera: CameraSpec, entity: Entity) -> None:
        self._surface = surface = entity.surface
        self._lens = np.array([camera.fx, camera.fy, camera.cx, camera.cy, camera.near])
        self._taken = np.zeros((camera.height, camera.width), np.int32)
        self._stamp = 0
        self._last: Array | None = None
        self._result = 0, np.zeros(4)
        if surface is None:
            return
        self._points = np.zeros((len(surface.vertices), 3))
        low, high = surface.vertices.min(axis=0), surface.vertices.max(axis=0)
        # Eight corners per body stand for its surface when motion in the picture is judged.
        self._corners = [
            _box_corners(surface.vertices[surface.rows == row]) if np.any(surface.rows == row) else np.zeros((0, 3))
            for row in range(len(surface.bodies))
        ]
        self._size = float(np.linalg.norm(high - low))

    def measure(self, T_camera_body: Array) -> tuple[int, Array]:
        """Return covered pixels and the whole box (4,) [px]."""
        surface = self._surface
        assert surface is not None
        if self._last is None or self._moved(T_camera_body):
            self._last = T_camera_body
            self._stamp += 1
            box = np.zeros(4)
            covered = silhouette(
                surface.vertices,
                surface.rows,
                surface.faces,
                T_camera_body,
                self._lens,
                self._taken,
                self._stamp,
                self._points,
                box,
            )
            self._result = int(covered), box
        return self._result

    def _moved(self, T_camera_body: Array) -> bool:
        """Return whether any corner moved by more than ``UNMOVED`` in the picture, by a bound that is cheap."""
        assert self._last is not None
        if np.array_equal(T_camera_body, self._last):
            return False
        fx, fy, _, _, near = self._lens
        for row, corners in enumerate(self._corners):
            if not len(corners):
                continue
            T, last = T_camera_body[row], self._last[row]
            p, q = corners @ T[:3, :3].T + T[:3, 3], corners @ last[:3, :3].T + last[:3, 3]
            z = min(p[:, 2].min(), q[:, 2].min())
            if z <= near:
                return True
            # |d(x / z)| <= (|dx| + |x / z| |dz|) / z.
            slope = np.abs(p[:, :2] / p[:, 2:]).max()
            step = np.abs(p - q).max()
            if max(fx, fy) * step * (1.0 + slope) / z > UNMOVED:
                return True
        return False


def _box_corners(points: Array) -> Array:
    low, high = points.min(axis=0), points.max(axis=0)
    signs = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    return low + signs * (high - low)


def share_in_view(boxes: NDArray[Any], size: Array) -> NDArray[Any]:
    """Return which share (n,) of boxes (n, 4) [px] lies inside pictures of sizes (n, 2); NaN for a box that is NaN."""
    inside = np.clip(boxes[:, 2:], 0, size) - np.clip(boxes[:, :2], 0, size)
    area = np.maximum(np.prod(boxes[:, 2:] - boxes[:, :2], axis=1), 1e-9)
    return np.prod(inside, axis=1) / area
