"""Cavities of an object: rays against its own solid parts detect the inside of a bowl, a drawer or a shelf bay."""

import copy
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.objects import ObjectAsset
from handloom.scene.measures import geom_box

ROOT = "object"
"""Body of an object that carries all others."""
AROUND = 16
"""Number of horizontal directions in which walls are sought."""
WALLED = 0.7
"""Fraction of these directions that must meet a wall if the top is open, as in a bowl or a drawer."""
ROOFED = 0.25
"""The same fraction under a roof, as in a microwave or a shelf bay."""
CELLS = 16
"""Number of cells along the longest side of the object's box in the search for cavities."""
FINEST = 0.003
"""Minimum size of a cell [m]."""
FEWEST = 12
"""Minimum number of cells of a cavity."""
NARROWEST = 0.01
"""Minimum width of a cavity [m]."""
FAR = 1e3
"""Length of rays [m]."""
STRAIGHT = 0.2
"""A slanted exit is preferred only if it serves this much more of a cavity."""
OPENING = 0.5
"""Fraction of a side's cells with a straight exit for the side to count as an opening."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Cavity:
    """A hollow space that can hold an object, in the object frame."""

    part: str
    """Body that forms its floor: ``object``, or a moving part such as ``drawer_1``."""
    box: Array
    """Lower and upper corner (2, 3) [m] of its free space."""
    floor: float
    """Height of its floor below the middle of the box, along the object's up axis [m]."""
    opening: tuple[float, float, float] | None
    """Exit direction: up or horizontal; None when it is closed."""

    @property
    def volume(self) -> float:
        """Volume of its box [m^3]."""
        return float(np.prod(self.box[1] - self.box[0]))

    @property
    def width(self) -> float:
        """Minimum extent across its opening [m]."""
        size = self.box[1] - self.box[0]
        if self.opening is None:
            return float(size.min())
        return float(np.delete(size, int(np.argmax(np.abs(self.opening)))).min())

    @property
    def from_above(self) -> bool:
        """Whether objects are put into it from above."""
        return self.opening is not None and self.opening[2] > 0.5


class Met(NamedTuple):
    """Hits of rays from a point down, up and around."""

    hit: NDArray[np.bool_]
    """Whether each ray hits anything."""
    floor: int
    """Geom below; -1 if there is none."""
    below: float
    """Distance to it [m]."""
    above: float
    """Distance to the surface above [m]."""
    around: Array
    """Distances to the walls in the other directions (n - 2,) [m]; inf for nothing."""
    solid: bool
    """Whether the point lies inside a solid part."""

    @property
    def enclosed(self) -> bool:
        """Whether there is a floor below, and enough walls for an open or roofed cavity."""
        return bool(self.hit[0]) and float(np.mean(self.hit[2:])) >= (ROOFED if self.hit[1] else WALLED)


