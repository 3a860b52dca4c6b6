"""Boxes and masks of every object: the visible part, and the whole outline without occlusion."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.labels import arrow_rows
from handloom.labels.entities import Entities, pose7
from handloom.labels.images.kernels import scan_parts, silhouette
from handloom.labels.surfaces import SeenSurface, Surfaces
from handloom.spatial import invert_pose
from handloom.values import CameraSpec

UNMOVED = 0.02
"""An outline is drawn again only after moving by more than this in the image [px]."""


class OutlineLabels:
    """Boxes, visibility and masks of an episode, measured while its images are rendered.

    Args:
        entities: The labelled entities.
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
        self._parts = np.zeros((frames, len(cameras), len(surfaces.parts), 5), np.int32)
        """Box and pixels of every part."""
        self._whole = np.full((frames, *shape, 4), np.nan, np.float32)
        self._whole_pixels = np.full((frames, *shape), -1, np.int32)
        self._runs: list[list[tuple[NDArray[np.int32], NDArray[np.uint32]]]] = [[] for _ in range(frames)]
        self._masks = masks
        self._part_of_geom = surfaces.part_of_geom
        count = len(surfaces.parts)
        self._scan = np.zeros((count, 4), np.int64), np.zeros(count, np.int64)
        largest = max((camera.width * camera.height for camera in cameras), default=0)
        self._run_parts, self._run_lengths = np.empty(largest, np.int32), np.empty(largest, np.uint32)
        self._T_camera_world = [invert_pose(entities.motion.T_world_camera(camera)) for camera in cameras]
        poses = entities.motion.T_world_body
        self._drawers = [
            [
                (k, _Outline(camera, surface, T[:, None] @ poses[:, surface.bodies]))
                for k, surface in enumerate(entity.surface for entity in self._labelled)
                if surface is not None
            ]
            for camera, T in zip(cameras, self._T_camera_world, strict=True)
        ]

    def add(self, frame: int, camera: int, geoms: NDArray[np.int32]) -> None:
        """Measure the image of geom ids (h, w) of a camera."""
        boxes, counts = self._scan
        runs = scan_parts(geoms, self._part_of_geom, boxes, counts, self._run_parts, self._run_lengths)
        if self._masks:
            self._runs[frame].append((self._run_parts[:runs].copy(), self._run_lengths[:runs].copy()))
        self._parts[frame, camera, :, :4], self._parts[frame, camera, :, 4] = boxes, counts
        for k, outline in self._drawers[camera]:
            self._whole_pixels[frame, camera, k], self._whole[frame, camera, k] = outline.measure(frame)

    def _seen(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return boxes (k, cameras, n, 4) and pixels (k, cameras, n) of the visible part of every entity."""
        boxes = np.zeros((*self._whole.shape[:3], 4), np.int32)
        pixels = np.zeros(self._whole.shape[:3], np.int32)
        for k, entity in enumerate(self._labelled):
            mine = self._parts[:, :, entity.parts]
            pixels[:, :, k] = mine[..., 4].sum(axis=2)
            seen = pixels[:, :, k, None] > 0
            # The box of an invisible part is inside out, so that no minimum or maximum picks it.
            boxes[:, :, k, :2] = np.where(seen, mine[..., :2].min(axis=2), 0)
            boxes[:, :, k, 2:] = np.where(seen, mine[..., 2:4].max(axis=2), 0)
        return boxes, pixels

    def box_column(self) -> pa.Array:
        """Return the column ``boxes``: for every camera, object, moving part and robot."""
        motion, cameras, labelled = self.entities.motion, self.cameras, self._labelled
        frames = motion.frames
        rows = [(c, e) for c in range(len(cameras)) for e in range(len(labelled))]
        which = arrow_rows.every_frame(frames, rows)
        camera, entity = np.array(rows, np.int64).reshape(-1, 2)[which].T
        boxes, seen = self._seen()
        pixels, whole = seen.reshape(-1), self._whole_pixels.reshape(-1)
        visible = np.where(whole > 0, np.minimum(pixels / np.maximum(whole, 1), 1.0), np.where(whole < 0, np.nan, 0.0))
        size = np.array([[c.width, c.height] for c in cameras], float).reshape(-1, 2)[camera]
        fields = {
            "camera": arrow_rows.names([c.name for c in cameras], camera),
            "object": arrow_rows.names([e.owner for e in labelled], entity),
            "part": arrow_rows.names([e.part for e in labelled], entity),
            "box": arrow_rows.vectors(boxes.reshape(-1, 4), dtype=np.int32),
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
        """Return the column ``masks``: the image of parts of every camera as runs of equal pixels, row by row."""
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
    """The outline of one entity in one camera, redrawn only when it may have moved in the image.

    Args:
        camera: The camera.
        surface: Visible surface of the entity.
        T_camera_body: Poses of its bodies in the camera (k, b, 4, 4).
    """

    def __init__(self, camera: CameraSpec, surface: SeenSurface, T_camera_body: Array) -> None:
        self._surface = surface
        self._T = np.ascontiguousarray(T_camera_body)
        self._lens = np.array([camera.fx, camera.fy, camera.cx, camera.cy, camera.near])
        self._taken = np.zeros((camera.height, camera.width), np.int32)
        self._stamp = 0
        self._filled = np.zeros(camera.height, np.int64)
        self._points = np.zeros((len(surface.vertices), 5))
        self._polygon = np.zeros((4, 2))
        self._steps = self._motion_in_picture()
        self._moved = np.inf
        self._result = 0, np.zeros(4)

    def measure(self, frame: int) -> tuple[int, Array]:
        """Return covered pixels and the whole box (4,) [px] of a frame; frames come in order."""
        self._moved += self._steps[frame]
        if self._moved > UNMOVED:
            self._moved = 0.0
            self._stamp += 1
            box, surface = np.zeros(4), self._surface
            covered = silhouette(
                surface.vertices,
                surface.rows,
                surface.faces,
                self._T[frame],
                self._lens,
                self._taken,
                self._stamp,
                self._filled,
                self._points,
                self._polygon,
                box,
            )
            self._result = int(covered), box
        return self._result

    def _motion_in_picture(self) -> Array:
        """Return an upper bound (k,) [px] on the motion of any point since the previous frame.

        With x / z = s, |d(x / z)| <= (|dx| + |s| |dz|) / z; the corners of each body's box bound its points.
        """
        fx, fy, _, _, near = self._lens
        steps = np.zeros(len(self._T))
        for row in range(len(self._surface.bodies)):
            mine = self._surface.vertices[self._surface.rows == row]
            if not len(mine):
                continue
            T = self._T[:, row]
            p = np.einsum("kij,nj->kni", T[:, :3, :3], _box_corners(mine)) + T[:, None, :3, 3]
            nearest = p[..., 2].min(axis=1)
            step = np.abs(np.diff(p, axis=0, prepend=p[:1])).max(axis=(1, 2))
            with np.errstate(divide="ignore", invalid="ignore"):
                slope = np.abs(p[..., :2] / p[..., 2:]).max(axis=(1, 2))
                z = np.minimum(nearest, np.concatenate([nearest[:1], nearest[:-1]]))
                moved = max(fx, fy) * step * (1.0 + slope) / z
            steps = np.maximum(steps, np.where((z > near) | (step == 0.0), moved, np.inf))
        return np.nan_to_num(steps, nan=np.inf, posinf=np.inf)


def _box_corners(points: Array) -> Array:
    low, high = points.min(axis=0), points.max(axis=0)
    signs = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    return low + signs * (high - low)


def share_in_view(boxes: NDArray[Any], size: Array) -> NDArray[Any]:
    """Return the fraction (n,) of each box (n, 4) [px] inside its image of a size (n, 2); NaN for a box that is NaN."""
    inside = np.clip(boxes[:, 2:], 0, size) - np.clip(boxes[:, :2], 0, size)
    area = np.maximum(np.prod(boxes[:, 2:] - boxes[:, :2], axis=1), 1e-9)
    return np.prod(inside, axis=1) / area
