"""Where on a target, or in a cavity of it, an object of some size can stand: seen from above, with its edges."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.scene import Scene
from handloom.scene.measures import geom_box, geom_points, part_bodies
from handloom.skills.picking.grasp_poses import UNBOUNDED

CELL = 0.005
"""Edge of the cells of the target's surface [m]."""
SPOT = 2
"""Cells from one possible spot to the next."""
LARGEST = 0.3
"""Half of the largest extent of a room; of a table, only the part about the middle is used [m]."""
LEVEL = 0.004
"""Height difference up to which two cells belong to the same surface [m]."""
SUNK = 0.4
"""In a cavity, cells count as its floor up to this fraction of its depth: bowls have no level floor."""
FLAT = 0.7
"""Share of a cavity's floor that must be level, or else things roll to its middle."""
MARGINS = (0.0, 0.006, 0.012, 0.02)
"""Distances to the edge that are told apart; more is not useful [m]."""
CORE = 0.65
"""Fraction of an object's extent that must be over its support, if all of it finds no room."""
TURNS = np.deg2rad(np.arange(0.0, 90.0, 7.5))
"""Turns of an object that are tried for the least room [rad]."""
LONG = 1.5
"""Objects at least this many times as long as wide keep their heading; others may be put down at any."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Footprint:
    """Extent of an object seen from above, in the axes of a room."""

    half: Array
    """Half of the extent of all of it (2,) [m]."""
    foot: Array
    """Half of the extent of the part that is lower than the room's rim (2,) [m]."""
    turn: float | None
    """Angle about the vertical by which the object must be turned for that [rad]; None: any heading will do."""
    radius: float
    """Radius of the circle about the middle of its box that contains it [m]."""

    def scaled(self, share: float) -> "Footprint":
        """Return the same with all extents times a factor."""
        return replace(self, half=share * self.half, foot=share * self.foot, radius=share * self.radius)


class Taken(NamedTuple):
    """Room that is taken, in the axes of the room."""

    box: Array
    """Low and high (2, 2) [m]."""
    radius: float
    """Radius of the circle about its middle that contains the object [m]."""


