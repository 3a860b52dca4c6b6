"""One goal in a chain of goals."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.errors import InputError


@dataclass(frozen=True, kw_only=True, eq=False)
class Move:
    """Where the tool goes next, with one pose per candidate.

    A grasp is three stages: free to the pre-grasp, straight to the grasp with the object ignored, straight up.
    """

    T_base_tool: ArrayLike
    """Poses (n, 4, 4) in the arm's base, or one (4, 4) for all candidates; (n, arms, 4, 4) for several arms.
    Candidate i keeps index i through all stages."""
    straight: bool = False
    """Whether the tool moves on a straight line; otherwise any free path will do."""
    ignore: tuple[str, ...] = ()
    """Obstacles whose name contains one of these texts do not count during this stage."""
    released: tuple[str, ...] = ()
    """Attached objects that were let go before this stage: the hand leaves them behind."""

    def poses(self, arms: int) -> Array:
        """Return the poses as (n, arms, 4, 4)."""
        T = np.asarray(self.T_base_tool, float)
        if T.ndim == 2:
            T = T[None]
        if T.ndim == 3 and arms == 1:
            T = T[:, None]
        if T.ndim != 4 or T.shape[1:] != (arms, 4, 4):
            wanted = "(n, 4, 4)" if arms == 1 else f"(n, {arms}, 4, 4)"
            raise InputError(f"goal poses have shape {wanted} here, got {np.shape(self.T_base_tool)}")
        return T
