"""Robot and world in the layout of the collision kernels: flat arrays of 32-bit numbers."""

import hashlib
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.motion.collision.obstacle import Obstacle
from handloom.motion.collision.shape import Shape, ShapeKind
from handloom.motion.collision.solid_points import fibonacci_directions

Float = NDArray[np.float32]
Int = NDArray[np.int32]

LANES = 16
"""Configurations checked side by side: one AVX-512 register of 32-bit numbers, two of AVX2."""

ROW = 24
"""Numbers per obstacle, see ``WorldArrays.row``."""


PADDED, BARE = 3, 4
"""Columns of the radius against the world, padding included, and of the radius against the robot itself."""


class RobotArrays(NamedTuple):
    """Moving links and the spheres on them. Link 0 is the fixed root.

    Spheres are arranged in groups, one per body, and groups in clusters of neighbours; each has a bounding sphere. A
    sphere is a row of five numbers: its centre in the link, its radius against the world, its radius against the robot
    [m].
    """

    parent: Int
    """Parent link of each joint, plus one (n,): 0 is the root, k + 1 the link of joint k."""
    joint: Float
    """Pose of each joint frame in its parent link (n, 12): rotation row by row, then position [m]."""
    prismatic: NDArray[np.bool_]
    """True where a joint slides (n,)."""
    group_link: Int
    """Link of each group, plus one (g,)."""
    group_begin: Int
    """First cluster of each group (g + 1,)."""
    cluster_begin: Int
    """First sphere of each cluster (c + 1,)."""
    group: Float
    """Bounding spheres of groups (g, 5)."""
    cluster: Float
    """Bounding spheres of clusters (c, 5)."""
    sphere: Float
    """Spheres (s, 5)."""
    pair: Int
    """Groups that must not touch each other (p, 2)."""


class WorldArrays(NamedTuple):
    """Obstacles in the root frame."""

    kind: Int
    """``ShapeKind`` of each obstacle (b,)."""
    row: Float
    """Parameters (b, 24): 0-2 centre, 3-11 rotation row by row, 12-14 size, 15 bounding radius; then, for a convex
    solid, 16-17 first and last face; for a height field, 16 first height, 17 rows, 18 columns, 19-20 cell sides; for
    all, 21-23 half sides of the bounding box."""
    face: Float
    """Supporting planes of all convex solids in their own frames (f, 4): unit normal, offset."""
    height: Float
    """Heights of all height fields, row by row (h,) [m]."""
    checked: NDArray[np.int8]
    """Check of each group of spheres against each obstacle (g, b): 0 for none, otherwise the column of the radius."""


class MotionScene(NamedTuple):
    """Input of a motion check: the robot, its surroundings, and the checking resolution."""

    robot: RobotArrays
    world: WorldArrays
    per_unit: float
    """Configurations checked per radian or metre of joint motion."""


MOST_FACES = 192
"""Supporting planes kept per convex solid; fewer planes only make it slightly larger."""

MOST_REMEMBERED = 1024
"""Number of convex solids whose planes are cached in memory."""

_PLANES: dict[bytes, Array] = {}

FAR = 1e9
"""Stands for an infinite length [m]."""

BEVEL_COSINE = 0.9
"""Edges between sides get their own plane if the cosine between the normals is below this value."""


def world_arrays(obstacles: Sequence[Obstacle], checked: NDArray[np.int8]) -> WorldArrays:
    """Return the kernels' view of obstacles.

    Args:
        obstacles: Obstacles, in order.
        checked: Checks of groups of spheres against obstacles (groups, obstacles), see ``WorldArrays``.
    """
    rows = np.zeros((len(obstacles), ROW))
    kinds = np.zeros(len(obstacles), np.int32)
    faces: list[Array] = [np.zeros((0, 4))]
    heights: list[Array] = [np.zeros(0)]
    for i, obstacle in enumerate(obstacles):
        shape, T = obstacle.shape, obstacle.T_world_obstacle
        kinds[i] = _kernel_kind(shape.kind)
        rows[i, :3], rows[i, 3:12], rows[i, 12:15] = T[:3, 3], T[:3, :3].flatten(), shape.size
        rows[i, 15], rows[i, 21:24] = min(shape.bounding_radius, FAR), _bounding_box(shape)
        if shape.kind in {ShapeKind.CONVEX, ShapeKind.ELLIPSOID}:
            planes, begin = supporting_planes(shape), sum(map(len, faces))
            rows[i, 16:18] = begin, begin + len(planes)
            faces.append(planes)
        elif shape.kind == ShapeKind.HEIGHT_FIELD and shape.heights is not None:
            (down, across), begin = shape.heights.shape, sum(map(len, heights))
            cell = 2 * shape.size[0] / (across - 1), 2 * shape.size[1] / (down - 1)
            rows[i, 16:21] = begin, down, across, *cell
            heights.append(shape.heights.flatten())
    return WorldArrays(
        kinds,
        rows.astype(np.float32),
        np.concatenate(faces).astype(np.float32),
        np.concatenate(heights).astype(np.float32),
        np.ascontiguousarray(checked),
    )


