"""What a real camera does to a picture: lens, exposure, white balance, sensor, file format."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

Gain = Annotated[float, Field(ge=0.05, le=20.0)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Coefficient = Annotated[float, Field(ge=-1.0, le=1.0)]


@dataclass(frozen=True, kw_only=True)
class Optics:
    """One lens and sensor; plain numbers, so that a replayed picture is the same bits."""

    distortion: tuple[Coefficient, Coefficient, Coefficient, Coefficient, Coefficient] = (0.0, 0.0, 0.0, 0.0, 0.0)
    """Brown-Conrady coefficients k1, k2, p1, p2, k3, as OpenCV has them."""
    vignetting: Share = 0.0
    """Light lost in the corners of the picture, as a share."""
    exposure: Gain = 1.0
    """Factor on linear light."""
    exposure_drift: Share = 0.0
    """Largest change of the exposure over time, as a share of it."""
    white_balance: tuple[Gain, Gain] = (1.0, 1.0)
    """Factors on linear red and blue."""
    white_drift: Share = 0.0
    """Largest change of these factors over time, as a share."""
    drift_seconds: Annotated[float, Field(gt=0.0, le=1e6)] = 4.0
    """Period of both drifts [s]."""
    phase: float = 0.0
    """Where in their period the drifts are at the start [rad]."""
    noise: Share = 0.0
    """Standard deviation of the sensor's noise at full brightness, as a share of it; falls with the root of light."""
    jpeg: Annotated[int, Field(ge=0, le=100)] = 0
    """Quality of JPEG compression; 0: none."""
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] = 0
    """Seed of the noise; each moment of an episode has its own."""

    @property
    def distorts(self) -> bool:
        """Whether straight lines are bent."""
        return any(self.distortion)
