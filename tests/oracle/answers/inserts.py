"""What the oracle asks of an object that was inserted with a named end: where that end is among the walls."""

from typing import TYPE_CHECKING

import numpy as np
from tests.oracle.answers.deed import Deed, Verdict
from tests.oracle.answers.solids import Rays

if TYPE_CHECKING:
    from tests.oracle.oracle import Oracle

WALLED = 0.52
"""Share of level directions in which a wall is met inside."""
LOWER, UPPER = 0.4, 0.6
"""Height of the end above the floor, as a share of the depth: up to which it is deep enough, and from which it is
not."""
SLANTED, ASKEW = 42.0, 48.0
"""Its angle to straight down, up to which it points down and from which it does not [deg]."""
SOFT = 0.002
"""How far contacts give way [m]."""
_ROUND = np.linspace(0.0, 2.0 * np.pi, 32, endpoint=False)
_LEVEL = np.column_stack([np.cos(_ROUND), np.sin(_ROUND), np.zeros_like(_ROUND)])


def is_inserted(oracle: "Oracle", deed: Deed) -> Verdict:
    """Return whether the target carries it, and the end that was named points down, low among the target's walls."""
    if why := oracle._carried(deed) or _astray(oracle, deed):
        return Verdict(False, why)
    end, middle, slant = _pointing(oracle, deed)
    rays = Rays(oracle.solids(deed.target, deed.part))
    low = rays.height(end[:2], float(end[2]) + SOFT)
    # The rim: from the end up along the object, where the walls around it stop.
    steps = np.linspace(0.0, 1.0, 60)[:, None] * (2.0 * (middle - end)) + end
    walled = [float(step[2]) for step in steps if rays.blocked(step, _LEVEL) >= WALLED]
    if not walled or not np.isfinite(low):
        return Verdict(False, "no walls are around it, or nothing below it")
    share = (float(end[2]) - low) / max(max(walled) - low, 1e-6)
    why = f"its end is {share:.0%} of the depth above the floor, {slant:.0f} degrees off straight down"
    if share >= UPPER:
        return Verdict(False, why)
    return Verdict(True if share <= LOWER and slant <= SLANTED else None, why)


def _astray(oracle: "Oracle", deed: Deed) -> str:
    """Return what speaks against the end pointing down at the target."""
    end, _, slant = _pointing(oracle, deed)
    if slant > ASKEW:
        return f"it points {slant:.0f} degrees off straight down"
    return "" if oracle.solids(deed.target, deed.part).above(end[None])[0] else "its end is beside it"


def _pointing(oracle: "Oracle", deed: Deed) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the end (3,) and the middle (3,) of an object [m], and the angle from straight down to its end [deg]."""
    body, root = oracle.solids(deed.obj), oracle.bodies(deed.obj)[0]
    end = oracle.later.xmat[root].reshape(3, 3) @ np.array(deed.axis) + oracle.later.xpos[root]
    middle = 0.5 * (body.surface.min(axis=0) + body.surface.max(axis=0))
    way = (end - middle) / np.linalg.norm(end - middle)
    return end, middle, float(np.degrees(np.arccos(np.clip(-way[2], -1.0, 1.0))))
