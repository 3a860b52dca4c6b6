"""Triangles of the model's meshes and height fields, and their bounding volume hierarchies, built once per mesh.

A binary hierarchy is built first; then levels are joined until a node has up to WIDTH children, whose boxes are tested
together (``wide_tests``). Triangles are sorted into blocks, one per leaf, which are also tested together.
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
    """Triangles with shading data at their corners."""

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


BLOCK = 4
"""Triangles of a leaf, which are tested together; a leaf with fewer repeats its last."""
WIDTH = 8
"""Children of a node, whose boxes are tested together."""
LINKS = 24
"""First column of a node's links."""
BINS = 12
"""Number of candidate split positions along each axis of a node."""
DEEPEST = 40
"""Below this level, nodes are halved, so that no traversal needs more than STACK entries."""
STACK = 512
"""Maximum number of pending nodes while a ray traverses a mesh: WIDTH - 1 per level, for DEEPEST and up to 24
halvings."""
STEPS = 65535
"""Boxes are stored in 16 bits, in steps of the mesh's largest extent over this."""
ROUNDING = 1e-5
"""Boxes are widened by this fraction of the mesh's size, so that no ray slips between two of them."""
CACHE_LINE = 64


class Hierarchy(NamedTuple):
    """Meshes ready for the kernels.

    Memory determines their rendering speed: a node takes two cache lines, not thirteen.
    """

    nodes: NDArray[np.int32]
    """(n, 32): as 16-bit numbers, the children's low x, y, z and high x, y, z, WIDTH each, in steps of the grid; then,
    from LINKS on, their links: a node, or ``-1 - block`` (negative) for a leaf. A missing child is a point in the
    grid's last corner."""
    grids: NDArray[np.float32]
    """(m, 4) per mesh: origin of the steps [m], and steps per metre."""
    triangles: NDArray[np.float32]
    """(blocks, 9 * BLOCK): first corner and the two edges from it [m], coordinate by coordinate."""
    corners: NDArray[np.float32]
    """(blocks * BLOCK, 16): normals (9) and texture coordinates (6) at the corners of each triangle."""


def build_hierarchy(mesh: TriangleMesh) -> Hierarchy:
    """Split by the surface area heuristic until BLOCK triangles are left."""
    order, boxes, links = split_boxes(mesh.corners.min(axis=1), mesh.corners.max(axis=1))
    leaves = links[links[:, 1] > 0]
    order = order[leaves[:, :1] + np.minimum(np.arange(BLOCK), leaves[:, 1:] - 1)].ravel()
    corners = mesh.corners[order]
    edges = np.concatenate([corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]], axis=1)
    surface = np.concatenate([mesh.normals[order].reshape(-1, 9), mesh.texcoords[order].reshape(-1, 6)], axis=1)
    children = join_levels(boxes, links)
    margin = ROUNDING * np.ptp(boxes[0].reshape(2, 3), axis=0).max()
    origin = boxes[0, :3] - margin
    scale = STEPS / (boxes[0, 3:] + margin - origin).max()
    low = np.floor((boxes[:, :3] - margin - origin) * scale).clip(0, STEPS)
    high = np.ceil((boxes[:, 3:] + margin - origin) * scale).clip(0, STEPS)
    steps = np.concatenate([low, high], axis=1).astype(np.uint16)
    return Hierarchy(
        nodes=_pack(children, steps, links),
        grids=np.array([[*origin, scale]], np.float32),
        triangles=edges.reshape(-1, BLOCK, 9).swapaxes(1, 2).reshape(-1, 9 * BLOCK).astype(np.float32),
        corners=np.pad(surface, ((0, 0), (0, 1))).astype(np.float32),
    )


