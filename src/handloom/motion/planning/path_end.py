"""The start or goal of a search, looked at closely."""

from dataclasses import dataclass

import numpy as np

from handloom.arrays import Array
from handloom.motion.collision import Touch
from handloom.motion.planning.open_end import OpenEnd
from handloom.motion.planning.scene_check import SceneCheck


@dataclass(frozen=True, kw_only=True, eq=False)
class PathEnd:
    """A configuration a path may start or end at."""

    q: Array
    """The configuration (n,)."""
    roomy: Array
    """Where the search starts: q itself, or a place near it with room for the padded spheres (n,)."""
    tolerated: tuple[Touch, ...] = ()
    """Contacts at q that the path may keep, as deep as they are."""

    @property
    def is_tight(self) -> bool:
        """Whether the search has to start beside q."""
        return self.roomy is not self.q


@dataclass(frozen=True, kw_only=True)
class BlockedEnd:
    """A configuration that no path can start or end at."""

    touches: tuple[Touch, ...]
    """What it touches; empty when it is free but enclosed too tightly to get out."""
    near: tuple[Touch, ...] = ()
    """What is close when nothing touches."""

    def __str__(self) -> str:
        if self.touches:
            return str(self.touches[0])
        nearest = f": {self.near[0]}" if self.near else ""
        return f"it is free, but no motion leads out of there{nearest}"


def look_at_end(
    scene: SceneCheck, open_end: OpenEnd, q: Array, *, padding: float, step: float, overlap: float
) -> PathEnd | BlockedEnd:
    """Decide whether a path can start or end at a configuration.

    Args:
        scene: Checkers.
        open_end: Finds room around tight places.
        q: Configuration (n,) within limits.
        padding: Distance the search keeps from obstacles [m].
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
