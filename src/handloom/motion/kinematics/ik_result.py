"""What the inverse kinematics solver found."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array


@dataclass(frozen=True, kw_only=True)
class IkResult:
    """One solution per target."""

    q: Array
    """Configurations (n, dof); where ``solved`` is False, the closest one that was seen."""
    solved: NDArray[np.bool_]
    """True where the target is met within tolerance and limits (n,)."""
    position_error: Array
    """Distance from each target over the axes that count (n,) [m]."""
    rotation_error: Array
    """Angle from each target over the part that counts (n,) [rad]."""
    seeds_used: NDArray[np.int64]
    """Starting points tried for each target (n,)."""


@dataclass(frozen=True, kw_only=True)
class IkBranches:
    """Several distinct solutions per target."""

    q: Array
    """Configurations (n, most, dof); only the first ``count`` of a row are valid, in the order they were found."""
    count: NDArray[np.int64]
    """Distinct solutions found for each target (n,)."""
