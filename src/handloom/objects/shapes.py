"""The building blocks of objects: solids, shells, open boxes, arcs.

Sizes are full lengths [m], not half lengths, because objects are drawn as they are measured. ``look`` keywords
(color, substance, material, edge, fill, body, visible, solid, round) go to ``Part`` unchanged.
"""

import math
from dataclasses import replace
from itertools import pairwise
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.objects.materials import Rgb
from handloom.objects.parts import UPRIGHT, Part, Point, Quat, point
from handloom.render.looks import Swept, Turned
from handloom.spatial import matrix_from_quat, quat_from_axis_angle, quat_from_euler_deg, quat_rotate

ORIGIN: Point = (0.0, 0.0, 0.0)
_SEAM = 0.01
"""Overlap of neighbouring wall pieces, as a fraction of their width."""
FOOT = 0.0006
"""Gap below the walls of objects that stand on their floor [m]. Sixteen walls flush with the floor would each touch the
table in four points, and physics would spend most of its time on contacts that the floor alone can bear."""
EDGE = 0.002
"""Radius to which edges of round things are rounded in images [m]."""
CORNER = 60.0
"""Corners of profiles blunter than this are drawn as curves [deg]."""
Profile = list[tuple[float, float]]
"""Pairs (radius, z) [m]."""


class Appearance(TypedDict, total=False):
    """Material and body of a part; see ``Part``."""

    color: Rgb
    substance: str
    material: str | None
    edge: float | None
    fill: float
    body: str
    visible: bool
    solid: bool
    round: bool


def printed(color: Rgb, material: str | None = None, body: str = "object") -> Appearance:
    """Return the look of a printed label: visible, massless, without collisions."""
    return Appearance(color=color, substance="paper", material=material, fill=0.0, solid=False, body=body)


def box(size: ArrayLike, at: ArrayLike = ORIGIN, *, euler: ArrayLike = ORIGIN, **look: Unpack[Appearance]) -> Part:
    """Return a box of full size (3,) centred at ``at``, turned by extrinsic xyz Euler angles [deg]."""
    x, y, z = point(size)
    return Part(shape="box", size=(x / 2, y / 2, z / 2), position=point(at), quat=turned(euler), **look)


def cylinder(
    radius: float, height: float, at: ArrayLike = ORIGIN, *, euler: ArrayLike = ORIGIN, **look: Unpack[Appearance]
) -> Part:
    """Return a cylinder along z, centred at ``at``."""
    return Part(shape="cylinder", size=(radius, height / 2), position=point(at), quat=turned(euler), **look)


def ellipsoid(
    size: ArrayLike, at: ArrayLike = ORIGIN, *, euler: ArrayLike = ORIGIN, **look: Unpack[Appearance]
) -> Part:
    """Return an ellipsoid of full size (3,) centred at ``at``."""
    x, y, z = point(size)
    return Part(shape="ellipsoid", size=(x / 2, y / 2, z / 2), position=point(at), quat=turned(euler), **look)


def sphere(radius: float, at: ArrayLike = ORIGIN, **look: Unpack[Appearance]) -> Part:
    """Return a sphere centred at ``at``."""
    return Part(shape="sphere", size=(radius,), position=point(at), **look)


def rod(start: ArrayLike, end: ArrayLike, radius: float, **look: Unpack[Appearance]) -> Part:
    """Return a capsule whose end spheres are centred at ``start`` and ``end``."""
    a, b = np.asarray(start, float), np.asarray(end, float)
    length = float(np.linalg.norm(b - a))
    return Part(shape="capsule", size=(radius, length / 2), position=point((a + b) / 2), quat=_z_towards(b - a), **look)


def bar(start: ArrayLike, end: ArrayLike, radius: float, **look: Unpack[Appearance]) -> Part:
    """Return a cylinder with flat ends at ``start`` and ``end``."""
    a, b = np.asarray(start, float), np.asarray(end, float)
    length = float(np.linalg.norm(b - a))
    return Part(
        shape="cylinder", size=(radius, length / 2), position=point((a + b) / 2), quat=_z_towards(b - a), **look
    )


def hull(vertices: ArrayLike, at: ArrayLike = ORIGIN, *, euler: ArrayLike = ORIGIN, **look: Unpack[Appearance]) -> Part:
    """Return the convex hull of vertices (n, 3)."""
    corners = tuple((x, y, z) for x, y, z in np.asarray(vertices, float).tolist())
    return Part(shape="hull", vertices=corners, position=point(at), quat=turned(euler), **look)


