"""What the annotator returns: published rows and the contacts behind them."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handloom.grasping.convex_parts import Array

SCORE, WIDTH, HEIGHT, DEPTH = 0, 1, 2, 3
ROTATION, CENTRE, OBJECT = slice(4, 13), slice(13, 16), 16
"""Columns of a row."""
FINGER_HEIGHT = 0.02
"""Height of a finger written into every row [m], as published annotations do; nothing reads it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class GraspSet:
    """Grasps of one object by one gripper, best score first."""

    rows: NDArray[np.float32]
    """(n, 17): score (lower is better), width, height, depth [m], rotation (9, row-major; columns x approach,
    y closing, z), centre (3) [m], object id -1; all in the object frame."""
    contacts: Array
    """(n, 2, 3) where the two fingers touch [m], the one on the negative closing side first."""
    normals: Array
    """(n, 2, 3) outward surface normals there."""
    hands: Array
    """(n, 4, 4) T_object_hand: the end effector's origin with GraspNet axes."""
    funnel: Mapping[str, int]
    """How many survived each stage, in order."""

    def __len__(self) -> int:
        """Return the number of grasps."""
        return len(self.rows)

    def take(self, indices: NDArray[np.int64]) -> "GraspSet":
        """Return some of them, in the order of ``indices``."""
        arrays = {name: getattr(self, name)[indices] for name in ("rows", "contacts", "normals", "hands")}
        return GraspSet(**arrays, funnel=self.funnel)
