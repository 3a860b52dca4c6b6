"""Triangles of the model's meshes and height fields, and bounding volume hierarchies of them, built once per mesh.

Nodes lie in depth-first order with a skip pointer, so a traversal that may end at any hit needs no stack: on a hit go
to the next node, on a miss jump. Triangles are sorted so that a leaf's are neighbours.
"""

from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.kernels import kernel

# Corners whose normals differ from the face by more than this are creases and are shaded flat (cosine of 60 degrees).
CREASE_COSINE = 0.5


class TriangleMesh(NamedTuple):
    """Triangles with what shading needs at their corners."""

    corners: Array
    """(k, 3, 3) [m], in the geom frame."""
    normals: Array
    """(k, 3, 3) unit vectors."""
    texcoords: Array
    """(k, 3, 2); NaN without texture coordinates."""


def _slice(values: NDArray, start: NDArray, count: NDArray, k: int) -> NDArray:
    """Return the part of a concatenated model array that belongs to item ``k``."""
    return values[start[k] : start[k] + count[k]]


def _face_normals(corners: Array) -> Array:
    """Return unit normals (k, 3) of triangles (k, 3, 3); zero for slivers."""
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normals, axis=-1, keepdims=True)
    return np.where(length > 1e-18, normals / np.maximum(length, 1e-18), 0.0)


def triangles_of_mesh(model: mujoco.MjModel, mesh: int) -> TriangleMesh:
    """Return the triangles of a mesh with smooth normals, flat across creases."""
    vertices = _slice(model.mesh_vert, model.mesh_vertadr, model.mesh_vertnum, mesh).astype(float)
    faces = _slice(model.mesh_face, model.mesh_faceadr, model.mesh_facenum, mesh)
    corners = vertices[faces]
    flat = _face_normals(corners)
    solid = np.linalg.norm(flat, axis=1) > 0
    normal_ids = _slice(model.mesh_facenormal, model.mesh_faceadr, model.mesh_facenum, mesh)
    normals = _slice(model.mesh_normal, model.mesh_normaladr, model.mesh_normalnum, mesh).astype(float)[normal_ids]
    smooth = np.einsum("kij,kj->ki", normals, flat) > CREASE_COSINE
    normals = np.where(smooth[..., None], normals, flat[:, None, :])
    texcoords = np.full((len(faces), 3, 2), np.nan)
    if model.mesh_texcoordadr[mesh] >= 0:
        ids = _slice(model.mesh_facetexcoord, model.mesh_faceadr, model.mesh_facenum, mesh)
        texcoords = _slice(model.mesh_texcoord, model.mesh_texcoordadr, model.mesh_texcoordnum, mesh)[ids].astype(float)
    return TriangleMesh(corners[solid], normals[solid], texcoords[solid])


def triangles_of_height_field(model: mujoco.MjModel, field: int) -> TriangleMesh:
    """Return the triangles of a height field: its surface, four walls and the bottom."""
    rows, columns = int(model.hfield_nrow[field]), int(model.hfield_ncol[field])
    start = int(model.hfield_adr[field])
    size_x, size_y, top, base = (float(v) for v in model.hfield_size[field])
    heights = model.hfield_data[start : start + rows * columns].reshape(rows, columns).astype(float) * top
    x, y = np.meshgrid(np.linspace(-size_x, size_x, columns), np.linspace(-size_y, size_y, rows))
    surface = np.stack([x, y, heights], axis=-1)
    a, b, c, d = surface[:-1, :-1], surface[:-1, 1:], surface[1:, 1:], surface[1:, :-1]
    ground = surface * [1, 1, 0] - [0, 0, base]
    quads = [(a, b, c, d)]
    for edge, below in (
        (surface[0], ground[0]),
        (surface[-1, ::-1], ground[-1, ::-1]),
        (surface[::-1, 0], ground[::-1, 0]),
        (surface[:, -1], ground[:, -1]),
    ):
        quads.append((below[:-1], below[1:], edge[1:], edge[:-1]))
    quads.append((ground[0, 0], ground[-1, 0], ground[-1, -1], ground[0, -1]))
    halves = [triangle for p, q, r, s in quads for triangle in ((p, q, r), (p, r, s))]
    corners = np.concatenate([np.stack(half, axis=-2).reshape(-1, 3, 3) for half in halves])
    normals = np.repeat(_face_normals(corners)[:, None, :], 3, axis=1)
    return TriangleMesh(corners, normals, np.full((len(corners), 3, 2), np.nan))


