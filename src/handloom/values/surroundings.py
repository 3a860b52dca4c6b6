"""What surrounds a scene and shines on it from all sides: sky or room, with bright panes that shiny things mirror."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

Light = Annotated[float, Field(ge=0.0, le=1000.0)]
Unit = Annotated[float, Field(ge=-1.0, le=1.0)]
Tangent = Annotated[float, Field(gt=0.001, le=10.0)]


@dataclass(frozen=True, kw_only=True)
class Pane:
    """A bright rectangle far away: a window, a soft box, a ceiling panel."""

    direction: tuple[Unit, Unit, Unit]
    """Unit vector to its middle, in the world."""
    half_width: Tangent
    """Tangent of half the angle that it fills, level."""
    half_height: Tangent
    """The same, upright."""
    light: tuple[Light, Light, Light]
    """Linear RGB, in units of the ambient light."""
    bars: Annotated[float, Field(ge=0.0, le=0.5)] = 0.0
    """Half the width of the bars that cross in its middle, as a share of its half width."""


@dataclass(frozen=True, kw_only=True)
class LitSurroundings:
    """Light from all around."""

    above: tuple[Light, Light, Light] = (1.22, 1.28, 1.36)
    """Light from above, linear RGB, in units of the ambient light of the lamps."""
    below: tuple[Light, Light, Light] = (0.66, 0.60, 0.54)
    """Light from below."""
    panes: Annotated[tuple[Pane, ...], Field(max_length=4)] = ()
