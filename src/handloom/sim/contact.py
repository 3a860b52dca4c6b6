"""One contact point between two bodies."""

from dataclasses import dataclass

from handloom.arrays import Array


@dataclass(frozen=True, kw_only=True, eq=False)
class Contact:
    """A contact point between a geom of ``body_a`` and a geom of ``body_b``."""

    body_a: str
    """Body of the first geom."""
    body_b: str
    """Body of the second geom."""
    geom_a: str
    """First geom; ``#index`` when it has no name."""
    geom_b: str
    """Second geom; ``#index`` when it has no name."""
    distance: float
    """Distance between the surfaces [m]; negative when they overlap."""
    position: Array
    """Point half-way between the surfaces, in world (3,) [m]."""
    normal: Array
    """Unit normal from a to b, in world (3,)."""
    force: Array
    """Force that a exerts on b, in world (3,) [N]; zero when the point lies within the margin but does not press."""