LEAF_SIZE = 4
BINS = 12
"""Places along each axis at which a node may be split."""
DEEPEST = 64
"""Below this many levels nodes are halved, so that no traversal needs a longer list than a batch has lanes."""
ROUNDING = 1e-5
"""Boxes are widened by this part of the mesh's size: a ray of its own must not slip between two of them."""


class Hierarchy(NamedTuple):
    """A mesh ready for the kernels; node and triangle numbers are relative to its first."""

    boxes: NDArray[np.float32]
    """Node bounds (n, 6): low, high [m]."""
    links: NDArray[np.int32]
    """(n, 3): where to go on a miss; first triangle, number of triangles; for inner nodes, second child and 0."""
    triangles: NDArray[np.float32]
    """(k, 9): first corner and the two edges from it [m]."""
    normals: NDArray[np.float32]
    """(k, 9): normals at the corners."""
    texcoords: NDArray[np.float32]
    """(k, 6): texture coordinates at the corners."""


def build_hierarchy(mesh: TriangleMesh) -> Hierarchy:
    """Split where the surface area heuristic expects the least work, until LEAF_SIZE triangles are left."""
    low, high = mesh.corners.min(axis=1), mesh.corners.max(axis=1)
    order, boxes, links = split_boxes(low, high)
    corners = mesh.corners[order]
    edges = np.concatenate([corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]], axis=1)
    margin = ROUNDING * np.ptp(boxes[0].reshape(2, 3), axis=0).max()
    return Hierarchy(
        boxes=(boxes + margin * np.repeat([-1.0, 1.0], 3)).astype(np.float32),
        links=links,
        triangles=edges.astype(np.float32),
        normals=mesh.normals[order].reshape(-1, 9).astype(np.float32),
        texcoords=mesh.texcoords[order].reshape(-1, 6).astype(np.float32),
    )


@kernel
def split_boxes(low, high):
    """Return a hierarchy of boxes in depth-first order: members, leaf after leaf, node bounds and links.

    Args:
        low: Least corners (k, 3) [m].
        high: Greatest corners (k, 3) [m].

    Returns:
        Order (k,) int64, bounds (n, 6) float64 and links (n, 3) int32 as in ``Hierarchy``.
    """
    count = len(low)
    order = np.arange(count)
    spare = np.empty(count, np.int64)
    boxes = np.empty((2 * count, 6))
    links = np.zeros((2 * count, 3), np.int32)
    # First member, one past the last, level, and the node whose second child it is (-1: none). An entry without
    # members closes a node: everything below it has been written by then.
    todo = np.empty((2 * DEEPEST + 64, 4), np.int64)
    todo[0] = (0, count, 0, -1)
    waiting, nodes = 1, 0
    while waiting > 0:
        waiting -= 1
        first, end, level, parent = todo[waiting]
        if parent >= 0:
            if first == end:
                links[parent, 0] = nodes
                continue
            links[parent, 1] = nodes
        node = nodes
        nodes += 1
        for axis in range(3):
            boxes[node, axis] = low[order[first:end], axis].min()
            boxes[node, axis + 3] = high[order[first:end], axis].max()
        if end - first <= LEAF_SIZE:
            links[node] = (nodes, first, end - first)
            continue
        middle = _partition(low, high, order, spare, first, end, level)
        todo[waiting] = (0, 0, 0, node)
        todo[waiting + 1] = (middle, end, level + 1, node)
        todo[waiting + 2] = (first, middle, level + 1, -1)
        waiting += 3
    return order, boxes[:nodes], links[:nodes]


