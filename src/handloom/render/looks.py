"""Looks: shapes rendered in place of collision geoms.

A look belongs to a body of the model and hides some of its geoms, whose colours and textures it takes over. Physics
never sees it, so a model with looks has the same bits as one without.
"""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from handloom.arrays import Array
from handloom.render.materials import Finish

Polyline = tuple[tuple[float, float], ...]
"""Pairs (radius, z) [m]."""
Rgb = tuple[float, float, float]

# Steps of the arc that rounds a corner of a profile; normals are interpolated along each step.
_ARC = 2
# Corners of a profile sharper than this keep a crease [rad].
_CREASE = math.radians(50.0)
# Two points of a profile nearer than this count as one [m].
_SAME = 1e-6


@dataclass(frozen=True, kw_only=True)
class Turned:
    """A surface of revolution about z: a solid, a vessel with a wall, or a ring."""

    outer: Polyline
    """Outside, from the bottom up; z never decreases."""
    inner: Polyline = ()
    """Wall of the cavity, from its floor up to the rim; empty for a solid."""
    through: bool = False
    """The cavity has no floor: a ring or a pipe."""
    edge: float = 0.0
    """Radius to which corners are rounded [m]; 0 leaves them sharp."""
    band: tuple[float, float] = (0.0, 0.0)
    """Lowest and highest z of a painted band on the outside [m]."""
    band_color: Rgb = (0.0, 0.0, 0.0)
    """Its sRGB colour."""

    def scaled(self, scale: float) -> "Turned":
        """Return the surface scaled by a factor."""
        return Turned(
            outer=tuple((r * scale, z * scale) for r, z in self.outer),
            inner=tuple((r * scale, z * scale) for r, z in self.inner),
            through=self.through,
            edge=self.edge * scale,
            band=(self.band[0] * scale, self.band[1] * scale),
            band_color=self.band_color,
        )


@dataclass(frozen=True, kw_only=True)
class Swept:
    """A round tube along a curve: a handle, a spout, a wire."""

    centre: tuple[Rgb, ...]
    """Points (x, y, z) of its centre line [m]; a smooth curve passes through them."""
    radii: tuple[float, ...]
    """Radius at each point [m]."""
    flat: float = 1.0
    """Ratio of the width across the plane of the curve to the width in it."""

    def scaled(self, scale: float) -> "Swept":
        """Return the tube scaled by a factor."""
        centre = tuple((x * scale, y * scale, z * scale) for x, y, z in self.centre)
        return Swept(centre=centre, radii=tuple(r * scale for r in self.radii), flat=self.flat)


@dataclass(frozen=True, kw_only=True)
class Look:
    """One rendered shape, fixed to a body."""

    body: str
    """Name of the body in the model."""
    hides: tuple[str, ...]
    """Names of the geoms it replaces; labels show it as the first, whose material it has."""
    shape: Turned | Swept | Literal["as collides", "smooth"] = "as collides"
    """Shape to render; ``as collides`` renders the one hidden geom itself, with rounded edges; ``smooth`` a hull
    without facets."""
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Origin of the shape in the body [m]."""
    quat: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    """Orientation of the shape in the body, wxyz."""
    edge: float = 0.0
    """Apparent edge radius of a box or cylinder [m]."""
    finish: Finish | None = None
    """Its material; None means that of the geom in the model."""

    def under(self, prefix: str) -> "Look":
        """Return the look of an object that was attached to a model with a prefix."""
        return replace(self, body=prefix + self.body, hides=tuple(prefix + name for name in self.hides))


def outline_of_turned(shape: Turned) -> Array:
    """Return the closed outline (n, 2) of (radius, z) [m]: counter-clockwise, corners rounded; without the axis."""
    inner = list(shape.inner)
    points = [*shape.outer, *reversed(inner)]
    if not shape.through:
        first, last = points[0], points[-1]
        points = [(0.0, first[1]), *points, (0.0, last[1])]
    kept = [p for k, p in enumerate(points) if k == 0 or math.dist(p, points[k - 1]) > _SAME]
    if shape.through:
        kept = kept[:-1] if math.dist(kept[0], kept[-1]) <= _SAME else kept
        corners = [_rounded(kept[k - 1], kept[k], kept[(k + 1) % len(kept)], shape.edge) for k in range(len(kept))]
        ring = [p for corner in corners for p in corner]
        return np.array([*ring, ring[0]])
    middle = [_rounded(kept[k - 1], kept[k], kept[k + 1], shape.edge) for k in range(1, len(kept) - 1)]
    return np.array([kept[0], *(p for corner in middle for p in corner), kept[-1]])


def _rounded(
    before: tuple[float, float], at: tuple[float, float], after: tuple[float, float], radius: float
) -> list[tuple[float, float]]:
    """Return the points of an arc that rounds a corner, or the corner itself if it is blunt."""
    a, p, b = np.array(before), np.array(at), np.array(after)
    u, v = a - p, b - p
    lu, lv = float(np.linalg.norm(u)), float(np.linalg.norm(v))
    u, v = u / lu, v / lv
    turn = math.pi - math.acos(float(np.clip(u @ v, -1.0, 1.0)))
    if radius <= 0.0 or turn < math.radians(20.0):
        return [at]
    reach = min(radius * math.tan(turn / 2), 0.45 * lu, 0.45 * lv)
    start, end = p + reach * u, p + reach * v
    # A quadratic curve through both tangents matches a circular arc to within 3 % of its sagitta.
    share = np.linspace(0.0, 1.0, _ARC + 1)
    weight = math.cos(turn / 2)
    num = (
        ((1 - share) ** 2)[:, None] * start
        + (2 * weight * share * (1 - share))[:, None] * p
        + (share**2)[:, None] * end
    )
    den = (1 - share) ** 2 + 2 * weight * share * (1 - share) + share**2
    return [(float(r), float(z)) for r, z in num / den[:, None]]


@dataclass(frozen=True, kw_only=True)
class TurnedTables:
    """Arrays of a surface of revolution for the kernels, float32."""

    surface: Array
    """Two rows per piece (2 n, 4): (r0, z0, r1, z1), then the unit normal (radial, z) at both ends."""
    outer: Array
    """Pieces of the outside (m, 4), z never decreasing."""
    cavity: Array
    """Pieces of the cavity's wall (k, 4), z never decreasing; none for a solid."""
    floor: float
    """Height of the cavity's floor [m]; far below for a ring, far above for a solid."""


