"""The poses in which an object stays on a level table, computed from its shape and centre of mass.

Let H(d) be the height of the centre of mass above a plane with outward normal d: the extent of the solid parts in
direction d beyond the centre. An object at rest sits at a local minimum of H over directions d. Facets of the convex
hull that contain the foot of the centre of mass are the starting points; H itself is exact for round shapes.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.objects.geometry import Reach, convex_hull, geom_ids, posed, triangles
from handloom.spatial import quat_from_axis_angle

Height = Callable[[Array], Array]

_TILT = math.radians(10.0)
"""A pose counts as stable if tilting it by this much in any direction does not lower the centre of mass."""
_NEUTRAL = 1e-3
"""Relative change of height that counts as none: the object rolls."""
_LOW = 0.04
"""Relative rise up to which one pose rolls over into the next and only the lower is kept: a round wall drawn with 12
sides rises by 3.5 % between two of them, a pencil with 6 by 15 %."""
_NEAR = math.cos(math.radians(35.0))
"""Poses further apart than this are different whatever the rise: 12 sides are 30 degrees apart."""
_UPRIGHT = math.cos(math.radians(12.0))
"""Tolerance of the usual pose: a fork lies on its handle and the bend of its tines, a few degrees off."""
_STARTS = 40
"""Maximum number of facets examined; only finely curved bodies have more, for which any start will do."""


@dataclass(frozen=True, kw_only=True)
class RestPoses:
    """Orientations at rest on a level plane."""

    quats: Array
    """Orientations (k, 4) of the object frame, wxyz; upright first if it is one, then the lowest centre of mass."""
    heights: Array
    """Height (k,) of the object frame's origin above the plane [m]."""
    rolls: NDArray[np.bool_]
    """True (k,) for poses in which the object can roll when pushed."""


def find_rest_poses(
    model: mujoco.MjModel, *, upright_only: bool = False, up: tuple[float, float, float] = (0.0, 0.0, 1.0)
) -> RestPoses:
    """Return the rest poses of a compiled object.

    Args:
        model: One root body at the origin.
        upright_only: Keep only the upright pose, for furniture and appliances.
        up: Up direction in the object frame when it stands upright.

    Raises:
        InputError: It has no solid parts, so it cannot lie on anything.
    """
    if not geom_ids(model, solid=True):
        raise InputError("nothing of this object is solid, so that it has no stable pose")
    data = posed(model)
    reach, com = Reach(model, data), data.subtree_com[1].copy()
    if upright_only:
        down = -np.array([up])
        return RestPoses(quats=_turn_down(down[0])[None], heights=reach(down), rolls=np.array([False]))

    def height(directions: Array) -> Array:
        return reach(directions) - directions @ com

    # A body without round parts rests exactly on its facets; round parts were faceted to find them.
    facets = _facets_under(model, com)
    down = facets if reach.flat else _polished(height, facets)
    rise = _rise(height, down) / height(down)
    stable = rise > -_NEUTRAL
    down, rolls = down[stable], rise[stable] <= _NEUTRAL
    kept = _distinct(height, down, rolls, np.array(up))
    quats = np.array([_turn_down(d) for d in down[kept]]).reshape(-1, 4)
    return RestPoses(quats=quats, heights=reach(down[kept]), rolls=rolls[kept])


def _facets_under(model: mujoco.MjModel, com: Array) -> Array:
    """Return outward normals (n, 3) of the hull's triangles that contain the foot of the centre of mass."""
    vertices, faces = convex_hull(triangles(model, sides=24)[0])
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
    _, first, index = np.unique(np.round(normal, 3), axis=0, return_index=True, return_inverse=True)
    weight = np.bincount(index.ravel(), area[good], len(first))
    under = np.unique(index.ravel()[inside])
    chosen = under[np.argsort(-weight[under], kind="stable")[:_STARTS]]
    return normal[first[chosen]]