@kernel
def _partition(low, high, order, spare, first, end, level):
    """Bring the members of a node's first child to its front; return where those of the second begin."""
    best, best_axis, best_bin = np.inf, -1, 0
    starts, scales = np.zeros(3), np.zeros(3)
    for axis in range(3):
        least, most = np.inf, -np.inf
        for k in range(first, end):
            middle = low[order[k], axis] + high[order[k], axis]
            least, most = min(least, middle), max(most, middle)
        if most <= least or level >= DEEPEST:
            continue
        starts[axis], scales[axis] = least, BINS / (most - least)
        counts = np.zeros(BINS)
        bounds = np.empty((BINS, 6))
        bounds[:, :3], bounds[:, 3:] = np.inf, -np.inf
        for k in range(first, end):
            member = order[k]
            b = min(int((low[member, axis] + high[member, axis] - least) * scales[axis]), BINS - 1)
            counts[b] += 1
            for j in range(3):
                bounds[b, j] = min(bounds[b, j], low[member, j])
                bounds[b, j + 3] = max(bounds[b, j + 3], high[member, j])
        before, after = np.zeros(BINS), np.zeros(BINS)
        _sweep(bounds, counts, before)
        _sweep(bounds[::-1], counts[::-1], after[::-1])
        for b in range(BINS - 1):
            cost = before[b] + after[b + 1]
            if cost < best and before[b] > 0 and after[b + 1] > 0:
                best, best_axis, best_bin = cost, axis, b
    if best_axis < 0:
        return (first + end) // 2
    front, back = first, 0
    for k in range(first, end):
        member = order[k]
        place = low[member, best_axis] + high[member, best_axis] - starts[best_axis]
        if min(int(place * scales[best_axis]), BINS - 1) <= best_bin:
            order[front] = member
            front += 1
        else:
            spare[back] = member
            back += 1
    order[front:end] = spare[:back]
    return front


@kernel
def _sweep(bounds, counts, costs):
    """Write the work of all bins up to each: members times half the surface of their common box; 0 without members."""
    x0, y0, z0, x1, y1, z1 = np.inf, np.inf, np.inf, -np.inf, -np.inf, -np.inf
    members = 0.0
    for b in range(len(counts)):
        members += counts[b]
        x0, y0, z0 = min(x0, bounds[b, 0]), min(y0, bounds[b, 1]), min(z0, bounds[b, 2])
        x1, y1, z1 = max(x1, bounds[b, 3]), max(y1, bounds[b, 4]), max(z1, bounds[b, 5])
        if members > 0:
            x, y, z = x1 - x0, y1 - y0, z1 - z0
            costs[b] = members * (x * y + y * z + z * x + 1e-30)


def join_hierarchies(parts: list[Hierarchy]) -> tuple[Hierarchy, list[int]]:
    """Return all hierarchies in one set of arrays, and the first node of each."""
    empty = Hierarchy(
        boxes=np.zeros((0, 6), np.float32),
        links=np.zeros((0, 3), np.int32),
        triangles=np.zeros((0, 9), np.float32),
        normals=np.zeros((0, 9), np.float32),
        texcoords=np.zeros((0, 6), np.float32),
    )
    first_nodes, node, triangle, links = [], 0, 0, [empty.links]
    for part in parts:
        first_nodes.append(node)
        inner = part.links[:, 2:] == 0
        links.append(part.links + np.where(inner, [node, node, 0], [node, triangle, 0]).astype(np.int32))
        node += len(part.links)
        triangle += len(part.triangles)
    everything = [empty, *parts]
    return Hierarchy(
        boxes=np.concatenate([part.boxes for part in everything]),
        links=np.concatenate(links),
        triangles=np.concatenate([part.triangles for part in everything]),
        normals=np.concatenate([part.normals for part in everything]),
        texcoords=np.concatenate([part.texcoords for part in everything]),
    ), first_nodes
