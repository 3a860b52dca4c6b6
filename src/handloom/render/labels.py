"""Labels computed from images and states: masks, boxes, visibility, keypoints, point clouds, optical flow."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from handloom.arrays import Array
from handloom.errors import InputError, unknown_name
from handloom.render.appearance.lens import through_lens
from handloom.render.cameras import project, unproject
from handloom.render.cpu.cpu_renderer import CpuRenderer
from handloom.render.looks import Look
from handloom.render.preset import cpu_preset
from handloom.spatial import invert_pose, transform_points
from handloom.values import CameraSpec

HIGHEST_ID = 255
"""Ids are stored in 8 bits."""


@dataclass(frozen=True, kw_only=True)
class Box2D:
    """An axis-aligned box on the image; edges in pixels from the left and top of the image."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def area(self) -> float:
        """Area [px^2]; 0 for an empty box."""
        return max(self.right - self.left, 0.0) * max(self.bottom - self.top, 0.0)


def geoms_of_body(model: mujoco.MjModel, body: str) -> NDArray[np.int32]:
    """Return the ids of all geoms of a body and of the bodies it carries."""
    root = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, body)
    if root < 0:
        raise unknown_name("body", body, [model.body(k).name for k in range(model.nbody)])
    inside = np.zeros(model.nbody, bool)
    inside[root] = True
    for k in range(root + 1, model.nbody):
        inside[k] = inside[model.body_parentid[k]]
    return np.flatnonzero(inside[model.geom_bodyid]).astype(np.int32)


@dataclass(frozen=True, kw_only=True)
class Instances:
    """The robots, objects and other instances of a model that can be distinguished in an image."""

    names: tuple[str, ...]
    """Names by id; the first is empty (nothing was hit)."""
    table: NDArray[np.uint8]
    """Id by geom id + 1 (ngeom + 1,)."""

    def ids(self, segmentation: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the image (h, w) of ids for an image of geom ids, in which -1 is nothing."""
        return self.table[segmentation + 1]


def instances(model: mujoco.MjModel) -> Instances:
    """Number the instances in the world by the first part of their names, in model order.

    A robot, an object with all its joints, and all grains of a fluid are one instance each. Unnamed parts fixed to the
    world itself belong to ``world``.
    """
    names = {"": 0}
    table = np.zeros(model.ngeom + 1, np.uint8)
    for geom in range(model.ngeom):
        root = int(model.body_rootid[model.geom_bodyid[geom]])
        name = (model.body(root).name if root else model.geom(geom).name).partition("/")[0] or "world"
        number = names.setdefault(name, len(names))
        if number > HIGHEST_ID:
            raise InputError(f"an image can distinguish {HIGHEST_ID} instances, but this scene has more")
        table[geom + 1] = number
    return Instances(names=tuple(names), table=table)


def instance_mask(model: mujoco.MjModel, segmentation: NDArray[np.int32], bodies: list[str]) -> NDArray[np.int32]:
    """Return an image (h, w) of 1 + the index in ``bodies`` of the body that each pixel shows, else 0."""
    table = np.zeros(model.ngeom + 1, np.int32)
    for number, body in enumerate(bodies, start=1):
        table[geoms_of_body(model, body) + 1] = number
    return table[segmentation + 1]


def semantic_mask(model: mujoco.MjModel, segmentation: NDArray[np.int32], classes: dict[str, int]) -> NDArray[np.int32]:
    """Return an image (h, w) of class numbers: ``classes`` maps body names to classes; everything else is 0."""
    table = np.zeros(model.ngeom + 1, np.int32)
    for body, number in classes.items():
        table[geoms_of_body(model, body) + 1] = number
    return table[segmentation + 1]


def tight_box(mask: NDArray[np.bool_]) -> Box2D | None:
    """Return the box around the visible pixels of a mask (h, w), or None if there are none."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if rows.size == 0:
        return None
    return Box2D(left=float(columns[0]), top=float(rows[0]), right=columns[-1] + 1.0, bottom=rows[-1] + 1.0)


def box_corners(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> Array:
    """Return the eight corners (8, 3) of a geom's bounding box in the world [m]."""
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    center, half = model.geom_aabb[geom, :3], model.geom_aabb[geom, 3:]
    return (center + signs * half) @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]


def box_3d(model: mujoco.MjModel, data: mujoco.MjData, body: str) -> tuple[Array, Array]:
    """Return pose T_world_box (4, 4) and size (3,) [m] of the box around a body's geoms, along the body's axes."""
    root = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, body)
    corners = np.concatenate([box_corners(model, data, int(geom)) for geom in geoms_of_body(model, body)])
    T_world_box = np.eye(4)
    T_world_box[:3, :3], T_world_box[:3, 3] = data.xmat[root].reshape(3, 3), data.xpos[root]
    local = transform_points(invert_pose(T_world_box), corners)
    low, high = local.min(axis=0), local.max(axis=0)
    T_world_box[:3, 3] += T_world_box[:3, :3] @ ((low + high) / 2)
    return T_world_box, high - low


