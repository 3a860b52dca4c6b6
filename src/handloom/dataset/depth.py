"""Depth in metres as 12-bit codes, finer near the camera, as LeRobot 0.6 stores depth streams."""

import math
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from handloom.errors import InputError

HIGHEST_CODE = 4095
"""12 bits: what HEVC Main 12 carries without loss."""


@dataclass(frozen=True, kw_only=True)
class DepthRange:
    """Which depths the 4096 codes stand for: equal steps of ``log(depth + shift)``.

    The defaults are LeRobot's. Steps grow from 1.2 mm at the near end to 4.5 mm at the far end.
    """

    depth_min: float = 0.01
    """Depth of code 0 [m]."""
    depth_max: float = 10.0
    """Depth of code 4095 [m]; anything farther is stored as this."""
    shift: float = 3.5
    """Added before the logarithm [m]; larger is closer to equal steps of depth."""

    def __post_init__(self) -> None:
        """Refuse ranges without a logarithm."""
        if not (math.isfinite(self.depth_max) and self.depth_max > self.depth_min and self.depth_min + self.shift > 0):
            raise InputError(f"a depth range needs depth_min < depth_max and depth_min + shift > 0, got {self}")

    def to_json(self) -> dict[str, float]:
        """Return plain numbers."""
        return asdict(self)

    def codes(self, depth: NDArray[np.floating]) -> NDArray[np.uint16]:
        """Return the codes ``(h, w)`` of a depth image ``(h, w)`` [m]; not-a-number is stored as farthest."""
        far = np.where(np.isnan(depth), self.depth_max, depth).astype(np.float64)
        near = np.clip(far, self.depth_min, self.depth_max)
        low, high = math.log(self.depth_min + self.shift), math.log(self.depth_max + self.shift)
        return np.rint((np.log(near + self.shift) - low) * (HIGHEST_CODE / (high - low))).astype(np.uint16)

    def metres(self, codes: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return the depths [m] that codes stand for."""
        low, high = math.log(self.depth_min + self.shift), math.log(self.depth_max + self.shift)
        depth = np.exp(codes.astype(np.float64) * ((high - low) / HIGHEST_CODE) + low) - self.shift
        return np.clip(depth, self.depth_min, self.depth_max).astype(np.float32)
