"""Antipodal pairs of surface points that two fingers can squeeze."""

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.grasping.annotate_options import AnnotateOptions
from handloom.grasping.convex_parts import Array, ConvexParts
from handloom.grasping.ray_kernels import opposite_points, outer_points
from handloom.objects.geometry import triangles

LIFTED = 1e-3
"""Rays back to the surface start this far above it [m]; a point with less clearance is unusable for a finger."""
JOINED = 1e-4
"""Parts closer together than this count as one solid [m]."""
EXITS = 4
"""Exits kept along one ray: outer wall, inner wall and the same on the far side."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AntipodalPairs:
    """m pairs of contacts."""

    contacts: Array
    """(m, 2, 3) [m]."""
    normals: Array
    """(m, 2, 3) outward."""
    score: Array
    """(m,) least coefficient of friction that holds, one of the options' levels."""

    def __len__(self) -> int:
        """Return m."""
        return len(self.score)

    def take(self, rows: NDArray[np.int64]) -> "AntipodalPairs":
        """Return the pairs at indices ``rows``, in that order."""
        return AntipodalPairs(contacts=self.contacts[rows], normals=self.normals[rows], score=self.score[rows])

    @property
    def closing(self) -> Array:
        """Unit vectors (m, 3) from the first contact to the second."""
        return (self.contacts[:, 1] - self.contacts[:, 0]) / self.width[:, None]

    @property
    def width(self) -> Array:
        """Distance (m,) between the two contacts [m]."""
        return np.linalg.norm(self.contacts[:, 1] - self.contacts[:, 0], axis=1)