def _pack(children: NDArray[np.int64], steps: NDArray[np.uint16], links: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return nodes as in ``Hierarchy``, from the binary nodes (n, WIDTH) that are their children (-1 for none)."""
    nodes = np.zeros((len(children), 32), np.int32)
    boxes = np.where((children >= 0)[..., None], steps[children], STEPS)
    nodes[:, :LINKS] = boxes.swapaxes(1, 2).reshape(-1, 6 * WIDTH).astype(np.uint16).view(np.int32)
    is_leaf = links[:, 1] > 0
    place = -np.cumsum(is_leaf, dtype=np.int64)
    inner = children[(children >= 0) & ~is_leaf[children]]
    place[inner] = np.arange(1, 1 + len(inner))
    nodes[:, LINKS:] = np.where(children >= 0, place[children], -1)
    return nodes


@kernel
def join_levels(boxes, links):
    """Return the children (n, WIDTH) of wide nodes, level by level: binary nodes, -1 for none.

    The binary children with the largest surfaces are replaced by their own children, as long as there is room. The
    inner nodes among the children, in order of occurrence, are the second and following wide nodes.
    """
    children = np.full((len(boxes), WIDTH), -1)
    roots = np.zeros(len(boxes), np.int64)
    count, known = 0, 1
    while count < known:
        here = children[count]
        here[0] = roots[count]
        used, widest = 1, 0
        while used < WIDTH and widest >= 0:
            widest, greatest = -1, -1.0
            for c in range(used):
                if links[here[c], 1] == 0:
                    x, y, z = boxes[here[c], 3:] - boxes[here[c], :3]
                    if x * y + y * z + z * x > greatest:
                        widest, greatest = c, x * y + y * z + z * x
            if widest >= 0:
                here[used] = links[here[widest], 0]
                here[widest] += 1
                used += 1
        for c in range(used):
            if links[here[c], 1] == 0:
                roots[known] = here[c]
                known += 1
        count += 1
    return children[:count]


@kernel
def split_boxes(low, high):
    """Return a hierarchy of boxes in depth-first order: members, leaf after leaf, node bounds and links.

    Args:
        low: Lowest corners (k, 3) [m].
        high: Highest corners (k, 3) [m].

    Returns:
        Order (k,) int64, bounds (n, 6) float64 and links (n, 2) int32: for a leaf, its first member and their number;
        for others, the second child (the first is the next node) and 0.
    """
    count = len(low)
    order = np.arange(count)
    spare = np.empty(count, np.int64)
    boxes = np.empty((2 * count, 6))
    links = np.zeros((2 * count, 2), np.int32)
    # First member, one past the last, level, and the node whose second child it is (-1: none).
    todo = np.empty((DEEPEST + 64, 4), np.int64)
    todo[0] = (0, count, 0, -1)
    waiting, nodes = 1, 0
    while waiting > 0:
        waiting -= 1
        first, end, level, parent = todo[waiting]
        if parent >= 0:
            links[parent, 0] = nodes
        node = nodes
        nodes += 1
        for axis in range(3):
            boxes[node, axis] = low[order[first:end], axis].min()
            boxes[node, axis + 3] = high[order[first:end], axis].max()
        if end - first <= BLOCK:
            links[node] = (first, end - first)
            continue
        middle = _partition(low, high, order, spare, first, end, level)
        todo[waiting] = (middle, end, level + 1, node)
        todo[waiting + 1] = (first, middle, level + 1, -1)
        waiting += 2
    return order, boxes[:nodes], links[:nodes]


@kernel
def _partition(low, high, order, spare, first, end, level):
    """Move the members of a node's first child to its front; return the start of the second child's."""
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
    """Write the cumulative cost of the bins: members times half the surface of their common box; 0 without members."""
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
    first_nodes, node, block, nodes = [], 0, 0, [np.zeros((0, 32), np.int32)]
    for part in parts:
        first_nodes.append(node)
        links = part.nodes[:, LINKS:]
        nodes.append(np.hstack([part.nodes[:, :LINKS], links + np.where(links < 0, -block, node).astype(np.int32)]))
        node += len(part.nodes)
        block += len(part.triangles)
    return Hierarchy(
        nodes=_join(nodes),
        grids=_join([np.zeros((0, 4), np.float32), *(part.grids for part in parts)]),
        triangles=_join([np.zeros((0, 9 * BLOCK), np.float32), *(part.triangles for part in parts)]),
        corners=_join([np.zeros((0, 16), np.float32), *(part.corners for part in parts)]),
    ), first_nodes


def _join(parts: list[NDArray]) -> NDArray:
    """Return the rows of several arrays in one array aligned to a cache line."""
    shape = (sum(len(part) for part in parts), parts[0].shape[1])
    size = int(np.prod(shape)) * parts[0].itemsize
    memory = np.empty(size + CACHE_LINE, np.uint8)
    start = -memory.ctypes.data % CACHE_LINE
    joined = memory[start : start + size].view(parts[0].dtype).reshape(shape)
    return np.concatenate(parts, out=joined)
