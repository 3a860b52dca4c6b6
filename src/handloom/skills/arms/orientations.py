"""Tool orientations of a skill: direction filters, and the orientations a config requests."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.skills.configs.parts import APPROACH_ANGLE, NEGATIVE, Approach, DirectionFilter, Filters
from handloom.spatial import make_pose, matrix_from_rotvec, random_rotations

BASE_AXIS = {"forward": 0, "backward": 0, "leftward": 1, "rightward": 1, "upward": 2, "downward": 2}
"""Axis of the arm base along which each direction is measured."""
DRAWS = 3000
"""Random orientations per round; published value."""
ROUNDS = 10
"""Rounds before the filters count as impossible; a single round, as published, finds nothing for narrow filters."""


def direction_mask(T_base_tool: Array, filters: Filters, approach_axis: Array, up: Array) -> NDArray[np.bool_]:
    """Return which poses (n, 4, 4) pass all direction filters of a config (n,).

    ``approach`` is about the world. The published filters are about the axes of the arm base, also where a bent waist
    tilts it: the angles in published files count from there.

    Args:
        T_base_tool: Poses of the tool in the arm base.
        filters: The filters.
        approach_axis: Unit vector (3,) in the tool frame along which the hand reaches.
        up: Up in the world, in the arm base (3,).
    """
    keep = np.ones(len(T_base_tool), dtype=bool)
    if filters.approach is not None:
        keep &= _approaches(T_base_tool[:, :3, :3] @ approach_axis, filters.approach, up)
    for column, given in enumerate((filters.filter_x_dir, filters.filter_y_dir, filters.filter_z_dir)):
        if given is not None:
            keep &= _passes(T_base_tool[:, BASE_AXIS[given[0]], column], given)
    return keep


def _approaches(direction: Array, approach: Approach, up: Array) -> NDArray[np.bool_]:
    """Return which directions (n, 3) of the hand in the arm base ``approach`` allows."""
    word, angle = (approach, APPROACH_ANGLE[approach]) if isinstance(approach, str) else approach
    rise = direction @ up
    if word == "side":
        return np.abs(rise) <= np.sin(np.deg2rad(angle))
    ahead = np.array([1.0, 0.0, 0.0]) - up[0] * up  # Level, in the direction of the base.
    front = direction @ (ahead / np.linalg.norm(ahead))
    component = {"down": -rise, "front": front, "any": np.ones(len(direction))}[word]
    return component >= np.cos(np.deg2rad(angle))


def _passes(component: Array, given: DirectionFilter) -> NDArray[np.bool_]:
    """Compare the component of a hand axis along a base axis with the cosines of the filter's angles [deg]."""
    bounds: Sequence[float] = np.cos(np.deg2rad(np.asarray(given[1:], float))).tolist()
    if given[0] in NEGATIVE:
        return (component <= bounds[0]) & (component >= (bounds[1] if len(bounds) > 1 else -np.inf))
    return (component >= bounds[0]) & (component <= (bounds[1] if len(bounds) > 1 else np.inf))


FiltersT = TypeVar("FiltersT", bound=Filters)


def widened(filters: FiltersT, degrees: float) -> FiltersT:
    """Return a config whose direction filters are this much wider on every side [deg]."""
    update = {}
    for key in ("filter_x_dir", "filter_y_dir", "filter_z_dir"):
        given: DirectionFilter | None = getattr(filters, key)
        if given is not None:
            first = -degrees if given[0] in NEGATIVE else degrees
            angles = (angle + step for angle, step in zip(given[1:], (first, -first), strict=False))
            update[key] = (given[0], *(float(np.clip(angle, 0.0, 180.0)) for angle in angles))
    return filters.model_copy(update=update)