def lathe(profile: Profile, at: ArrayLike = ORIGIN, *, sides: int = 12, **look: Unpack[Appearance]) -> Part:
    """Return the convex hull of rings (radius, z) about z: a cone, a dome, a pear half.

    The polygon has the area of the circle, so that the volume (and with it the mass) is that of the round object.
    """
    rings = [_ring(r, z, sides) if r > 0.0 else np.array([[0.0, 0.0, z]]) for r, z in profile]
    return replace(hull(np.concatenate(rings), at, **look), drawn=_turned_solid(profile))


def slab(size: ArrayLike, radius: float, at: ArrayLike = ORIGIN, *, arc: int = 2, **look: Unpack[Appearance]) -> Part:
    """Return a flat box of full size (3,) with vertical edges rounded in ``arc`` steps per corner."""
    x, y, z = point(size)
    angles = np.linspace(0.0, math.pi / 2, arc + 1)
    quarter = radius * np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    outline = [
        quarter @ _turn(k * math.pi / 2).T + (sx * (x / 2 - radius), sy * (y / 2 - radius))
        for k, (sx, sy) in enumerate(((1, 1), (-1, 1), (-1, -1), (1, -1)))
    ]
    return prism(np.concatenate(outline), z, at, **look)


def prism(
    outline: ArrayLike, height: float, at: ArrayLike = ORIGIN, *, euler: ArrayLike = ORIGIN, **look: Unpack[Appearance]
) -> Part:
    """Return a prism of a convex outline (n, 2) in x and y, centred in z."""
    flat = np.asarray(outline, float)
    ends = [np.column_stack([flat, np.full(len(flat), z)]) for z in (-height / 2, height / 2)]
    return hull(np.concatenate(ends), at, euler=euler, **look)


def shell(
    outer: Profile,
    inner: Profile,
    at: ArrayLike = ORIGIN,
    *,
    sides: int = 12,
    start_deg: float = 0.0,
    foot: float = 0.0,
    **look: Unpack[Appearance],
) -> list[Part]:
    """Return the wall between an outer and an inner profile as one convex hull per side.

    The cross section is the hull of both profiles: the outer one may bulge, the inner one is straight. Nothing of it
    is lower than ``foot`` [m]; see ``FOOT``.
    """
    step = 2.0 * math.pi / sides
    grow = _equal_area(sides)
    parts = []
    for k in range(sides):
        # Neighbours overlap a little, so that no light passes between them.
        edges = math.radians(start_deg) + step * (np.array([k - _SEAM, k + 1 + _SEAM]) - 0.5)
        rim = np.stack([np.cos(edges), np.sin(edges)], axis=-1).tolist()
        corners = [(grow * r * x, grow * r * y, max(z, foot)) for r, z in (*outer, *inner) for x, y in rim]
        parts.append(hull(corners, at, **look))
    parts[0] = replace(parts[0], drawn=_turned_shell(outer, inner, foot))
    return [parts[0], *(replace(part, drawn="with the last") for part in parts[1:])]


def _without_kinks(profile: Profile) -> Profile:
    """Return a profile curved through its blunt corners; corners sharper than CORNER stay."""
    points = np.asarray(profile, float)
    steps = np.diff(points, axis=0)
    if len(points) < 3 or np.any(np.linalg.norm(steps, axis=1) < 1e-6):
        return profile
    ways = steps / np.linalg.norm(steps, axis=1, keepdims=True)
    sharp = np.flatnonzero(np.sum(ways[1:] * ways[:-1], axis=1) < math.cos(math.radians(CORNER))) + 1
    cuts = [0, *sharp.tolist(), len(points) - 1]
    pieces = [profile[a : b + 1] for a, b in pairwise(cuts)]
    fine = [curved(piece, steps=4) if len(piece) > 2 else piece for piece in pieces]
    return [*fine[0], *(ring for piece in fine[1:] for ring in piece[1:])]


def _turned_solid(profile: Profile) -> Turned:
    """Return the smooth solid of a convex profile, from the bottom up."""
    rising = _without_kinks(sorted(profile, key=lambda ring: ring[1]))
    height, radius = rising[-1][1] - rising[0][1], max(r for r, _ in rising)
    return Turned(outer=tuple(rising), edge=min(EDGE, 0.2 * height, 0.2 * radius))