def tables_of_turned(shape: Turned) -> TurnedTables:
    """Return the arrays of a surface of revolution."""
    outline = outline_of_turned(shape)
    pieces = np.column_stack([outline[:-1], outline[1:]])
    pieces = pieces[np.hypot(pieces[:, 2] - pieces[:, 0], pieces[:, 3] - pieces[:, 1]) > _SAME]
    surface = np.empty((2 * len(pieces), 4))
    surface[0::2], surface[1::2] = pieces, _normals(pieces, closed=shape.through)
    top = float(outline[:, 1].max())
    first = int(np.argmax(outline[:, 1] > top - _SAME))
    bottom = int(np.argmin(outline[:, 1])) if shape.through else 0
    outer = outline[bottom : first + 1] if bottom <= first else outline[: first + 1]
    cavity, floor = np.zeros((0, 2)), 1e6
    if shape.inner:
        last = len(outline) - 1 - int(np.argmax(outline[::-1, 1] > top - _SAME))
        cavity = outline[last:][::-1]
        if shape.through:
            low = int(np.argmin(outline[last:, 1])) + last
            cavity = outline[last : low + 1][::-1]
        floor = -1e6 if shape.through else float(cavity[0, 1])
    return TurnedTables(surface=surface, outer=_rising(outer), cavity=_rising(cavity), floor=floor)


def _rising(points: Array) -> Array:
    """Return the pieces (n, 4) between points; height never decreases, so that every height has one radius."""
    if len(points) < 2:
        return np.zeros((0, 4))
    pieces = np.column_stack([points[:-1], points[1:]])
    pieces[:, 3] = np.maximum(pieces[:, 3], pieces[:, 1])
    return pieces


def _normals(pieces: Array, *, closed: bool) -> Array:
    """Return outward unit normals (n, 4) at both ends of pieces; smooth over blunt corners."""
    along = pieces[:, 2:] - pieces[:, :2]
    normal = np.column_stack([along[:, 1], -along[:, 0]]) / np.linalg.norm(along, axis=1)[:, None]
    count = len(pieces)
    out = np.column_stack([normal, normal])
    for k in range(count if closed else count - 1):
        n = (k + 1) % count
        if math.acos(float(np.clip(normal[k] @ normal[n], -1.0, 1.0))) < _CREASE:
            # The longer piece decides: a flat piece stays flat up to the start of its rounded corner.
            weight = np.linalg.norm(along[[k, n]], axis=1)
            mean = weight[0] * normal[k] + weight[1] * normal[n]
            mean /= np.linalg.norm(mean)
            out[k, 2:], out[n, :2] = mean, mean
    return out
