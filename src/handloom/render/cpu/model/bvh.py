"""Triangles of the model's meshes and height fields, and bounding volume hierarchies of them, built once per mesh.

Nodes lie in depth-first order with a skip pointer, so a traversal needs no stack: on a hit go to the next node, on a
miss jump. Triangles are sorted so that a leaf's are neighbours.
"""

from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array

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


class Hierarchy(NamedTuple):
    """A mesh ready for the kernels; node and triangle numbers are relative to its first."""

    boxes: NDArray[np.float32]
    """Node bounds (n, 6): low, high [m]."""
    links: NDArray[np.int32]
    """(n, 3): where to go on a miss, first triangle, number of triangles (0 for inner nodes)."""
    triangles: NDArray[np.float32]
    """(k, 9): first corner and the two edges from it [m]."""
    normals: NDArray[np.float32]
    """(k, 9): normals at the corners."""
    texcoords: NDArray[np.float32]
    """(k, 6): texture coordinates at the corners."""


def build_hierarchy(mesh: TriangleMesh) -> Hierarchy:
    """Split at the median of the widest axis of the centroids until LEAF_SIZE triangles are left."""
    low, high = mesh.corners.min(axis=1), mesh.corners.max(axis=1)
    middle = (low + high) / 2
    order: list[NDArray[np.int64]] = []
    boxes: list[Array] = []
    links: list[list[int]] = []
    done = 0
    # A number on the list closes an inner node: everything below it has been written by then.
    todo: list[NDArray[np.int64] | int] = [np.arange(len(low))]
    while todo:
        members = todo.pop()
        if isinstance(members, int):
            links[members][0] = len(links)
            continue
        node = len(links)
        boxes.append(np.concatenate([low[members].min(axis=0), high[members].max(axis=0)]))
        if len(members) <= LEAF_SIZE:
            links.append([node + 1, done, len(members)])
            order.append(members)
            done += len(members)
            continue
        links.append([0, 0, 0])
        axis = int(np.argmax(np.ptp(middle[members], axis=0)))
        ranked = members[np.argsort(middle[members, axis], kind="stable")]
        half = len(ranked) // 2
        todo += [node, ranked[half:], ranked[:half]]
    sorted_ids = np.concatenate(order)
    corners = mesh.corners[sorted_ids]
    edges = np.concatenate([corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]], axis=1)
    return Hierarchy(
        boxes=np.array(boxes, np.float32),
        links=np.array(links, np.int32),
        triangles=edges.astype(np.float32),
        normals=mesh.normals[sorted_ids].reshape(-1, 9).astype(np.float32),
        texcoords=mesh.texcoords[sorted_ids].reshape(-1, 6).astype(np.float32),
    )


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
        links.append(part.links + np.array([node, triangle, 0], np.int32))
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
