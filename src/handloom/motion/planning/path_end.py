"""The start or goal of a search, and the way out of one that is too tight for the padded spheres."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from handloom.arrays import Array
from handloom.motion.collision import Touch
from handloom.motion.kinematics import IkOptions, IkSolver, halton
from handloom.motion.planning.arm_group import ArmGroup
from handloom.motion.planning.scene_check import SceneCheck
from handloom.spatial import invert_pose, translation

RETREATS = (0.01, 0.02, 0.04, 0.07, 0.11, 0.16)
"""Distances by which the tool is withdrawn in search of room [m]."""

NUDGES = (0.01, 0.03, 0.06, 0.1, 0.2, 0.35)
"""Sizes of joint motions tried if withdrawing does not help [rad or m]."""

NUDGES_PER_SIZE = 48
"""Directions tried per size."""

DRAWN = np.concatenate([[[0, 0, -1.0]], np.eye(3)[:2], -np.eye(3)[:2], [[0, 0, 1.0]]])
"""Directions in the tool's own frame along which it is withdrawn (6, 3)."""

MOST_EXACT = 12
"""Number of ways out whose motion is checked exactly before giving up."""


class OpenEnd:
    """Finds a roomy configuration near a tight one, with an exactly free straight motion between the two.

    Gripper poses around an object, or a hand a millimetre above a table, are free, but not with the padding and
    tolerance of the spheres. The search starts from a configuration with room, and the last part is checked exactly.
    """

    def __init__(self, scene: SceneCheck, arms: ArmGroup) -> None:
        self._scene, self._arms = scene, arms
        once = IkOptions(max_seeds=1, threads=1, tighten=0.5 if len(arms) == 1 else 0.02)
        self._solvers = tuple(IkSolver(chain, once) for chain in arms.chains)

    def find(self, q: Array, *, padding: float, step: float, touches: tuple[Touch, ...] = ()) -> Array | None:
        """Return a configuration (n,) near q with more clearance, or None.

        Args:
            q: Configuration (n,) within limits.
            padding: Distance to keep from obstacles at the roomy end [m].
            step: Exact checking step [rad or m].
            touches: Contacts at q that are tolerated at their current depth.
        """
        allowed = {frozenset((t.part, t.other)): t.depth + 1e-4 for t in touches}
        roomy = self._scene.spheres(padding)
        for batches in (self._drawn_back(q), self._nudged(q)):
            tried = 0
            for ways in batches:
                free = ways[roomy.configurations_free(ways)] if len(ways) else ways
                for way in free[: MOST_EXACT - tried]:
                    if self._scene.first_collision(np.stack([q, way]), step=step, allowed=allowed) is None:
                        return way
                tried += len(free)
        return None

    def _drawn_back(self, q: Array) -> Iterator[Array]:
        """Yield batches of configurations with all tools, or one, withdrawn along its axes or up, nearest first."""
        for distance in RETREATS:
            if len(self._arms) > 1:
                yield self._together(q, distance)
            yield self._one_by_one(q, distance)

    def _one_by_one(self, q: Array, distance: float) -> Array:
        """Return configurations with one tool withdrawn by a distance [m]."""
        found = []
        for chain, solver, columns in zip(self._arms.chains, self._solvers, self._arms.columns, strict=True):
            T = chain.T_base_tool(q[columns])
            up = T[:3, :3].T @ np.array([0.0, 0.0, 1.0])
            shifts = distance * np.vstack([up, DRAWN])
            result = solver.solve(T @ translation(shifts), seed=q[columns], are_poses=True)
            ways = np.tile(q, (len(shifts), 1))
            ways[:, columns] = result.q
            found.append(ways[result.solved])
        return np.concatenate(found)

    def _together(self, q: Array, distance: float) -> Array:
        """Return configurations with all tools withdrawn by the same motion, so that they keep a held object."""
        T_first_base, ways = self._arms.T_first_base, []
        T_first_tool = T_first_base @ self._arms.tools(q)
        shifts = distance * np.vstack([[0, 0, 1.0], np.eye(3)[:2], -np.eye(3)[:2]])
        T = invert_pose(T_first_base) @ translation(shifts)[:, None] @ T_first_tool
        solved = np.ones(len(shifts), bool)
        for arm, (solver, columns) in enumerate(zip(self._solvers, self._arms.columns, strict=True)):
            result = solver.solve(T[:, arm], seed=q[columns], are_poses=True)
            ways.append(result.q)
            solved &= result.solved
        return np.concatenate(ways, axis=1)[solved]

    def _nudged(self, q: Array) -> Iterator[Array]:
        """Yield small joint motions in all directions, smallest first."""
        directions = 2.0 * halton(NUDGES_PER_SIZE, len(q)) - 1.0
        tree = self._scene.robot.tree
        for size in NUDGES:
            yield np.clip(q + size * directions, tree.lower, tree.upper)


@dataclass(frozen=True, kw_only=True, eq=False)
class PathEnd:
    """A configuration at which a path may start or end."""

    q: Array
    """The configuration (n,)."""
    roomy: Array
    """Start of the search: q itself, or a nearby configuration with room for the padded spheres (n,)."""
    tolerated: tuple[Touch, ...] = ()
    """Contacts at q that the path may keep at their current depth."""

    @property
    def is_tight(self) -> bool:
        """Whether the search must start at another configuration than q."""
        return self.roomy is not self.q


@dataclass(frozen=True, kw_only=True)
class BlockedEnd:
    """A configuration at which no path can start or end."""

    touches: tuple[Touch, ...]
    """Contacts; empty if the configuration is free but enclosed too tightly to leave."""
    near: tuple[Touch, ...] = ()
    """Closest solids, if there is no contact."""

    def __str__(self) -> str:
        if self.touches:
            return str(self.touches[0])
        nearest = f": {self.near[0]}" if self.near else ""
        return f"it is free, but no motion leads out of it{nearest}"


def look_at_end(
    scene: SceneCheck, open_end: OpenEnd, q: Array, *, padding: float, step: float, overlap: float
) -> PathEnd | BlockedEnd:
    """Decide whether a path can start or end at a configuration.

    Args:
        scene: Checkers.
        open_end: Finds room around tight places.
        q: Configuration (n,) within limits.
        padding: Distance that the search keeps from obstacles [m].
        step: Exact checking step [rad or m].
        overlap: Depth of contacts that are tolerated [m].
    """
    touches = tuple(scene.exact.touches(q))
    if touches and touches[0].depth > overlap:
        return BlockedEnd(touches=touches)
    if scene.spheres(padding).configurations_free(q)[0]:
        return PathEnd(q=q, roomy=q, tolerated=touches)
    roomy = open_end.find(q, padding=padding, step=step, touches=touches)
    if roomy is None:
        return BlockedEnd(touches=touches, near=tuple(scene.exact.touches(q, within=np.inf)))
    return PathEnd(q=q, roomy=roomy, tolerated=touches)
