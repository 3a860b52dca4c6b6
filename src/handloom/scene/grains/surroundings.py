"""Surroundings of grains: the solids of bodies, and for small bodies the distance to them on a grid."""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.motion.collision.obstacle import T_body_geom
from handloom.motion.collision.shape import Shape, ShapeKind, geom_shape
from handloom.motion.collision.solid_points import bounding_box
from handloom.scene.grains.distance_kernels import fill_grid

CELL = 0.0015
"""Spacing of the nodes of a grid [m]; half the thinnest wall of the library's containers."""
GRID_EXTENT = 0.4
"""Bodies with a longer side [m] have no grid: their solids are queried directly."""
MOST_NODES = 400_000
"""Maximum number of nodes of a grid; a larger grid is made coarser."""
MOST_GRIDS = 16
"""Number of cached grids, 2 to 5 MB each."""
Bits = NDArray[np.bool_]


class Solids(NamedTuple):
    """Convex solids in the frame of their body, as the kernels read them."""

    kind: NDArray[np.int64]
    """``ShapeKind`` (s,)."""
    size: Array
    """Lengths (s, 3) [m], as in ``Shape``."""
    R: Array
    """Rotation (s, 3, 3) of each solid in its body."""
    p: Array
    """Position (s, 3) of each solid in its body [m]."""
    first: NDArray[np.int64]
    """First triangle (s,) of a convex hull; ``last`` is one past its last."""
    last: NDArray[np.int64]
    planes: Array
    """Outward unit normal and offset (t, 4) of every triangle."""
    corners: Array
    """Corners (t, 3, 3) of every triangle [m], counter-clockwise seen from outside."""


class Surroundings(NamedTuple):
    """The bodies that grains touch, as the kernels read them."""

    solids: Solids
    solid_first: NDArray[np.int64]
    """First solid of each body (b + 1,)."""
    low: Array
    """Lower corner (b, 3) [m] of a box around each body, in its frame; ``high`` the upper one."""
    high: Array
    grid: NDArray[np.int64]
    """Index of each body's grid (b,); -1 if its solids are queried directly."""
    nodes: NDArray[np.float32]
    """Distances at the nodes of all grids, one grid after the other [m]."""
    node_first: NDArray[np.int64]
    """First node of each grid (g + 1,)."""
    node_count: NDArray[np.int64]
    """Nodes along x, y, z of each grid (g, 3)."""
    node_origin: Array
    """First node of each grid (g, 3) in the body's frame [m]."""
    node_cell: Array
    """Spacing of nodes (g,) [m]."""


class DistanceGrid(NamedTuple):
    """Distances to a body on a grid in its frame."""

    origin: Array
    """First node (3,) [m]."""
    cell: float
    """Spacing of nodes [m]."""
    distance: Array
    """Distance (x, y, z) to the nearest solid [m], negative inside it, clipped beyond the range of contacts."""

    def nearest_nodes(self, points: Array) -> tuple[NDArray[np.int64], Bits]:
        """Return the node nearest to each point (n, 3) in the body's frame, and whether the grid contains it (n,)."""
        nodes = np.rint((points - self.origin) / self.cell).astype(np.int64)
        shape = np.array(self.distance.shape)
        inside = np.all((nodes >= 0) & (nodes < shape), axis=1)
        return np.clip(nodes, 0, shape - 1), inside


def hollow_nodes(grid: DistanceGrid, up: Array) -> Bits:
    """Return for each node (x, y, z) whether it lies in a cavity: walls on four sides and a floor below.

    Args:
        grid: Distances to the body.
        up: Direction (3,) in the body's frame that points up in its usual pose; the nearest axis is used.
    """
    upright = int(np.argmax(np.abs(up)))
    # A wall two cells thick has a node at most half a cell from its middle.
    solid = grid.distance < 0.5 * grid.cell
    found = ~solid
    for axis in range(3):
        behind = np.maximum.accumulate(solid, axis=axis)
        before = np.flip(np.maximum.accumulate(np.flip(solid, axis), axis=axis), axis)
        found &= (behind & before) if axis != upright else (behind if up[axis] > 0 else before)
    return found


def body_solids(model: mujoco.MjModel, body: int) -> tuple[list[Shape], list[Array]]:
    """Return the solids of a body and their poses (4, 4) in it."""
    first = model.body_geomadr[body]
    geoms = [
        g for g in range(first, first + model.body_geomnum[body]) if model.geom_contype[g] or model.geom_conaffinity[g]
    ]
    return [geom_shape(model, g) for g in geoms], [T_body_geom(model, g) for g in geoms]


def solid_arrays(shapes: Sequence[Shape], poses: Sequence[Array]) -> Solids:
    """Return solids as the kernels read them."""
    fans = [_triangles(shape) for shape in shapes]
    last = np.cumsum([len(planes) for planes, _ in fans])
    return Solids(
        kind=np.array([int(shape.kind) for shape in shapes], np.int64),
        size=np.array([shape.size for shape in shapes]).reshape(-1, 3),
        R=np.ascontiguousarray([T[:3, :3] for T in poses]),
        p=np.ascontiguousarray([T[:3, 3] for T in poses]),
        first=(last - [len(planes) for planes, _ in fans]).astype(np.int64),
        last=last.astype(np.int64),
        planes=np.concatenate([planes for planes, _ in fans]),
        corners=np.concatenate([corners for _, corners in fans]),
    )


