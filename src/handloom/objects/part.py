"""One convex piece of an object."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.objects.colors import Rgb
from handloom.spatial import matrix_from_quat

Shape = Literal["box", "sphere", "cylinder", "capsule", "ellipsoid", "hull"]
Point = tuple[float, float, float]
Quat = tuple[float, float, float, float]

UPRIGHT: Quat = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, kw_only=True)
class Part:
    """A convex solid of one colour and one substance, rigidly fixed to a body of the object."""

    shape: Shape
    size: tuple[float, ...] = ()
    """Half extents as in MuJoCo [m]: box and ellipsoid 3, cylinder and capsule (radius, half length), sphere 1."""
    vertices: tuple[Point, ...] = ()
    """Corners of a hull in the part's own frame [m]; empty for the other shapes."""
    position: Point = (0.0, 0.0, 0.0)
    """Centre of the part in its body [m]."""
    quat: Quat = UPRIGHT
    """Orientation of the part in its body, wxyz."""
    color: Rgb = (0.5, 0.5, 0.5)
    """sRGB, each channel 0 to 1."""
    substance: str = "plastic"
    """Key of ``handloom.objects.substances.SUBSTANCES``."""
    fill: float = 1.0
    """Share of the volume that is material; 0 for paint and labels."""
    body: str = "object"
    """Body that carries the part: ``object`` or the name of a link."""
    visible: bool = True
    """Cameras see it (geom group 2); else it is group 3."""
    solid: bool = True
    """It collides."""
    round: bool = False
    """It can roll, and gets rolling resistance."""
    belt_velocity: Point = (0.0, 0.0, 0.0)
    """Velocity of the surface in the part's frame [m/s]; for conveyor belts."""

    def __post_init__(self) -> None:
        """Refuse shapes without volume."""
        wanted = {"box": 3, "ellipsoid": 3, "cylinder": 2, "capsule": 2, "sphere": 1, "hull": 0}[self.shape]
        if len(self.size) != wanted or any(not s > 0.0 for s in self.size):
            raise InputError(f"a {self.shape} needs {wanted} half sizes > 0, got {self.size}")
        if (self.shape == "hull") != (len(self.vertices) >= 4):
            raise InputError(f"a hull needs at least 4 vertices and nothing else has any, got {len(self.vertices)}")

    def moved(self, offset: ArrayLike) -> "Part":
        """Return the part shifted by an offset (3,) [m] in its body's frame."""
        return replace(self, position=point(np.add(self.position, offset)))

    def scaled(self, scale: float) -> "Part":
        """Return the part scaled about the origin of its body."""
        return replace(
            self,
            size=tuple(s * scale for s in self.size),
            vertices=tuple(point(np.multiply(v, scale)) for v in self.vertices),
            position=point(np.multiply(self.position, scale)),
        )

    def support(self, directions: ArrayLike) -> Array:
        """Return how far (n,) [m] the part reaches in directions (n, 3) of its body's frame."""
        d = np.asarray(directions, float)
        return d @ np.asarray(self.position) + self._local_support(d @ matrix_from_quat(self.quat))

    def _local_support(self, d: Array) -> Array:
        if self.shape == "hull":
            return np.max(d @ np.asarray(self.vertices).T, axis=-1)
        if self.shape == "box":
            return np.abs(d) @ np.asarray(self.size)
        if self.shape == "ellipsoid":
            return np.linalg.norm(d * np.asarray(self.size), axis=-1)
        if self.shape == "sphere":
            return np.linalg.norm(d, axis=-1) * self.size[0]
        radius, half = self.size
        across = np.linalg.norm(d, axis=-1) if self.shape == "capsule" else np.linalg.norm(d[..., :2], axis=-1)
        return radius * across + half * np.abs(d[..., 2])


def point(values: ArrayLike) -> Point:
    """Return three plain floats of anything with three values."""
    x, y, z = np.asarray(values, float).tolist()
    return (x, y, z)
