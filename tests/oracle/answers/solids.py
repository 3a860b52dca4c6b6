"""The solids of a scene for the oracle: sampled points, hulls and rays, from MuJoCo's compiled geoms alone.

Nothing here is shared with the judge: objects are clouds of points sampled in their geoms, targets are convex hulls
and what rays meet.
"""

import copy
from collections.abc import Iterable, Sequence
from functools import cached_property

import mujoco
import numpy as np
from scipy.spatial import ConvexHull, QhullError

Array = np.ndarray
_TYPES = mujoco.mjtGeom
_RING = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
_GRID = 13
"""Points along each edge of the box in which an object's volume is sampled."""


class Solids:
    """The colliding geoms of some bodies in one state.

    Args:
        model: The compiled scene.
        data: Its state, with positions computed.
        bodies: Body ids.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, bodies: Iterable[int]) -> None:
        self.model, self.data = model, data
        self.bodies = frozenset(bodies)
        solid = (model.geom_contype | model.geom_conaffinity) != 0
        self.geoms = [g for g in range(model.ngeom) if solid[g] and int(model.geom_bodyid[g]) in self.bodies]

    def _local(self, geom: int) -> Array:
        """Return points (n, 3) on the surface of a geom, in its frame, whose hull is the geom or nearly so."""
        kind, size = self.model.geom_type[geom], self.model.geom_size[geom]
        if kind == _TYPES.mjGEOM_MESH:
            mesh = self.model.geom_dataid[geom]
            start = self.model.mesh_vertadr[mesh]
            return np.array(self.model.mesh_vert[start : start + self.model.mesh_vertnum[mesh]], float)
        if kind == _TYPES.mjGEOM_BOX:
            return np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T * size
        ring = np.column_stack([np.cos(_RING), np.sin(_RING), np.zeros_like(_RING)])
        if kind == _TYPES.mjGEOM_CYLINDER:
            return np.concatenate([ring * size[0] + [0, 0, z] for z in (-size[1], size[1])])
        ball = np.concatenate([ring * np.cos(t) + [0, 0, np.sin(t)] for t in np.linspace(-np.pi / 2, np.pi / 2, 13)])
        if kind == _TYPES.mjGEOM_ELLIPSOID:
            return ball * size
        if kind == _TYPES.mjGEOM_SPHERE:
            return ball * size[0]
        if kind == _TYPES.mjGEOM_CAPSULE:
            return np.concatenate([ball * size[0] + [0, 0, z] for z in (-size[1], size[1])])
        raise NotImplementedError(f"geom type {kind}")

    def _placed(self, geom: int, points: Array) -> Array:
        return points @ self.data.geom_xmat[geom].reshape(3, 3).T + self.data.geom_xpos[geom]

    @cached_property
    def surface(self) -> Array:
        """Points (n, 3) whose hull is the hull of the solids, in the world [m]."""
        return np.concatenate([self._placed(g, self._local(g)) for g in self.geoms])

    @property
    def low(self) -> float:
        """Height of the lowest point [m]."""
        return float(self.surface[:, 2].min())

    @property
    def high(self) -> float:
        """Height of the highest point [m]."""
        return float(self.surface[:, 2].max())

    @cached_property
    def points(self) -> Array:
        """Points (n, 3) spread evenly over the volume, in the world [m]."""
        low, high = self.surface.min(axis=0), self.surface.max(axis=0)
        steps = (np.arange(_GRID) + 0.5) / _GRID
        grid = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(-1, 3)
        grid = low + grid * (high - low)
        inside = self.contains(grid)
        return grid[inside] if inside.sum() >= _GRID else self.surface

    def contains(self, points: Array) -> Array:
        """Return which of the points (n, 3) lie in a solid."""
        inside = np.zeros(len(points), bool)
        for geom in self.geoms:
            local = (points - self.data.geom_xpos[geom]) @ self.data.geom_xmat[geom].reshape(3, 3)
            inside |= self._in_geom(geom, local)
        return inside

    def _in_geom(self, geom: int, p: Array) -> Array:
        kind, size = self.model.geom_type[geom], self.model.geom_size[geom]
        if kind == _TYPES.mjGEOM_BOX:
            return np.all(np.abs(p) <= size, axis=1)
        if kind == _TYPES.mjGEOM_CYLINDER:
            return (np.hypot(p[:, 0], p[:, 1]) <= size[0]) & (np.abs(p[:, 2]) <= size[1])
        if kind == _TYPES.mjGEOM_ELLIPSOID:
            return np.sum((p / size) ** 2, axis=1) <= 1.0
        if kind == _TYPES.mjGEOM_SPHERE:
            return np.linalg.norm(p, axis=1) <= size[0]
        if kind == _TYPES.mjGEOM_CAPSULE:
            axis = np.clip(p[:, 2], -size[1], size[1])
            return np.linalg.norm(p - np.outer(axis, [0, 0, 1]), axis=1) <= size[0]
        planes = ConvexHull(self._local(geom)).equations
        return np.all(p @ planes[:, :3].T + planes[:, 3] <= 1e-9, axis=1)

    @cached_property
    def _outline(self) -> ConvexHull:
        return ConvexHull(self.surface[:, :2])

    @property
    def area(self) -> float:
        """Area of the outline seen from above [m2]."""
        return float(self._outline.volume)

    def above(self, points: Array, margin: float = 0.0) -> Array:
        """Return which points (n, 3) lie within the outline seen from above, widened by a margin [m]."""
        planes = self._outline.equations
        return np.all(points[:, :2] @ planes[:, :2].T + planes[:, 2] <= margin, axis=1)

    def in_hull(self, points: Array) -> Array:
        """Return which points (n, 3) lie in the convex hull."""
        try:
            planes = ConvexHull(self.surface).equations
        except QhullError:
            return np.zeros(len(points), bool)
        return np.all(points @ planes[:, :3].T + planes[:, 3] <= 0.0, axis=1)

    def distance(self, other: "Solids", most: float = 1.0) -> float:
        """Return the smallest distance between two groups of solids, ``most`` if it is more [m]."""
        pairs = ((a, b) for a in self.geoms for b in other.geoms)
        return min((mujoco.mj_geomDistance(self.model, self.data, a, b, most, None) for a, b in pairs), default=most)


class Rays:
    """Rays that meet only the given solids.

    Args:
        solids: What stops a ray; their model is copied, so that groups and colours can be changed.
    """

    def __init__(self, solids: Solids) -> None:
        self.model, self.data = copy.copy(solids.model), solids.data
        self.model.geom_group[:] = 0
        self.model.geom_group[solids.geoms] = 5
        self.model.geom_matid[:] = -1
        self.model.geom_rgba[:, 3] = 1.0
        self.groups = np.array([0, 0, 0, 0, 0, 1], np.uint8)

    def blocked(self, point: Array, directions: Sequence[Array] | Array) -> float:
        """Return the share of directions (n, 3) from a point in which something is met."""
        directions = np.ascontiguousarray(directions, float)
        count = len(directions)
        hit, far = np.full(count, -1, np.int32), np.zeros(count)
        flat = np.ascontiguousarray(directions.reshape(-1))
        mujoco.mj_multiRay(
            self.model, self.data, np.asarray(point, float), flat, self.groups, True, -1, hit, far, None, count, 10.0
        )
        return float(np.mean(hit >= 0))

    def height(self, place: Array, above: float) -> float:
        """Return the height of the first solid below a place (2,), looked at from a height; -inf without any [m]."""
        hit, down = np.full(1, -1, np.int32), np.array([0.0, 0.0, -1.0])
        start = np.array([place[0], place[1], above])
        far = mujoco.mj_ray(self.model, self.data, start, down, self.groups, True, -1, hit, None)
        return above - far if far >= 0.0 else -np.inf


def sphere_directions(count: int = 160) -> Array:
    """Return unit vectors (count, 3) spread evenly over the sphere."""
    k = np.arange(count) + 0.5
    z, angle = 1.0 - 2.0 * k / count, np.pi * (1.0 + 5.0**0.5) * k
    r = np.sqrt(1.0 - z * z)
    return np.column_stack([r * np.cos(angle), r * np.sin(angle), z])