def loose_box(camera: CameraSpec, T_world_camera: ArrayLike, corners: ArrayLike) -> Box2D | None:
    """Return the box around projected points (n, 3), hidden parts included, cut off at the image's edges.

    None if a point lies behind the camera or the box misses the image.
    """
    pixels, depth = project(camera, T_world_camera, corners)
    if np.any(depth <= 0):
        return None
    (left, top), (right, bottom) = pixels.min(axis=0), pixels.max(axis=0)
    box = Box2D(
        left=float(np.clip(left, 0, camera.width)),
        top=float(np.clip(top, 0, camera.height)),
        right=float(np.clip(right, 0, camera.width)),
        bottom=float(np.clip(bottom, 0, camera.height)),
    )
    return box if box.area > 0 else None


def mask_alone(
    model: mujoco.MjModel, data: mujoco.MjData, camera: CameraSpec, body: str, looks: Sequence[Look] = ()
) -> NDArray[np.bool_]:
    """Return the amodal mask of a body (h, w): its silhouette without occlusion."""
    only = CpuRenderer(model, cpu_preset("fast"), looks=looks, geoms=geoms_of_body(model, body))
    only.place(data)
    return through_lens(only, data, camera, ("segmentation",))["segmentation"] >= 0


def visible_fraction(mask: NDArray[np.bool_], alone: NDArray[np.bool_]) -> float:
    """Return the visible fraction of an object: pixels of its mask over pixels of its amodal mask.

    Args:
        mask: Visible pixels of the object (h, w).
        alone: Its pixels with nothing in front (h, w), from ``mask_alone``.
    """
    if mask.shape != alone.shape:
        raise InputError(f"both masks must have the same size, got {mask.shape} and {alone.shape}")
    total = int(alone.sum())
    return float(np.sum(mask & alone) / total) if total else 0.0


def project_keypoints(
    camera: CameraSpec, T_world_camera: ArrayLike, points: ArrayLike, depth: NDArray[np.float32], *, slack: float = 0.01
) -> tuple[Array, NDArray[np.bool_]]:
    """Project keypoints (n, 3) [m]; return pixels (n, 2) and whether each is in view and not hidden.

    A point counts as hidden if the depth image shows a surface more than ``slack`` [m] in front of it.
    """
    pixels, z = project(camera, T_world_camera, points)
    inside = (z > 0) & (pixels[:, 0] >= 0) & (pixels[:, 0] < camera.width)
    inside &= (pixels[:, 1] >= 0) & (pixels[:, 1] < camera.height)
    seen = np.zeros(len(pixels), bool)
    x, y = pixels[inside].astype(int).T if inside.any() else np.zeros((2, 0), int)
    seen[inside] = depth[y, x] >= z[inside] - slack
    return pixels, seen


def point_cloud(
    camera: CameraSpec,
    T_world_camera: ArrayLike,
    depth: NDArray[np.float32],
    rgb: NDArray[np.uint8] | None = None,
    *,
    reach: float = np.inf,
) -> tuple[Array, NDArray[np.uint8]]:
    """Return the points (n, 3) [m] of a depth image nearer than ``reach`` [m], and their colours (n, 3)."""
    hit = np.isfinite(depth) & (depth < reach)
    colors = np.zeros((int(hit.sum()), 3), np.uint8) if rgb is None else rgb[hit]
    return unproject(camera, T_world_camera, depth)[hit], colors


def optical_flow(
    camera: CameraSpec,
    T_world_camera: ArrayLike,
    T_world_camera_next: ArrayLike,
    depth: NDArray[np.float32],
    segmentation: NDArray[np.int32],
    T_world_geoms: ArrayLike,
    T_world_geoms_next: ArrayLike,
) -> NDArray[np.float32]:
    """Return the exact motion of every pixel's surface to the next frame (h, w, 2) [px], from known poses.

    Args:
        camera: The camera, the same in both frames.
        T_world_camera: Its pose now (4, 4).
        T_world_camera_next: Its pose in the next frame (4, 4).
        depth: Depth image now (h, w) [m].
        segmentation: Geom ids now (h, w).
        T_world_geoms: Poses of all geoms now (ngeom, 4, 4).
        T_world_geoms_next: Poses of all geoms in the next frame (ngeom, 4, 4).

    Returns:
        Displacement in x and y; NaN for the background and for surfaces that leave the half space in front of the
        camera.
    """
    now, after = np.asarray(T_world_geoms, float), np.asarray(T_world_geoms_next, float)
    motion = after @ invert_pose(now)
    hit = segmentation >= 0
    points = unproject(camera, T_world_camera, depth)[hit]
    moves = motion[segmentation[hit]]
    moved = np.einsum("nij,nj->ni", moves[:, :3, :3], points) + moves[:, :3, 3]
    pixels, _ = project(camera, T_world_camera_next, moved)
    flow = np.full((*depth.shape, 2), np.nan, np.float32)
    y, x = np.nonzero(hit)
    flow[hit] = pixels - np.column_stack([x + 0.5, y + 0.5])
    return flow


def geom_poses(data: mujoco.MjData) -> Array:
    """Return T_world_geom (ngeom, 4, 4) of all geoms."""
    poses = np.tile(np.eye(4), (len(data.geom_xpos), 1, 1))
    poses[:, :3, :3] = data.geom_xmat.reshape(-1, 3, 3)
    poses[:, :3, 3] = data.geom_xpos
    return poses