def _triangles(shape: Shape) -> tuple[Array, Array]:
    """Return planes (t, 4) and corners (t, 3, 3) of the triangles of a convex hull; none for other solids."""
    if shape.kind != ShapeKind.CONVEX or shape.vertices is None or shape.normals is None:
        return np.zeros((0, 4)), np.zeros((0, 3, 3))
    planes, corners = [], []
    for face, normal in zip(shape.faces, shape.normals, strict=True):
        for i in range(1, len(face) - 1):
            triangle = shape.vertices[[face[0], face[i], face[i + 1]]]
            across = np.cross(triangle[1] - triangle[0], triangle[2] - triangle[0])
            if np.linalg.norm(across) < 1e-12:
                continue
            corners.append(triangle if across @ normal > 0 else triangle[::-1])
            planes.append([*normal, float((shape.vertices[list(face)] @ normal).max())])
    return np.array(planes).reshape(-1, 4), np.array(corners).reshape(-1, 3, 3)


def body_box(shapes: Sequence[Shape], poses: Sequence[Array]) -> tuple[Array, Array]:
    """Return the lower and upper corner (3,) [m] of a box around solids; infinite for a plane."""
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for shape, T in zip(shapes, poses, strict=True):
        if not np.isfinite(shape.bounding_radius):
            return np.full(3, -np.inf), np.full(3, np.inf)
        a, b = bounding_box(shape) if shape.kind in _BOXED else (-np.full(3, shape.bounding_radius),) * 2
        if shape.kind not in _BOXED:
            b = -a
        middle, reach = T[:3, :3] @ ((a + b) / 2) + T[:3, 3], np.abs(T[:3, :3]) @ ((b - a) / 2)
        low, high = np.minimum(low, middle - reach), np.maximum(high, middle + reach)
    return low, high


_BOXED = {ShapeKind.BOX, ShapeKind.CYLINDER, ShapeKind.ELLIPSOID, ShapeKind.CONVEX}


def distance_grid(shapes: Sequence[Shape], poses: Sequence[Array], reach: float) -> DistanceGrid | None:
    """Return the distances around a body up to ``reach`` [m]; None for a body that is too large for a grid.

    The grid is cached by its solids: an episode needs it for sampling, running and judging.
    """
    low, high = body_box(shapes, poses)
    if not np.all(high - low <= GRID_EXTENT):
        return None
    solids = solid_arrays(shapes, poses)
    digest = hashlib.sha256(repr(reach).encode())
    for array in solids:
        digest.update(np.ascontiguousarray(array).tobytes())
    key = digest.digest()
    if key not in _grids:
        room = high - low + 2.0 * reach
        cell = max(CELL, float(np.cbrt(np.prod(room) / MOST_NODES)))
        distance = np.empty(tuple((np.ceil(room / cell).astype(int) + 1).tolist()))
        fill_grid(solids, low - reach, cell, reach, distance)
        while len(_grids) >= MOST_GRIDS:
            del _grids[next(iter(_grids))]
        _grids[key] = DistanceGrid(low - reach, cell, distance)
    return _grids[key]


_grids: dict[bytes, DistanceGrid] = {}


def surroundings(
    model: mujoco.MjModel, bodies: Sequence[int], reach: float
) -> tuple[Surroundings, list[DistanceGrid | None]]:
    """Return the solids of some bodies for contacts with grains, and the grid of each body.

    Args:
        model: The compiled scene.
        bodies: Bodies with solids.
        reach: Distance [m] within which grains interact with a solid.
    """
    found = [body_solids(model, body) for body in bodies]
    grids = [distance_grid(*solids, reach) for solids in found]
    boxes = [body_box(*solids) for solids in found]
    made = [grid for grid in grids if grid is not None]
    counts = np.array([grid.distance.size for grid in made], np.int64)
    around = Surroundings(
        solids=solid_arrays([s for shapes, _ in found for s in shapes], [T for _, poses in found for T in poses]),
        solid_first=np.cumsum([0, *(len(shapes) for shapes, _ in found)]).astype(np.int64),
        low=np.array([low for low, _ in boxes]).reshape(-1, 3),
        high=np.array([high for _, high in boxes]).reshape(-1, 3),
        grid=np.where([grid is None for grid in grids], -1, np.cumsum([grid is not None for grid in grids]) - 1),
        nodes=np.concatenate([np.zeros(0), *(grid.distance.ravel() for grid in made)]).astype(np.float32),
        node_first=np.cumsum([0, *counts]).astype(np.int64),
        node_count=np.array([grid.distance.shape for grid in made], np.int64).reshape(-1, 3),
        node_origin=np.array([grid.origin for grid in made]).reshape(-1, 3),
        node_cell=np.array([grid.cell for grid in made]),
    )
    return around, grids