@dataclass(frozen=True, kw_only=True, eq=False)
class Alignment:
    """An axis of the held object that must point along a direction."""

    axis_tool: Array
    """Unit axis of the object in the hand (3,)."""
    axis_base: Array
    """Direction in the arm base (3,)."""
    tolerance: float
    """Largest angle between the two [rad]."""
    across: bool = False
    """Whether the axis must instead be at right angles to the direction, such as level."""

    def passes(self, R_base_tool: Array) -> NDArray[np.bool_]:
        """Return which orientations (n, 3, 3) are within the tolerance."""
        angle = np.arccos(np.clip((R_base_tool @ self.axis_tool) @ self.axis_base, -1.0, 1.0))
        return np.abs(angle - (0.5 * np.pi if self.across else 0.0)) < self.tolerance

    def exact(self, R_base_tool: Array) -> Array:
        """Return an orientation (3, 3) turned the shortest way until the axis points along the direction."""
        now = R_base_tool @ self.axis_tool
        wanted = self._across(now[None])[0] if self.across else self.axis_base
        axis = np.cross(now, wanted)
        sine = float(np.linalg.norm(axis))
        if sine < 1e-9:
            return R_base_tool
        return matrix_from_rotvec(axis / sine * np.arctan2(sine, now @ wanted)) @ R_base_tool

    def _across(self, directions: Array) -> Array:
        """Return the unit vectors (n, 3) at right angles to the direction that are nearest to given ones."""
        beside = np.linalg.svd(self.axis_base[None])[2][1:]
        level = (directions @ beside.T) @ beside
        length = np.linalg.norm(level, axis=1, keepdims=True)
        return np.where(length > 1e-9, level / np.maximum(length, 1e-9), beside[0])

    def applied(self, R_base_tool: Array, rng: np.random.Generator) -> Array:
        """Return orientations (n, 3, 3) turned, each by the shortest way, until they are within the tolerance.

        Uniform orientations become uniform among those that pass: the rotation about the axis stays equally random.
        Drawing until enough pass, as published, finds almost none if the tolerance is one degree.
        """
        now = R_base_tool @ self.axis_tool
        if self.across:
            off = rng.uniform(-0.999, 0.999, len(now))[:, None] * self.tolerance
            return _turned(R_base_tool, now, np.cos(off) * self._across(now) + np.sin(off) * self.axis_base)
        cosine = rng.uniform(np.cos(0.999 * self.tolerance), 1.0, len(now))[:, None]
        turn = rng.uniform(-np.pi, np.pi, len(now))[:, None]
        across = np.linalg.svd(self.axis_base[None])[2][1:]
        wanted = cosine * self.axis_base + np.sqrt(1.0 - cosine**2) * (
            np.cos(turn) * across[0] + np.sin(turn) * across[1]
        )
        return _turned(R_base_tool, now, wanted)


def _turned(R: Array, now: Array, wanted: Array) -> Array:
    """Return the smallest rotations (n, 3, 3) that turn unit vectors (n, 3) into others."""
    axis = np.cross(now, wanted)
    sine = np.linalg.norm(axis, axis=1, keepdims=True)
    angle = np.arctan2(sine, np.einsum("ni,ni->n", now, wanted)[:, None])
    return matrix_from_rotvec(axis / np.maximum(sine, 1e-12) * angle) @ R


def sample_orientations(
    rng: np.random.Generator,
    count: int,
    filters: Filters,
    alignment: Alignment | None = None,
    *,
    approach_axis: Array,
    up: Array,
    drawn: Callable[[int, np.random.Generator], Array] | None = None,
) -> Array:
    """Return up to ``count`` random orientations R_base_tool (n, 3, 3) that pass, possibly none.

    Args:
        rng: Random generator for this choice.
        count: Number of orientations wanted.
        filters: Direction filters.
        alignment: An axis of the held object that must point along a direction.
        approach_axis: Unit vector (3,) in the tool frame along which the hand reaches.
        up: Up in the world, in the arm base (3,).
        drawn: Draws candidate orientations; None draws uniformly from all orientations.
    """
    kept, found = [np.empty((0, 3, 3))], 0
    for _ in range(ROUNDS):
        R = random_rotations(rng, DRAWS) if drawn is None else drawn(DRAWS, rng)
        if alignment is not None and drawn is None:
            R = alignment.applied(R, rng)
        keep = direction_mask(make_pose(R, np.zeros((len(R), 3))), filters, approach_axis, up)
        if alignment is not None:
            keep &= alignment.passes(R)
        kept.append(R[keep])
        found += int(keep.sum())
        if found >= count:
            break
    return np.concatenate(kept)[:count]