def _turned_shell(outer: Profile, inner: Profile, foot: float) -> Turned:
    """Return the smooth wall between two profiles; parts without an inner profile are closed by the hull."""
    rising = _without_kinks(sorted(((r, max(z, foot)) for r, z in outer), key=lambda ring: ring[1]))
    wall = sorted(((r, max(z, foot)) for r, z in inner), key=lambda ring: ring[1])
    thick = min(abs(rising[-1][0] - wall[-1][0]), abs(rising[0][0] - wall[0][0]) or EDGE)
    return Turned(outer=tuple(rising), inner=tuple(wall), through=True, edge=min(0.45 * max(thick, 1e-4), EDGE))


def tube(
    radius: float,
    height: float,
    wall: float,
    at: ArrayLike = ORIGIN,
    *,
    flare: float = 0.0,
    sides: int = 16,
    foot: float = 0.0,
    **look: Unpack[Appearance],
) -> list[Part]:
    """Return a wall of outer radius ``radius`` at the bottom and ``radius + flare`` at the top, bottom at ``at``."""
    outer = [(radius, 0.0), (radius + flare, height)]
    return shell(outer, [(r - wall, z) for r, z in outer], at, sides=sides, foot=foot, **look)


def open_box(
    size: ArrayLike, wall: float, at: ArrayLike = ORIGIN, *, floor: float | None = None, **look: Unpack[Appearance]
) -> list[Part]:
    """Return floor and four walls of a box of full outer size (3,) that is open at the top; bottom centre at ``at``."""
    x, y, z = point(size)
    thick = wall if floor is None else floor
    side = z - thick
    pieces = [
        ((x, y, thick), (0.0, 0.0, thick / 2)),
        ((wall, y, side), ((x - wall) / 2, 0.0, thick + side / 2)),
        ((wall, y, side), ((wall - x) / 2, 0.0, thick + side / 2)),
        ((x - 2 * wall, wall, side), (0.0, (y - wall) / 2, thick + side / 2)),
        ((x - 2 * wall, wall, side), (0.0, (wall - y) / 2, thick + side / 2)),
    ]
    return [box(full, np.add(at, centre), **look) for full, centre in pieces]


def arc(
    centre: ArrayLike,
    radii: tuple[float, float],
    thickness: float,
    *,
    span_deg: tuple[float, float] = (-80.0, 80.0),
    pieces: int = 4,
    euler: ArrayLike = (90.0, 0.0, 0.0),
    **look: Unpack[Appearance],
) -> list[Part]:
    """Return capsules along an elliptic arc; with the default turn it stands in the xz plane and bulges to +x.

    Args:
        centre: Centre of the ellipse [m].
        radii: Half axes along the arc's x (how far it bulges) and y (upwards) [m].
        thickness: Diameter of the rod [m].
        span_deg: First and last angle from the arc's x axis [deg].
        pieces: Number of capsules.
        euler: Turn of the arc's plane, extrinsic xyz [deg].
        **look: See ``Part``.
    """
    angles = np.deg2rad(np.linspace(*span_deg, pieces + 1))
    flat = np.stack([radii[0] * np.cos(angles), radii[1] * np.sin(angles), np.zeros_like(angles)], axis=-1)
    knots = np.asarray(centre, float) + quat_rotate(turned(euler), flat)
    rods = [rod(a, b, thickness / 2, **look) for a, b in pairwise(knots)]
    return drawn_as_tube(rods, knots, thickness / 2)


def as_built(parts: list[Part]) -> list[Part]:
    """Return the parts drawn separately, with their collision corners: for walls that are not round."""
    return [replace(part, drawn="itself") for part in parts]


def striped(parts: list[Part], color: Rgb) -> list[Part]:
    """Return the parts with every second one in another colour, seen by cameras as a band around the upper half."""
    drawn = parts[0].drawn
    painted = [replace(p, color=color) if i % 2 else p for i, p in enumerate(parts)]
    if isinstance(drawn, Turned):
        low, high = drawn.outer[0][1], drawn.outer[-1][1]
        band = (low + 0.55 * (high - low), low + 0.85 * (high - low))
        painted[0] = replace(painted[0], drawn=replace(drawn, band=band, band_color=color))
    return painted


