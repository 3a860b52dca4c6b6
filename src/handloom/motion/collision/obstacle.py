"""Something in the world that a robot must not touch."""

from dataclasses import dataclass

from handloom.arrays import Array
from handloom.motion.collision.part import ALL_BITS
from handloom.motion.collision.shape import Shape


@dataclass(frozen=True, kw_only=True, eq=False)
class Obstacle:
    """A solid at a place in the world."""

    name: str
    """Unique name; ``body/geom`` for one taken from a model."""
    body: str
    """Body it belongs to; the name itself for one added by hand."""
    shape: Shape
    T_world_obstacle: Array
    """Pose (4, 4)."""
    enabled: bool = True
    """Whether it counts at present."""
    geom: int = -1
    """Geom of the model it was taken from, -1 for one added by hand."""
    contype: int = ALL_BITS
    conaffinity: int = ALL_BITS