def _bounding_box(shape: Shape) -> tuple[float, float, float] | Array:
    """Return half sides of a box around a solid, centred on its frame [m]."""
    x, y, z = shape.size
    if shape.kind == ShapeKind.CONVEX and shape.vertices is not None:
        return np.abs(shape.vertices).max(axis=0)
    if shape.kind == ShapeKind.HEIGHT_FIELD:
        return x, y, FAR
    if shape.kind in {ShapeKind.CAPSULE, ShapeKind.SPHERE}:
        return x, x, x + y
    return (x, x, y) if shape.kind == ShapeKind.CYLINDER else (x, y, z)


def _kernel_kind(kind: ShapeKind) -> int:
    """Spheres are treated as capsules of length zero, ellipsoids as convex solids."""
    return int({ShapeKind.SPHERE: ShapeKind.CAPSULE, ShapeKind.ELLIPSOID: ShapeKind.CONVEX}.get(kind, kind))


def supporting_planes(shape: Shape) -> Array:
    """Return planes (f, 4), unit normal and offset, with the solid on the inner side of each."""
    if shape.kind == ShapeKind.ELLIPSOID:
        normals = fibonacci_directions(MOST_FACES)
        return np.c_[normals, np.linalg.norm(normals * np.array(shape.size), axis=1)]
    assert shape.vertices is not None
    assert shape.normals is not None
    # The same objects occur in every scene, as new shapes with the same content.
    content = shape.vertices.tobytes() + shape.normals.tobytes() + repr(shape.faces).encode()
    key = hashlib.sha256(content).digest()
    if key not in _PLANES:
        if len(_PLANES) >= MOST_REMEMBERED:
            _PLANES.clear()
        normals = _normals_and_bevels(shape)
        _PLANES[key] = np.c_[normals, (normals @ shape.vertices.T).max(axis=1)]
    return _PLANES[key]


def _normals_and_bevels(shape: Shape) -> Array:
    """Return the normals of the sides, of sharp edges and of corners, at most ``MOST_FACES``, large sides first."""
    assert shape.normals is not None
    assert shape.vertices is not None
    edges: dict[tuple[int, int], list[int]] = {}
    corners: dict[int, list[int]] = {}
    for f, face in enumerate(shape.faces):
        for a, b in pairwise((*face, face[0])):
            edges.setdefault((min(a, b), max(a, b)), []).append(f)
            corners.setdefault(a, []).append(f)
    order = np.argsort([-_face_area(shape.vertices[list(face)]) for face in shape.faces], kind="stable")
    normals = list(shape.normals[order])
    for sides in [*edges.values(), *corners.values()]:
        n = shape.normals[sides]
        if len(sides) > 1 and (n @ n.T).min() < BEVEL_COSINE and np.linalg.norm(n.sum(axis=0)) > 1e-6:
            normals.append(n.sum(axis=0) / np.linalg.norm(n.sum(axis=0)))
    if len(normals) > MOST_FACES:
        # A smooth hull: the largest sides keep its flat parts exact, evenly spread directions close the rest.
        return np.concatenate([normals[: 2 * MOST_FACES // 3], fibonacci_directions(MOST_FACES // 3)])
    return np.array(normals)


def _face_area(corners: Array) -> float:
    fan = np.cross(corners[1:-1] - corners[0], corners[2:] - corners[0])
    return 0.5 * float(np.linalg.norm(fan, axis=1).sum())