def _lowest_around(height: Height, down: Array, angle: Array) -> tuple[Array, Array]:
    """Tilt each direction (n, 3) by an angle (n,) so that H decreases most; return new directions and heights (n,).

    A long object rests along a valley of H that is narrower than any fixed ring of directions can show, so the azimuth
    is refined around the best of the ring: to 15, then 2.5, then 0.4 and 0.07 degrees.
    """
    side = np.where(np.abs(down[:, 2:]) < 0.9, [[0.0, 0.0, 1.0]], [[1.0, 0.0, 0.0]])
    u = np.cross(down, side)
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    v = np.cross(down, u)
    rows = np.arange(len(down))
    azimuth, width, count = np.zeros(len(down)), math.pi, 24
    best, lowest = down, np.full(len(down), np.inf)
    for _ in range(4):
        tried = azimuth[:, None] + np.linspace(-width, width, count, endpoint=False) + width / count
        ring = np.cos(tried)[..., None] * u[:, None] + np.sin(tried)[..., None] * v[:, None]
        ring = np.cos(angle)[:, None, None] * down[:, None] + np.sin(angle)[:, None, None] * ring
        there = height(ring.reshape(-1, 3)).reshape(len(down), count)
        k = np.argmin(there, axis=1)
        azimuth, best, lowest = tried[rows, k], ring[rows, k], there[rows, k]
        width, count = 2.0 * width / count, 12
    return best, lowest


def _polished(height: Height, start: Array) -> Array:
    """Walk each direction (n, 3) downhill on H by pattern search; flat facets do not move."""
    down, angle = start.copy(), np.full(len(start), math.radians(4.0))
    here = height(down)
    for _ in range(60):
        moving = angle > math.radians(0.01)
        if not np.any(moving):
            break
        there, lower = _lowest_around(height, down[moving], angle[moving])
        better = lower < here[moving] - 1e-9
        index = np.flatnonzero(moving)
        down[index[better]], here[index[better]] = there[better], lower[better]
        angle[index[~better]] /= 2.0
    return down


def _rise(height: Height, down: Array) -> Array:
    """Return the rise (n,) [m] of the centre of mass in the easiest direction of tilting."""
    tilts = (_TILT / 3.0, _TILT)
    lowest = [_lowest_around(height, down, np.full(len(down), tilt))[1] for tilt in tilts]
    return np.min(lowest, axis=0) - height(down)


def _distinct(height: Height, down: Array, rolls: NDArray[np.bool_], up: Array) -> list[int]:
    """Return indices of different poses, upright first, then by height; poses that roll into another are left out."""
    h = height(down)
    upright = down @ up < -_UPRIGHT
    order = sorted(range(len(down)), key=lambda i: (not upright[i], round(float(h[i]), 5), *np.round(-down[i], 3)))
    group = list(range(len(down)))
    weights = np.linspace(0.0, 1.0, 9)[:, None]

    def rolls_over(a: Array, b: Array) -> bool:
        if a @ b < _NEAR:
            return False
        way = (1.0 - weights) * a + weights * b
        heights = height(way / np.linalg.norm(way, axis=1, keepdims=True))
        return bool(heights.max() < (1.0 + _LOW) * max(heights[0], heights[-1]))

    for rank, i in enumerate(order):
        for j in order[rank + 1 :]:
            level = abs(h[i] - h[j]) < _NEUTRAL * h[i]
            if group[i] != group[j] and ((rolls[i] and rolls[j] and level) or rolls_over(down[i], down[j])):
                old, new = group[j], group[i]
                group = [new if g == old else g for g in group]
    first: dict[int, int] = {}
    for i in order:
        first.setdefault(group[i], i)
    return list(first.values())


def _turn_down(direction: Array) -> Array:
    """Return the shortest rotation that takes a direction to -z."""
    axis = np.cross(direction, [0.0, 0.0, -1.0])
    angle = math.acos(float(np.clip(-direction[2], -1.0, 1.0)))
    if angle < 1e-6:
        return np.array([1.0, 0.0, 0.0, 0.0])
    return quat_from_axis_angle(axis if np.linalg.norm(axis) > 1e-9 else [1.0, 0.0, 0.0], angle)
