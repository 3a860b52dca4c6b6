"""The poses in which an object stays on a level table, computed from its shape and centre of mass.

Let H(d) be the height of the centre of mass above a plane with outward normal d: how far the solid parts reach in
direction d beyond the centre. An object at rest sits at a local minimum of H over directions d. Facets of the convex
hull that contain the foot of the centre of mass are the starting points; H itself is exact for round shapes.
"""

import math
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.objects.geometry import convex_hull, posed, support, triangles
from handloom.spatial import quat_from_axis_angle

Array = NDArray[np.float64]

_UPRIGHT = np.array([[0.0, 0.0, -1.0]])
_TILT = math.radians(10.0)
"""A pose counts as stable when tilting it by this much, any way, raises the centre of mass."""
_NEUTRAL = 1e-3
"""Relative change of height that counts as none: the object rolls."""
_STARTS = 96
"""Most facets looked at; only finely curved bodies have more, and there one start is as good as the next."""
_MANY = 5
"""So many equal poses or more are turns about z (the sides of a cup) and are kept once."""


@dataclass(frozen=True, kw_only=True)
class RestPoses:
    """Orientations at rest on a level plane."""

    quats: Array
    """Orientations (k, 4) of the object frame, wxyz; upright first if it is one, then the lowest centre of mass."""
    heights: Array
    """Height (k,) of the object frame's origin above the plane [m]."""
    rolls: NDArray[np.bool_]
    """True (k,) where the object is free to roll and stays only if nobody pushes."""


def find_rest_poses(model: mujoco.MjModel, *, upright_only: bool = False) -> RestPoses:
    """Return the rest poses of a compiled object.

    Args:
        model: One root body at the origin.
        upright_only: Keep the identity alone, for furniture and appliances.
    """
    data = posed(model)
    com = data.subtree_com[1].copy()
    down = _UPRIGHT if upright_only else _polish(model, data, com, _facets_under(model, com))
    height = _height(model, data, com, down)
    rise = _rise(model, data, com, down) / height
    keep = (rise > -_NEUTRAL) & (height > 0.0)
    if upright_only:
        keep[:] = True
    down, height, rolls = down[keep], height[keep], np.abs(rise[keep]) <= _NEUTRAL
    order = _distinct(down, height, rolls)
    down, rolls = down[order], rolls[order]
    quats = np.array([_turn_down(d) for d in down]).reshape(-1, 4)
    return RestPoses(quats=quats, heights=support(model, data, down), rolls=rolls)


def _height(model: mujoco.MjModel, data: mujoco.MjData, com: Array, down: Array) -> Array:
    return support(model, data, down) - down @ com


def _facets_under(model: mujoco.MjModel, com: Array) -> Array:
    """Return outward normals (n, 3) of the hull's triangles that contain the foot of the centre of mass."""
    vertices, faces = convex_hull(triangles(model)[0])
    a, b, c = (vertices[faces[:, i]] - com for i in range(3))
    normal = np.cross(b - a, c - a)
    area = np.linalg.norm(normal, axis=1)
    good = area > 1e-12
    a, b, c, normal = a[good], b[good], c[good], normal[good] / area[good, None]
    foot = normal * np.sum(normal * a, axis=1, keepdims=True)
    inside = np.ones(len(a), bool)
    for p, q in ((a, b), (b, c), (c, a)):
        edge = np.linalg.norm(q - p, axis=1)
        inside &= np.sum(np.cross(q - p, foot - p) * normal, axis=1) > -1e-6 * edge
    # Triangles of one flat face share a start, and large faces come first: the finer a curve, the smaller its facets.
    start, index = np.unique(np.round(normal, 3), axis=0, return_inverse=True)
    weight = np.bincount(index.ravel(), area[good], len(start))
    under = np.unique(index.ravel()[inside])
    chosen = under[np.argsort(-weight[under], kind="stable")[:_STARTS]]
    _, first = np.unique(index.ravel(), return_index=True)
    return normal[first[chosen]]


def _around(down: Array, angle: Array) -> Array:
    """Return eight directions (n, 8, 3) at an angle (n,) from each of n directions."""
    helper = np.where(np.abs(down[:, 2:]) < 0.9, [[0.0, 0.0, 1.0]], [[1.0, 0.0, 0.0]])
    u = np.cross(down, helper)
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    v = np.cross(down, u)
    azimuth = np.arange(8) * (math.pi / 4)
    side = np.cos(azimuth)[:, None] * u[:, None] + np.sin(azimuth)[:, None] * v[:, None]
    return np.cos(angle)[:, None, None] * down[:, None] + np.sin(angle)[:, None, None] * side


def _polish(model: mujoco.MjModel, data: mujoco.MjData, com: Array, down: Array) -> Array:
    """Walk each direction (n, 3) downhill on H by pattern search; flat facets do not move."""
    if not len(down):
        return down
    down, angle = down.copy(), np.full(len(down), math.radians(2.0))
    here = _height(model, data, com, down)
    for _ in range(40):
        ring = _around(down, angle)
        there = _height(model, data, com, ring.reshape(-1, 3)).reshape(-1, 8)
        best = np.argmin(there, axis=1)
        lower = np.take_along_axis(there, best[:, None], 1)[:, 0]
        better = lower < here - 1e-9
        down[better] = ring[better, best[better]]
        here = np.where(better, lower, here)
        angle = np.where(better, angle, angle / 2)
    return down


def _rise(model: mujoco.MjModel, data: mujoco.MjData, com: Array, down: Array) -> Array:
    """Return how much (n,) [m] the centre of mass rises in the easiest direction of tilting."""
    if not len(down):
        return np.zeros(0)
    easiest = np.full(len(down), np.inf)
    here = _height(model, data, com, down)
    for tilt in (_TILT / 3.0, _TILT):
        ring = _around(down, np.full(len(down), tilt))
        there = _height(model, data, com, ring.reshape(-1, 3)).reshape(-1, 8)
        easiest = np.minimum(easiest, there.min(axis=1) - here)
    return easiest


def _distinct(down: Array, height: Array, rolls: NDArray[np.bool_]) -> list[int]:
    """Return indices of different poses: upright first, then by height; many equal ones and rolling ones once."""
    upright = down[:, 2] < -math.cos(math.radians(0.5))
    order = sorted(range(len(down)), key=lambda i: (not upright[i], round(float(height[i]), 5), *np.round(-down[i], 3)))
    kept: list[int] = []
    for i in order:
        if all(down[i] @ down[j] < math.cos(math.radians(3.0)) for j in kept):
            kept.append(i)

    def same(i: int, j: int) -> bool:
        level = abs(height[i] - height[j]) < 0.01 * height[i]
        return level and (bool(rolls[i] and rolls[j]) or abs(down[i, 2] - down[j, 2]) < 0.02)

    result: list[int] = []
    for i in kept:
        equal = [j for j in kept if same(i, j)]
        first = not any(same(i, j) for j in result)
        if first or (len(equal) < _MANY and not rolls[i]):
            result.append(i)
    return result


def _turn_down(direction: Array) -> Array:
    """Return the shortest rotation that takes a direction to -z."""
    axis = np.cross(direction, [0.0, 0.0, -1.0])
    angle = math.acos(float(np.clip(-direction[2], -1.0, 1.0)))
    if angle < 1e-6:
        return np.array([1.0, 0.0, 0.0, 0.0])
    return quat_from_axis_angle(axis if np.linalg.norm(axis) > 1e-9 else [1.0, 0.0, 0.0], angle)