class RoomOnTarget:
    """The surface of a target on which objects can stand, in the target's own axes.

    Args:
        scene: The scene.
        target: The target.
        part: Body of it that carries the objects; absent, all of them.
        box: World box of the target, or of the cavity in it (2, 3) [m].
        inside: Whether the box is that of a cavity.
    """

    def __init__(self, scene: Scene, target: str, part: str | None, box: Array, *, inside: bool) -> None:
        self._scene = scene
        self.middle = box.mean(axis=0)[:2]
        x, y = scene.object_pose(target)[:2, 0]
        length = float(np.hypot(x, y))
        self._axes = np.array([[x, -y], [y, x]]) / length if length > 0.5 else np.eye(2)
        self.box = box
        bodies = [scene.world.body_index(body) for body in part_bodies(scene, target, part)]
        reach = np.minimum(self._reach(bodies), LARGEST) if not inside else self._inner_reach()
        counts = np.maximum(np.ceil(2.0 * reach / CELL).astype(int), 1)
        self._ticks = [(np.arange(n) - 0.5 * (n - 1)) * CELL for n in counts]
        heights = self._heights(bodies)
        seen = heights[np.isfinite(heights)]
        self.level, spread = (float(box[0, 2]), SUNK * float(np.ptp(box[:, 2]))) if inside else (_mode(seen), LEVEL)
        self._low = ~(heights > self.level - LEVEL) if not inside else ~np.isfinite(heights)
        self._high = heights > self.level + spread
        floor = heights[np.isfinite(heights) & ~self._high]
        self.is_level = not inside or bool(
            np.mean(np.abs(floor - _mode(floor)) < LEVEL) > FLAT if floor.size else False
        )
        """Whether things stay where they are put; in a bowl they roll to the middle."""
        rims = heights[self._high & np.isfinite(heights)]
        self._rim = float(rims.max() - self.level) if rims.size else 0.0

    def to_room(self, points: Array) -> Array:
        """Return world points (..., 2) in the axes of the room, from its middle [m]."""
        return (points - self.middle) @ self._axes

    def to_world(self, points: Array) -> Array:
        """Return points (..., 2) in the axes of the room in the world [m]."""
        return points @ self._axes.T + self.middle

    def outline(self, name: str, R_world_object: Array | None = None) -> Array:
        """Return points (n, 3) that bound an object, about its origin, level axes those of the room [m].

        Args:
            name: The object.
            R_world_object: Its orientation (3, 3), if it differs from the current one.
        """
        points = solid_points(self._scene, name)
        R = self._scene.object_pose(name)[:3, :3] if R_world_object is None else R_world_object
        world = points @ R.T
        return np.column_stack([world[:, :2] @ self._axes, world[:, 2]])

    def footprints(self, name: str, R_world_object: Array | None, *, turned: bool) -> tuple[Footprint, ...]:
        """Return how much room an object takes.

        Args:
            name: The object.
            R_world_object: Its orientation (3, 3), if it differs from the current one.
            turned: Whether it may be turned so that it takes the least room, or the same across. Otherwise it keeps its
                heading; one that is about as long as wide takes its room at every heading.
        """
        points = self.outline(name, R_world_object)
        if turned:
            areas = [np.prod(self._extent(points, angle)[0]) for angle in TURNS]
            least = float(TURNS[int(np.argmin(areas))])
            ways = [(self._extent(points, angle), angle) for angle in (least, least + np.pi / 2.0)]
            return tuple(Footprint(half=half, foot=foot, turn=a, radius=radius) for (half, foot, radius), a in ways)
        half, foot, radius = self._extent(points, 0.0)
        if half.max() < LONG * half.min():
            half, foot = np.full(2, half.max()), np.full(2, foot.max())
        return (Footprint(half=half, foot=foot, turn=None, radius=radius),)

    def _extent(self, points: Array, angle: float) -> tuple[Array, Array, float]:
        """Return half of the extent of points (n, 3), turned about the vertical, that of the low ones, and a radius."""
        way = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        flat = points[:, :2] @ way
        low = points[:, 2] <= points[:, 2].min() + self._rim
        half, middle = 0.5 * np.ptp(flat, axis=0), 0.5 * (flat.max(axis=0) + flat.min(axis=0))
        radius = float(np.linalg.norm(flat - middle, axis=1).max())
        return half, np.minimum(np.abs(flat[low] - middle).max(axis=0), half), radius

    def lies_there(self, name: str) -> Taken | None:
        """Return the room that an object takes if it is on the surface or in the way; None otherwise."""
        points = self.outline(name) + np.append(
            self.to_room(self._scene.object_pose(name)[:2, 3]), self._scene.object_pose(name)[2, 3]
        )
        low, high = points.min(axis=0), points.max(axis=0)
        ends = np.array([[t[0], t[-1]] for t in self._ticks]).T
        if high[2] < self.level - LEVEL or low[2] > max(self.box[1, 2], self.level) + 0.05:
            return None
        if np.any(high[:2] < ends[0]) or np.any(low[:2] > ends[1]):
            return None
        box = np.stack([low[:2], high[:2]])
        return Taken(box, float(np.linalg.norm(points[:, :2] - box.mean(axis=0), axis=1).max()))

    def spots(self, size: Footprint) -> tuple[Array, Array]:
        """Return where the middle of an object can be (k, 2) [m], and how much margin it has there, 0 to 1 (k,).

        If all of it finds no room, its middle part must.
        """
        for core in (1.0, CORE):
            worth = np.full(self._low.shape, -1.0)
            for k, margin in enumerate(MARGINS):
                free = _clear(self._low, core * size.half + margin) & _clear(self._high, size.foot + margin)
                worth[free] = k / (len(MARGINS) - 1)
            coarse = worth[::SPOT, ::SPOT]
            if (coarse >= 0.0).any():
                i, j = np.nonzero(coarse >= 0.0)
                at = np.column_stack([self._ticks[0][::SPOT][i], self._ticks[1][::SPOT][j]])
                return at, coarse[i, j]
        return np.empty((0, 2)), np.empty(0)

    def _reach(self, bodies: list[int]) -> Array:
        """Return half of the extent of some bodies in the axes of the room, from its middle (2,) [m]."""
        points = self.to_room(_points(self._scene, bodies)[:, :2])
        return np.abs(points).max(axis=0)

    def _inner_reach(self) -> Array:
        """Return half of the extent of a cavity in the axes of the room (2,) [m]: its world box bounds it."""
        return np.abs(self.to_room(np.array([[x, y] for x in self.box[:, 0] for y in self.box[:, 1]]))).max(axis=0)

    def _heights(self, bodies: list[int]) -> Array:
        """Return the height of the target's surface in every cell (i, j) [m]; -inf where there is none."""
        grid = np.stack(np.meshgrid(*self._ticks, indexing="ij"), axis=-1)
        cells = self.to_world(grid)
        model, data = self._scene.world.model, self._scene.world.data
        heights = np.full(cells.shape[:2], -np.inf)
        top, down = float(self.box[1, 2]) + 1e-3, np.array([0.0, 0.0, -1.0])
        for geom in _solid(model, bodies):
            own = geom_box(model, data, geom)
            if own[0, 2] > top:
                continue
            under = np.all((cells >= own[0, :2]) & (cells <= own[1, :2]), axis=-1)
            kind = int(model.geom_type[geom])
            for i, j in np.argwhere(under):
                start = np.array([*cells[i, j], top])
                if kind == mujoco.mjtGeom.mjGEOM_MESH:
                    drop = mujoco.mj_rayMesh(model, data, geom, start, down)
                else:
                    pose = data.geom_xpos[geom], data.geom_xmat[geom]
                    drop = mujoco.mju_rayGeom(*pose, model.geom_size[geom], start, down, kind)
                if drop >= 0.0:
                    heights[i, j] = max(heights[i, j], top - drop)
        return heights