def curved(profile: Profile, *, steps: int = 6) -> Profile:
    """Return a profile without kinks through the same points: a curve that never overshoots them."""
    points = np.asarray(profile, float)
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    fine = np.linspace(0.0, along[-1], steps * (len(points) - 1) + 1)
    slopes = np.column_stack([_monotone_slopes(along, points[:, k]) for k in range(2)])
    k = np.clip(np.searchsorted(along, fine, side="right") - 1, 0, len(along) - 2)
    h = (along[k + 1] - along[k])[:, None]
    t = (fine - along[k])[:, None] / h
    values = (1 + 2 * t) * (1 - t) ** 2 * points[k] + t * (1 - t) ** 2 * h * slopes[k]
    values += t * t * (3 - 2 * t) * points[k + 1] + t * t * (t - 1) * h * slopes[k + 1]
    return [(float(r), float(z)) for r, z in values]


def _monotone_slopes(x: Array, y: Array) -> Array:
    """Return slopes of a cubic curve that rises and falls only where its points do (Fritsch and Butland, 1984)."""
    secants = np.diff(y) / np.diff(x)
    slopes = np.concatenate([secants[:1], np.zeros(len(x) - 2), secants[-1:]])
    left, right = secants[:-1], secants[1:]
    same = left * right > 0
    slopes[1:-1][same] = 2 * left[same] * right[same] / (left[same] + right[same])
    return slopes


def drawn_as(parts: list[Part], surface: Turned) -> list[Part]:
    """Return the parts with one visible surface of revolution for all of them, in the frame of the first."""
    return [replace(parts[0], drawn=surface), *(replace(part, drawn="with the last") for part in parts[1:])]


def drawn_as_tube(parts: list[Part], knots: ArrayLike, radii: ArrayLike, *, flat: float = 1.0) -> list[Part]:
    """Return the parts with one visible smooth tube for all of them.

    Args:
        parts: What collides.
        knots: Points (n, 3) of the tube's middle in the body [m].
        radii: Its radius, everywhere or at each point [m].
        flat: Ratio of the width across the plane of the curve to the width in it.
    """
    R = matrix_from_quat(parts[0].quat)
    local = (np.asarray(knots, float) - parts[0].position) @ R
    widths = np.broadcast_to(np.asarray(radii, float), len(local)).tolist()
    tube_ = Swept(centre=tuple(point(p) for p in local), radii=tuple(widths), flat=flat)
    return [replace(parts[0], drawn=tube_), *(replace(part, drawn="with the last") for part in parts[1:])]


def laid(part: Part, height: float) -> Part:
    """Return a part drawn along z, rotated to lie along x with its axis at a height [m]."""
    return replace(part, quat=turned((0.0, 90.0, 0.0)), position=(0.0, 0.0, height))


def turned(euler: ArrayLike) -> Quat:
    """Return the quaternion of extrinsic xyz Euler angles [deg]."""
    if not np.any(np.asarray(euler)):
        return UPRIGHT
    w, x, y, z = quat_from_euler_deg(euler).tolist()
    return (w, x, y, z)


def _z_towards(direction: Array) -> Quat:
    """Return a rotation that takes z to a direction; any roll will do for a round object."""
    d = direction / np.linalg.norm(direction)
    cross = np.array([-d[1], d[0], 0.0])
    if np.linalg.norm(cross) < 1e-9:
        return UPRIGHT if d[2] > 0.0 else (0.0, 1.0, 0.0, 0.0)
    w, x, y, z = quat_from_axis_angle(cross, math.acos(float(np.clip(d[2], -1.0, 1.0)))).tolist()
    return (w, x, y, z)


def _equal_area(sides: int) -> float:
    """Return the factor on the corner radius that gives a regular polygon the area of its circle."""
    return math.sqrt(2.0 * math.pi / (sides * math.sin(2.0 * math.pi / sides)))


def _ring(radius: float, z: float, sides: int) -> Array:
    a = (np.arange(sides) - 0.5) * (2.0 * math.pi / sides)
    r = radius * _equal_area(sides)
    return np.stack([r * np.cos(a), r * np.sin(a), np.full(sides, z)], axis=-1)


def _turn(angle: float) -> Array:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s], [s, c]])
