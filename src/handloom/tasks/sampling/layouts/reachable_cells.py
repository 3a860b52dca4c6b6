"""The reachable part of a region as small cells, from which places are drawn when objects find no room at random."""

from dataclasses import dataclass

import numpy as np

from handloom.arrays import Array
from handloom.scene.region_config import RandomConfig

CELL = 0.015
"""Largest side length of a cell [m]; reach maps have a spot every 3 or 6 cm."""


@dataclass(frozen=True, eq=False)
class ReachableCells:
    """Cells of a region whose middles are within reach of the hands."""

    ranges: RandomConfig
    """The region's ranges."""
    middles: Array
    """Middles of the cells (n, 2), relative to the middle of the target [m]."""
    size: Array
    """Side lengths of a cell (2,) [m]."""

    def drawn(self, rng: np.random.Generator) -> RandomConfig:
        """Return the ranges limited to a random cell; cells far from the middle are drawn more often.

        In the middle of the reach, an object leaves no room for another one on either side.

        Args:
            rng: Generator of places.
        """
        far = np.linalg.norm(self.middles - self.middles.mean(axis=0), axis=1) + CELL
        middle = self.middles[rng.choice(len(far), p=far / far.sum())]
        low, high = (middle - self.size / 2).tolist(), (middle + self.size / 2).tolist()
        assert self.ranges.pos_range is not None
        bottom, top = (corner[2] for corner in self.ranges.pos_range)
        return self.ranges.model_copy(update={"pos_range": ((*low, bottom), (*high, top))})


def cells_of(ranges: RandomConfig) -> tuple[Array, Array]:
    """Return the middles (n, 2) of all cells of a region, and the side lengths of a cell (2,) [m].

    Args:
        ranges: Its ranges, with a ``pos_range``.
    """
    low, high = np.array(ranges.pos_range)[:, :2]
    count = np.maximum(1, np.ceil((high - low) / CELL)).astype(int)
    size = (high - low) / count
    steps = np.stack(np.meshgrid(*map(np.arange, count), indexing="ij"), axis=-1).reshape(-1, 2)
    return low + (steps + 0.5) * size, size