def solid_points(scene: Scene, name: str) -> Array:
    """Return points (n, 3) that bound an object's solid parts, in its own frame [m]."""
    T = scene.object_pose(name)
    bodies = [scene.world.body_index(body) for body in scene.world.subtree(scene.body_of(name))]
    return (_points(scene, bodies) - T[:3, 3]) @ T[:3, :3]


def _points(scene: Scene, bodies: list[int]) -> Array:
    """Return points (n, 3) that bound the solid geoms of some bodies, in the world [m]."""
    model, data = scene.world.model, scene.world.data
    return np.concatenate(
        [
            geom_points(model, geom) @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]
            for geom in _solid(model, bodies)
        ]
    )


def _solid(model: mujoco.MjModel, bodies: list[int]) -> list[int]:
    """Return the solid geoms of some bodies; all of their geoms if none is solid."""
    geoms = [g for g in range(model.ngeom) if model.geom_bodyid[g] in bodies and model.geom_type[g] not in UNBOUNDED]
    return [g for g in geoms if model.geom_contype[g] or model.geom_conaffinity[g]] or geoms


def _mode(heights: Array) -> float:
    """Return the height that most cells have, to within ``LEVEL`` [m]."""
    if heights.size == 0:
        return 0.0
    steps = np.round(heights / (0.5 * LEVEL)).astype(int)
    values, counts = np.unique(steps, return_counts=True)
    most = values[int(np.argmax(counts))]
    return float(np.median(heights[steps == most]))


def _clear(blocked: NDArray[np.bool_], half: Array) -> NDArray[np.bool_]:
    """Return the cells around which a rectangle of half an extent (2,) [m] has no blocked cell, and is on the grid."""
    reach = np.ceil(half / CELL - 0.5).astype(int).clip(min=0)
    padded = np.pad(blocked, [(n, n) for n in reach.tolist()], constant_values=True)
    sums = np.pad(padded.astype(np.int64).cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    a, b = (2 * reach + 1).tolist()
    return (sums[a:, b:] - sums[:-a, b:] - sums[a:, :-b] + sums[:-a, :-b]) == 0
