"""Hierarchies hold every triangle once, inside every box above it, and are shallow whatever the triangles are."""

import numpy as np
import pytest

from handloom.render.cpu.layout import LANES
from handloom.render.cpu.model.bvh import DEEPEST, LEAF_SIZE, TriangleMesh, build_hierarchy, join_hierarchies


def mesh_of(corners: np.ndarray) -> TriangleMesh:
    return TriangleMesh(corners, np.zeros_like(corners), np.zeros((len(corners), 3, 2)))


def strewn(rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(-1, 1, (997, 1, 3)) + rng.uniform(-0.02, 0.02, (997, 3, 3))


def all_alike(rng: np.random.Generator) -> np.ndarray:
    return np.repeat(rng.uniform(-1, 1, (1, 3, 3)), 300, axis=0)


def ever_smaller(rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(-1, 1, (400, 3, 3)) * 0.8 ** np.arange(400)[:, None, None]


@pytest.mark.parametrize("make", [strewn, all_alike, ever_smaller])
def test_every_triangle_is_in_one_leaf_and_inside_all_boxes_above_it(make):
    corners = make(np.random.default_rng(0))
    hierarchy = build_hierarchy(mesh_of(corners))
    first = hierarchy.triangles[:, :3]
    ends = np.stack([first, first + hierarchy.triangles[:, 3:6], first + hierarchy.triangles[:, 6:]], axis=1)
    seen = np.zeros(len(corners), int)
    deepest = 0
    todo = [(0, (), 0)]
    while todo:
        node, above, level = todo.pop()
        deepest = max(deepest, level)
        skip, start, count = hierarchy.links[node]
        above = (*above, node)
        if count == 0:
            # The first child follows its parent, the second follows the first one's nodes, and ends where they all do.
            assert hierarchy.links[node + 1, 0] == start
            assert hierarchy.links[start, 0] == skip
            todo += [(node + 1, above, level + 1), (start, above, level + 1)]
            continue
        assert count <= LEAF_SIZE
        seen[start : start + count] += 1
        for box in hierarchy.boxes[list(above)]:
            assert np.all(ends[start : start + count] >= box[:3])
            assert np.all(ends[start : start + count] <= box[3:])
    assert np.all(seen == 1)
    assert deepest <= DEEPEST + np.ceil(np.log2(len(corners))) < LANES, f"{deepest} levels"


def test_joined_hierarchies_keep_their_nodes_and_triangles_apart():
    rng = np.random.default_rng(1)
    parts = [build_hierarchy(mesh_of(strewn(rng)[:n])) for n in (1, 9, 50)]
    joined, firsts = join_hierarchies(parts)
    triangles = 0
    for part, first in zip(parts, firsts, strict=True):
        links = joined.links[first : first + len(part.links)]
        inner = part.links[:, 2] == 0
        assert np.array_equal(links[:, 0] - first, part.links[:, 0])
        assert np.array_equal(links[inner, 1] - first, part.links[inner, 1])
        assert np.array_equal(links[~inner, 1] - triangles, part.links[~inner, 1])
        triangles += len(part.triangles)