def sample_surface(
    model: mujoco.MjModel, parts: ConvexParts, count: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Draw points from the outer surface of a solid, uniformly by area.

    Points are drawn on a fine mesh of every part, then moved onto the exact surface; those inside another part, or in
    a gap too narrow for a finger, are dropped.

    Returns:
        Points (n, 3) [m] and outward normals (n, 3), n <= count.
    """
    vertices, faces = triangles(model, solid=True)
    a, b, c = vertices[faces].transpose(1, 0, 2)
    across = np.cross(b - a, c - a)
    area = np.linalg.norm(across, axis=1)
    face = np.searchsorted(np.cumsum(area), rng.uniform(size=count) * area.sum()).clip(max=len(area) - 1)
    u, v = rng.uniform(size=(2, count, 1))
    u, v = np.where(u + v > 1.0, 1.0 - u, u), np.where(u + v > 1.0, 1.0 - v, v)
    points = a[face] + u * (b - a)[face] + v * (c - a)[face]
    normals = across[face] / area[face, None]
    points, normals, hit = outer_points(parts, points + LIFTED * normals, -normals, 2.0 * LIFTED)
    return points[hit], normals[hit]


def antipodal_pairs(
    model: mujoco.MjModel, parts: ConvexParts, widest: float, options: AnnotateOptions, rng: np.random.Generator
) -> AntipodalPairs:
    """Send rays from surface points through the solid; keep pairs whose line lies in both friction cones.

    Args:
        model: The object's model.
        parts: Its solid parts.
        widest: Longest distance of two contacts [m].
        options: Settings.
        rng: Draws points and directions.
    """
    points, normals = sample_surface(model, parts, options.samples, rng)
    points, normals = np.repeat(points, options.rays, axis=0), np.repeat(normals, options.rays, axis=0)
    exact = np.arange(len(points)) % options.rays == 0
    return pairs_through(parts, points, normals, np.where(exact, 0.0, options.max_friction), widest, options, rng)[0]


def pairs_through(
    parts: ConvexParts,
    starts: Array,
    normals: Array,
    spread: Array,
    widest: float,
    options: AnnotateOptions,
    rng: np.random.Generator,
) -> tuple[AntipodalPairs, NDArray[np.int64]]:
    """Send one ray from each surface point, along a direction in its friction cone; return the pairs that hold.

    Args:
        parts: The solid.
        starts: Surface points (n, 3) [m].
        normals: Outward normals there (n, 3).
        spread: Width (n,) of the cone from which a direction is drawn, as a coefficient of friction; 0 takes the
            normal.
        widest: Longest distance of two contacts [m].
        options: Settings.
        rng: Draws directions.

    Returns:
        Pairs, and the index (m,) of each one's start.
    """
    directions = _in_cone(-normals, spread, rng)
    ray, distance, far_normal = opposite_points(parts, starts, directions, JOINED, widest, EXITS)
    near_normal, direction = normals[ray], directions[ray]
    # Friction that keeps the closing force inside both cones: the larger tangent of the angles to the normals.
    cosine = np.minimum(-np.sum(near_normal * direction, axis=1), np.sum(far_normal * direction, axis=1))
    # An angle of a hundredth of a degree is rounding, not geometry.
    needed = np.sqrt(np.maximum(1.0 / np.maximum(cosine, 1e-3) ** 2 - 1.0, 0.0)) - 1e-6
    levels = np.array([f for f in options.frictions if f <= options.max_friction + 1e-9])
    holds = (cosine > 0.0) & (needed <= levels[-1])
    near, inward = starts[ray][holds], direction[holds]
    far = near + distance[holds, None] * inward
    # A contact near an edge may slip off it, so it is rated like one that needs more friction.
    slips = np.maximum(_slips(parts, near, inward, options), _slips(parts, far, -inward, options))
    level = np.searchsorted(levels, needed[holds]) + slips
    pairs = AntipodalPairs(
        contacts=np.stack([near, far], axis=1),
        normals=np.stack([near_normal[holds], far_normal[holds]], axis=1),
        score=np.array(options.frictions)[np.minimum(level, len(options.frictions) - 1)],
    )
    return pairs, ray[holds]


def shifted(
    parts: ConvexParts, contact: Array, normal: Array, distance: float, rng: np.random.Generator
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Move surface points (n, 3) sideways, most by less than ``distance`` [m] and often along one direction only.

    Returns:
        Points (n, 3), outward normals (n, 3), and whether each found a surface (n,).
    """
    side, other = _across(normal)
    # Squaring makes small steps more common: good contacts often lie along a rim, where a step across leaves it.
    u, v = distance * rng.standard_normal((2, len(contact), 1)) * rng.uniform(size=(2, len(contact), 1)) ** 2
    return outer_points(parts, contact + u * side + v * other + distance * normal, -normal, 2.0 * distance)


def _slips(parts: ConvexParts, contact: Array, inward: Array, options: AnnotateOptions) -> NDArray[np.int64]:
    """Return the number (n,) of directions, out of four, in which a shift by the patch size leaves the surface."""
    side, other = _across(inward)
    slips = np.zeros(len(contact), np.int64)
    for shift in (side, -side, other, -other):
        start = contact + options.patch * shift - options.patch_step * inward
        slips += ~outer_points(parts, start, inward, 2.0 * options.patch_step)[2]
    return slips


def _in_cone(axis: Array, friction: Array, rng: np.random.Generator) -> Array:
    """Return unit directions (n, 3) within the friction cones about axes (n, 3), uniform in tangent and azimuth."""
    side, other = _across(axis)
    tangent = (friction * rng.uniform(size=len(axis)))[:, None]
    turn = rng.uniform(0.0, 2.0 * np.pi, size=(len(axis), 1))
    direction = axis + tangent * (np.cos(turn) * side + np.sin(turn) * other)
    return direction / np.linalg.norm(direction, axis=1, keepdims=True)


def _across(axis: Array) -> tuple[Array, Array]:
    """Return two unit vectors (n, 3) at right angles to unit axes (n, 3) and to each other."""
    side = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis), axis=1)])
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    return side, np.asarray(np.cross(axis, side), float)
