"""Success terms about named points and sides of things: left of, pressed, struck, shaken, facing."""

from collections.abc import Sequence

import numpy as np

from handloom.judging.checks import Nature, check
from handloom.judging.world_terms import TOUCHING
from handloom.scene import Scene
from handloom.scene.measures import world_box

SAME_LEVEL = 0.04
"""How far apart the lowest points of things may be that stand on the same thing [m]: plates and mats have a foot."""
ASTRAY = 0.03
"""How far to the side of a thing's middle that which is left of it, or before it, may always be [m]."""


@check(Nature.PLACED)
def apart_along(
    scene: Scene, *, object: str, target: str, way: Sequence[float], low: float, high: float, level: float = SAME_LEVEL
) -> bool:
    """Return whether an object stands on one side of a target, straight, on the same level, with a gap between them.

    Straight: its middle is no farther to the side than the target's own edge, or 3 cm where that is less.

    Args:
        scene: The scene.
        object: The object.
        target: What it is left of, right of, in front of or behind.
        way: Unit vector (2,) along a world axis from the target to the object.
        low: Least gap between their boxes along the way [m].
        high: Largest gap [m].
        level: Largest difference of their lowest points [m].
    """
    a, b = world_box(scene, object), world_box(scene, target)
    k = int(np.argmax(np.abs(way)))
    gap = a[0, k] - b[1, k] if way[k] > 0.0 else b[0, k] - a[1, k]
    off = abs(float((a - b).mean(axis=0)[1 - k]))
    straight = max(ASTRAY, 0.5 * float(b[1, 1 - k] - b[0, 1 - k]))
    apart = max(low, -TOUCHING) if low > 0.0 else -TOUCHING
    return bool(apart <= gap <= high and off <= straight and abs(a[0, 2] - b[0, 2]) <= level)
