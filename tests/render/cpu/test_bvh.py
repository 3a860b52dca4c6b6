"""Hierarchies hold every triangle once, inside every box above it, and are shallow whatever the triangles are."""

import numba
import numpy as np
import pytest

from handloom.render.cpu.layout import (
    BIG,
    G_EYE,
    G_RAY_U,
    G_RAY_V,
    G_RAY_W,
    GEOM_COLUMNS,
    ID,
    LANE_QUANTITIES,
    LANES,
    T,
    U,
    V,
)
from handloom.render.cpu.model.bvh import (
    BLOCK,
    CACHE_LINE,
    DEEPEST,
    LINKS,
    STACK,
    STEPS,
    WIDTH,
    Hierarchy,
    TriangleMesh,
    build_hierarchy,
    join_hierarchies,
)
from handloom.render.cpu.rays.triangles import cast_triangles


def mesh_of(corners: np.ndarray) -> TriangleMesh:
    return TriangleMesh(corners, np.zeros_like(corners), np.zeros((len(corners), 3, 2)))


def strewn(rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(-1, 1, (997, 1, 3)) + rng.uniform(-0.02, 0.02, (997, 3, 3))


def all_alike(rng: np.random.Generator) -> np.ndarray:
    return np.repeat(rng.uniform(-1, 1, (1, 3, 3)), 300, axis=0)


def ever_smaller(rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(-1, 1, (400, 3, 3)) * 0.8 ** np.arange(400)[:, None, None]


def children_of(hierarchy: Hierarchy, node: int) -> list[tuple[int, np.ndarray]]:
    """Return where the children of a node are, and their boxes [m]."""
    steps = hierarchy.nodes[node, :LINKS].view(np.uint16).reshape(6, WIDTH).T
    origin, scale = hierarchy.grids[0, :3].astype(float), float(hierarchy.grids[0, 3])
    used = np.flatnonzero(np.any(steps[:, :3] < STEPS, axis=1))
    return [(int(hierarchy.nodes[node, LINKS + c]), steps[c].reshape(2, 3) / scale + origin) for c in used]


@pytest.mark.parametrize("make", [strewn, all_alike, ever_smaller])
def test_every_triangle_is_in_one_leaf_and_inside_all_boxes_above_it(make):
    corners = make(np.random.default_rng(0))
    hierarchy = build_hierarchy(mesh_of(corners))
    blocks = hierarchy.triangles.reshape(-1, 9, BLOCK).swapaxes(1, 2)
    ends = np.stack([blocks[..., :3], blocks[..., :3] + blocks[..., 3:6], blocks[..., :3] + blocks[..., 6:]], axis=2)
    seen = np.zeros(len(blocks), int)
    deepest = 0
    todo: list[tuple[int, tuple[np.ndarray, ...], int]] = [(0, (), 0)]
    while todo:
        node, above, level = todo.pop()
        deepest = max(deepest, level)
        for child, box in children_of(hierarchy, node):
            if child >= 0:
                todo.append((child, (*above, box), level + 1))
                continue
            seen[-1 - child] += 1
            for low, high in (*above, box):
                assert np.all(ends[-1 - child] >= low)
                assert np.all(ends[-1 - child] <= high)
    assert np.all(seen == 1)
    assert (WIDTH - 1) * (DEEPEST + np.ceil(np.log2(len(corners)))) < STACK
    assert (WIDTH - 1) * deepest < STACK, f"{deepest} levels"
    assert np.array_equal(
        np.unique(blocks[..., :3].reshape(-1, 3), axis=0), np.unique(corners[:, 0], axis=0).astype("f4")
    )


def test_joined_hierarchies_keep_their_nodes_and_triangles_apart():
    rng = np.random.default_rng(1)
    parts = [build_hierarchy(mesh_of(strewn(rng)[:n])) for n in (1, 9, 50)]
    joined, firsts = join_hierarchies(parts)
    blocks = 0
    for part, first in zip(parts, firsts, strict=True):
        here, there = part.nodes[:, LINKS:], joined.nodes[first : first + len(part.nodes), LINKS:]
        assert np.array_equal(there, np.where(here < 0, here - blocks, here + first))
        assert np.array_equal(joined.triangles[blocks : blocks + len(part.triangles)], part.triangles)
        blocks += len(part.triangles)
    assert joined.nodes.ctypes.data % CACHE_LINE == 0


@pytest.mark.parametrize("make", [strewn, all_alike, ever_smaller])
def test_rays_find_the_nearest_triangle_that_a_look_through_all_finds(make):
    rng = np.random.default_rng(2)
    corners = make(rng)
    meshes, _ = join_hierarchies([build_hierarchy(mesh_of(corners))])
    a, p, q = (
        edge.astype(np.float32).astype(float)
        for edge in (corners[:, 0], *(corners[:, 1:] - corners[:, :1]).swapaxes(0, 1))
    )
    eye = np.array([0.3, -0.2, -4.0])
    targets = corners.mean(axis=1)[rng.integers(0, len(corners), LANES)] + rng.normal(0, 0.01, (LANES, 3))
    lanes, row = np.zeros(LANE_QUANTITIES * LANES, np.float32), np.zeros(GEOM_COLUMNS, np.float32)
    row[G_EYE : G_EYE + 3], row[G_RAY_U], row[G_RAY_V + 1], row[G_RAY_W + 2] = eye, 1, 1, 1
    lanes[U : U + LANES], lanes[V : V + LANES] = ((targets - eye)[:, :2] / (targets - eye)[:, 2:]).T
    lanes[T : T + LANES], lanes[ID : ID + LANES] = BIG, -1
    _cast(lanes, row, meshes)
    rays = np.stack([lanes[U : U + LANES], lanes[V : V + LANES], np.ones(LANES)], axis=1).astype(float)
    normal = np.cross(p, q)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.einsum("kj,kj->k", normal, a - eye) / (rays @ normal.T)
        hits = eye + t[..., None] * rays[:, None] - a
        inverse = 1 / np.einsum("kj,kj->k", normal, normal)
        u = np.einsum("kj,rkj->rk", np.cross(q, normal) * inverse[:, None], hits)
        v = np.einsum("kj,rkj->rk", np.cross(normal, p) * inverse[:, None], hits)
    margin = np.minimum(np.minimum(u, v), 1 - u - v)
    nearest = np.where(margin >= 0, t, np.inf).min(axis=1)
    found = np.where(lanes[T : T + LANES] < BIG, lanes[T : T + LANES], np.inf)
    clear = np.abs(margin).min(axis=1) > 1e-3
    assert clear.sum() > LANES / 4
    assert np.isfinite(nearest[clear]).sum() > LANES / 16
    np.testing.assert_allclose(found[clear], nearest[clear], rtol=1e-5)


@numba.njit
def _cast(lanes, row, meshes):
    cast_triangles(lanes, row, meshes, np.float32(7))