class Hollow:
    """An isolated object at its current joint positions, to test whether points are inside it.

    Args:
        asset: The object.
        joints: Positions of its joints by name [m or rad]; missing joints are at zero.
    """

    def __init__(self, asset: ObjectAsset, joints: Mapping[str, float]) -> None:
        self._model = _solid_model(asset)
        self._data = mujoco.MjData(self._model)
        for name, value in joints.items():
            self._data.qpos[self._model.jnt_qposadr[self._model.joint(name).id]] = value
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_comPos(self._model, self._data)
        self._up = np.asarray(asset.up, float)
        across = np.eye(3)[int(np.argmin(np.abs(self._up)))]
        side = np.cross(self._up, across)
        side /= np.linalg.norm(side)
        angles = np.arange(AROUND) * (2.0 * np.pi / AROUND)
        level = np.cos(angles)[:, None] * side + np.sin(angles)[:, None] * np.cross(self._up, side)
        self._usual = np.vstack([-self._up, self._up, level])

    def directions(self, up: Array) -> Array:
        """Return down, up and the horizontal directions (2 + AROUND, 3), given up (3,) in the object frame."""
        axis = np.cross(self._up, up)
        sine, cosine = float(np.linalg.norm(axis)), float(self._up @ up)
        if sine < 1e-9:
            return self._usual if cosine > 0.0 else -self._usual
        k = axis / sine
        cross = np.cross(k, self._usual)
        return self._usual * cosine + cross * sine + k * (self._usual @ k)[:, None] * (1.0 - cosine)

    def met(self, point: Array, directions: Array) -> Met:
        """Return the ray hits on the object from a point (3,) in directions (n, 3)."""
        count = len(directions)
        geom, far, normal = np.empty(count, np.int32), np.empty(count), np.empty(3 * count)
        rays, start = np.ascontiguousarray(directions, float).ravel(), np.ascontiguousarray(point, float)
        mujoco.mj_multiRay(self._model, self._data, start, rays, None, True, -1, geom, far, normal, count, FAR)
        hit = far >= 0.0
        # If a ray hits the back of a surface first, the point lies inside a solid part.
        behind = np.einsum("ij,ij->i", normal.reshape(-1, 3), directions) > 0.0
        above = float(far[1]) if count > 1 and hit[1] else np.inf
        below = float(far[0]) if hit[0] else np.inf
        around, solid = np.where(hit[2:], far[2:], np.inf), bool((hit & behind).any())
        return Met(hit=hit, floor=int(geom[0]), below=below, above=above, around=around, solid=solid)

    def encloses(self, point: Array, up: Array | None = None, part: str | None = None) -> bool:
        """Return whether a point (3,) in the object frame is in a cavity: a floor below, and walls or a roof.

        Args:
            point: The point [m].
            up: Up direction in the object frame (3,); default: that of the object's usual pose.
            part: Body that the floor must belong to; default: any.
        """
        met = self.met(point, self._usual if up is None else self.directions(up))
        return met.enclosed and (part is None or self._body(met.floor) == part)

    def _body(self, geom: int) -> str:
        """Return the name of the body of a geom."""
        return self._model.body(int(self._model.geom_bodyid[geom])).name

    @cached_property
    def cavities(self) -> tuple[Cavity, ...]:
        """All cavities, the largest first."""
        return self._found()

    @cached_property
    def box(self) -> Array:
        """Lower and upper corner (2, 3) [m] of the solid parts, in the object frame."""
        boxes = np.array([geom_box(self._model, self._data, g) for g in range(self._model.ngeom) if self._solid(g)])
        return np.stack([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)])

    def _solid(self, geom: int) -> bool:
        return bool(self._model.geom_contype[geom] or self._model.geom_conaffinity[geom])

    def _found(self) -> tuple[Cavity, ...]:
        low, high = self.box
        size = max(float((high - low).max()) / CELLS, FINEST)
        counts = np.maximum(1, np.ceil((high - low) / size)).astype(int)
        ticks = [low[k] + (np.arange(counts[k]) + 0.5) * (high[k] - low[k]) / counts[k] for k in range(3)]
        parts, ways = np.full(tuple(counts), -1), np.zeros((*counts, 2 + AROUND), bool)
        height = np.abs(self._up) @ ((high - low) / counts)
        open_above = np.zeros(tuple(counts), bool)
        for index in np.ndindex(*counts):
            met = self.met(np.array([ticks[k][i] for k, i in enumerate(index)]), self._usual)
            if met.enclosed and not met.solid:
                parts[index] = self._model.geom_bodyid[met.floor]
                ways[index], open_above[index] = ~met.hit, met.above > height
        found = []
        for body in np.unique(parts[parts >= 0]).tolist():
            for cells in self._pieces(parts == body, open_above):
                cavity = self._cavity(self._model.body(body).name, cells, ways, ticks, (high - low) / counts)
                found += [cavity] if cavity is not None else []
        moving = [c for c in found if c.part != ROOT]
        # The space around drawers is not a cavity.
        found = [c for c in found if c.part != ROOT or not any(_within(inner.box, c.box) for inner in moving)]
        return tuple(sorted(found, key=lambda c: -c.volume))

    def _pieces(self, cells: NDArray[np.bool_], open_above: NDArray[np.bool_]) -> Iterator[NDArray[np.bool_]]:
        """Yield the connected pieces of cells; a board thinner than a cell separates those below and above it."""
        axis = int(np.argmax(np.abs(self._up)))
        cells, above = np.moveaxis(cells, axis, 2), np.moveaxis(open_above, axis, 2)
        upwards = self._up[axis] > 0.0
        woven = np.zeros((*cells.shape[:2], 2 * cells.shape[2] - 1), bool)
        woven[..., ::2] = cells
        woven[..., 1::2] = cells[..., :-1] & cells[..., 1:] & (above[..., :-1] if upwards else above[..., 1:])
        for piece in connected(woven):
            yield np.moveaxis(piece[..., ::2], 2, axis)

    def _cavity(
        self, part: str, cells: NDArray[np.bool_], ways: NDArray[np.bool_], ticks: list[Array], size: Array
    ) -> Cavity | None:
        """Return the cavity formed by cells; None if it is too small."""
        if cells.sum() < FEWEST:
            return None
        free = ways[cells].mean(axis=0)
        # An exit straight along an axis of the object is preferred to one that leads past a door.
        ahead = free[2:] + np.where(np.arange(AROUND) % (AROUND // 4) == 0, STRAIGHT, 0.0)
        level = 2 + int(np.argmax(ahead))
        out = 1 if free[1] >= OPENING / 2.0 else level if free[level] >= OPENING else None
        if out is not None:
            cells = cells & ways[..., out]
        where = np.argwhere(cells)
        lower, upper = where.min(axis=0), where.max(axis=0)
        corners = np.array([[ticks[k][i[k]] for k in range(3)] for i in (lower, upper)])
        box = np.stack([corners[0] - size / 2.0, corners[1] + size / 2.0])
        if (box[1] - box[0]).min() < NARROWEST:
            return None
        x, y, z = (0.0, 0.0, 0.0) if out is None else self._usual[out].tolist()
        middle = box.mean(axis=0)
        below = self.met(middle, self._usual).below
        floor = float(middle @ self._up) - below if np.isfinite(below) else float((box @ self._up).min())
        return Cavity(part=part, box=box, floor=floor, opening=None if out is None else (x, y, z))


def connected(cells: NDArray[np.bool_]) -> Iterator[NDArray[np.bool_]]:
    """Yield the face-connected components of a grid (i, j, k), as masks."""
    waiting = {(int(i), int(j), int(k)) for i, j, k in np.argwhere(cells)}
    while waiting:
        edge, piece = [waiting.pop()], np.zeros(cells.shape, bool)
        while edge:
            i, j, k = edge.pop()
            piece[i, j, k] = True
            beside = {(i - 1, j, k), (i + 1, j, k), (i, j - 1, k), (i, j + 1, k), (i, j, k - 1), (i, j, k + 1)}
            found = beside & waiting
            waiting -= found
            edge += found
        yield piece


def _within(inner: Array, outer: Array) -> bool:
    """Return whether the middle of a box lies in another."""
    middle = inner.mean(axis=0)
    return bool(np.all(middle > outer[0]) and np.all(middle < outer[1]))


def _solid_model(asset: ObjectAsset) -> mujoco.MjModel:
    """Return the object by itself, with only its solid parts visible to rays."""
    model = copy.deepcopy(asset.model)
    for geom in range(model.ngeom):
        solid = model.geom_contype[geom] or model.geom_conaffinity[geom]
        model.geom_rgba[geom, 3] = 1.0 if solid else 0.0
        model.geom_matid[geom] = -1
    return model


_KEPT = 64
"""Cache size: objects with their joint positions."""
_hollows: OrderedDict[tuple[str, tuple[tuple[str, float], ...]], Hollow] = OrderedDict()


def hollow(asset: ObjectAsset, joints: Mapping[str, float]) -> Hollow:
    """Return an object by itself with its joints at positions [m or rad]; cached by joint positions."""
    at = tuple(sorted((name, round(float(value), 3)) for name, value in joints.items()))
    key = (asset.content_hash, at)
    if key not in _hollows:
        _hollows[key] = Hollow(asset, dict(at))
    _hollows.move_to_end(key)
    while len(_hollows) > _KEPT:
        _hollows.popitem(last=False)
    return _hollows[key]
