"""Opening and place of a gripper's pads on the line where they hold, by level and depth."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handloom.grasping.convex_parts import Array


@dataclass(frozen=True, kw_only=True, eq=False)
class GripTable:
    """What a gripper's drive does to its pads; NaN where the line misses a pad."""

    depths: Array
    """How far the fingertips reach past the line of contact (d,) [m]."""
    opening: Array
    """Distance of the pads on that line (levels, d) [m], rising with the level."""
    middle: Array
    """Point between the pads (levels, d, 3) in the hand frame [m]."""

    def at_opening(self, width: Array, depth: NDArray[np.int64]) -> tuple[Array, Array]:
        """Return the level (n,), a fraction, and the middle (n, 3) [m] for openings (n,) [m] at depth indices (n,).

        NaN where the gripper does not open that far, or the line of contact misses a pad.
        """
        level, middle = np.full(len(width), np.nan), np.full((len(width), 3), np.nan)
        for j in range(len(self.depths)):
            here = depth == j
            known = np.flatnonzero(np.isfinite(self.opening[:, j]))
            if len(known) < 2 or not here.any():
                continue
            gaps = self.opening[known, j]
            found = np.interp(width[here], gaps, known, left=known[0], right=np.nan)
            level[here] = found
            for axis in range(3):
                middle[here, axis] = np.interp(found, known, self.middle[known, j, axis])
        middle[np.isnan(level)] = np.nan
        return level, middle
