"""Named points and directions on an object."""

from dataclasses import dataclass

from handloom.objects.part import Point


@dataclass(frozen=True, kw_only=True)
class Keypoint:
    """A named point, fixed to one body of the object."""

    position: Point
    """Point in the body's frame [m]."""
    body: str = "object"
    """The body it moves with."""


@dataclass(frozen=True, kw_only=True)
class Axis:
    """A named unit direction, fixed to one body of the object."""

    direction: Point
    """Unit vector in the body's frame."""
    body: str = "object"
    """The body it turns with."""


def points(**positions: Point) -> dict[str, Keypoint]:
    """Return keypoints of the base body from names and positions [m]."""
    return {name: Keypoint(position=position) for name, position in positions.items()}


def axes(**directions: Point) -> dict[str, Axis]:
    """Return axes of the base body from names and unit vectors."""
    return {name: Axis(direction=direction) for name, direction in directions.items()}
