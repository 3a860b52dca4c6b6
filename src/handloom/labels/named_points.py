"""Keypoints of objects, such as handles, tips, rims and buttons, with their positions in the world and the images."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.labels import arrow_rows
from handloom.labels.cameras import pixels_of
from handloom.labels.entities import BACKGROUND
from handloom.labels.motion import EpisodeMotion
from handloom.values import CameraSpec

KINDS_OF_POINTS = {
    "handle": "handle",
    "head": "handle",
    "knob": "button",
    "dial": "button",
    "pedal": "button",
    "button": "button",
    "tip": "tip",
    "tail": "tip",
    "spout": "tip",
    "peg": "hook",
    "slot": "opening",
    "inside": "opening",
    "hole": "opening",
    "window": "opening",
    "rim": "rim",
    "center": "center",
}
"""Prefix of a point's name > its purpose. Others are ``surface``."""
HIDDEN_BY = 0.02
"""A surface this far in front of a point hides it [m]; less could be its own handle or rim."""


@dataclass(frozen=True, kw_only=True, eq=False)
class NamedPoint:
    """A point of an object, fixed to one of its bodies."""

    object: str
    name: str
    kind: str
    body: int
    position: Array
    """In the frame of its body (3,) [m]."""


def named_points(motion: EpisodeMotion) -> tuple[NamedPoint, ...]:
    """Return the keypoints of all objects: annotated points, and handle and push point of each joint."""
    found = []
    for name, asset in motion.scene.assets.items():
        if asset.category in BACKGROUND:
            continue
        points = {key: (value.body, value.position) for key, value in asset.keypoints.items() if "_object_" not in key}
        points = {key: value for key, value in points.items() if not key.endswith("contact_point")}
        for link in asset.joints:
            points[f"{link.name}_handle"] = (link.name, link.head)
            if link.push is not None:
                points[f"{link.name}_push"] = (link.name, link.push)
        for key, (body, position) in points.items():
            index = motion.scene.world.body_index(f"{name}/{body}")
            kind = _kind(key)
            found.append(NamedPoint(object=name, name=key, kind=kind, body=index, position=np.array(position)))
    return tuple(found)


def _kind(name: str) -> str:
    if name.startswith(("knob", "dial", "pedal")):
        return "button"
    if name.endswith("_handle"):
        return "handle"
    return KINDS_OF_POINTS.get(name.partition("_")[0], "surface")


class PointLabels:
    """Keypoints of an episode in pixels, with visibility determined while its images are rendered.

    Args:
        motion: The motion.
        cameras: The cameras.
    """

    def __init__(self, motion: EpisodeMotion, cameras: Sequence[CameraSpec]) -> None:
        self.motion = motion
        self.cameras = cameras
        self.points = named_points(motion)
        at = [
            motion.T_world_body[:, p.body, :3, :3] @ p.position + motion.T_world_body[:, p.body, :3, 3]
            for p in self.points
        ]
        self.world = np.stack(at, axis=1) if at else np.zeros((motion.frames, 0, 3))
        """Positions of the points (k, n, 3) [m]."""
        seen_from = [pixels_of(c, motion.T_world_camera(c), self.world) for c in cameras]
        self.pixels = [pixels for pixels, _ in seen_from]
        self._depths = [depths for _, depths in seen_from]
        self._visible = np.zeros((motion.frames, len(cameras), len(self.points)), bool)

    def add(self, frame: int, camera: int, depth: NDArray[np.float32]) -> None:
        """Mark points as hidden or visible using the depth image (h, w) [m] of a camera."""
        pixels, z = self.pixels[camera][frame], self._depths[camera][frame]
        height, width = depth.shape
        with np.errstate(invalid="ignore"):
            inside = (pixels[:, 0] >= 0) & (pixels[:, 0] < width) & (pixels[:, 1] >= 0) & (pixels[:, 1] < height)
        x, y = pixels[inside].astype(np.int64).T
        self._visible[frame, camera, inside] = depth[y, x] >= z[inside] - HIDDEN_BY

    def column(self) -> pa.Array:
        """Return the column ``points``: position of every keypoint in the world and in each image."""
        frames, cameras, points = self.motion.frames, self.cameras, self.points
        rows = [(c, p) for c in range(len(cameras)) for p in range(len(points))]
        which = arrow_rows.every_frame(frames, rows)
        camera, point = np.array(rows, np.int64).reshape(-1, 2)[which].T
        frame = np.repeat(np.arange(frames), len(rows))
        pixels = np.stack(self.pixels, axis=1) if cameras else np.zeros((frames, 0, len(points), 2))
        fields = {
            "camera": arrow_rows.names([c.name for c in cameras], camera),
            "object": arrow_rows.names([p.object for p in points], point),
            "name": arrow_rows.names([p.name for p in points], point),
            "kind": arrow_rows.names([p.kind for p in points], point),
            "point_world": arrow_rows.vectors(self.world[frame, point]),
            "pixel": arrow_rows.vectors(pixels[frame, camera, point]),
            "visible": pa.array(self._visible[frame, camera, point]),
        }
        return arrow_rows.ragged(np.full(frames, len(rows)), fields)
