"""Bounding volume hierarchies of triangle meshes, built once per mesh.

Nodes lie in depth-first order with a skip pointer, so a traversal needs no stack: on a hit go to the next node, on a
miss jump. Triangles are sorted so that a leaf's are neighbours.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array

LEAF_SIZE = 4


class TriangleMesh(NamedTuple):
    """Triangles with what shading needs at their corners."""

    corners: Array
    """(k, 3, 3) [m], in the geom frame."""
    normals: Array
    """(k, 3, 3) unit vectors."""
    texcoords: Array
    """(k, 3, 2); NaN without texture coordinates."""


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
