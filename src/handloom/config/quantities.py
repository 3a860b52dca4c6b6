"""Numbers with a unit, within bounds that nobody means to leave."""

from typing import Annotated

from pydantic import AfterValidator, Field

Metres = Annotated[float, Field(ge=-100.0, le=100.0)]
"""A length or coordinate [m]."""
Degrees = Annotated[float, Field(ge=-3600.0, le=3600.0)]
"""An angle [deg]."""
Position = tuple[Metres, Metres, Metres]
"""x, y, z [m]."""
Angles = tuple[Degrees, Degrees, Degrees]
"""Extrinsic xyz angles [deg]."""


def _not_zero(quat: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    if not 1e-6 < sum(value * value for value in quat) < 1e6:
        raise ValueError(f"a quaternion has length 1, got {list(quat)}")
    return quat


Quaternion = Annotated[tuple[float, float, float, float], AfterValidator(_not_zero)]
"""An orientation, wxyz; normalised when it is used."""
