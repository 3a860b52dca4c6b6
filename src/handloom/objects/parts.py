"""Parts, links and annotations that objects are made of."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.objects.materials import Rgb
from handloom.render.looks import Swept, Turned
from handloom.spatial import matrix_from_quat, quat_rotate

Shape = Literal["box", "sphere", "cylinder", "capsule", "ellipsoid", "hull"]
Point = tuple[float, float, float]
Quat = tuple[float, float, float, float]

UPRIGHT: Quat = (1.0, 0.0, 0.0, 0.0)
ROUND = 20
"""Corners around a stretched round part: the chord between two of them lies 1.2 % of the radius inside."""


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
    """Key of ``handloom.objects.materials.SUBSTANCES``: its density and friction."""
    material: str | None = None
    """Key of ``handloom.render.materials.MATERIALS``: its look; None follows from substance and colour."""
    edge: float | None = None
    """Radius to which edges look rounded [m]; None follows from the size."""
    fill: float = 1.0
    """Fraction of the volume that is material; 0 for paint and labels."""
    body: str = "object"
    """Body that carries the part: ``object`` or the name of a link."""
    visible: bool = True
    """Whether cameras see it (geom group 2); otherwise it is in group 3."""
    solid: bool = True
    """It collides."""
    round: bool = False
    """Whether it can roll, and so has rolling resistance."""
    belt_velocity: Point = (0.0, 0.0, 0.0)
    """Velocity of the surface in the part's frame [m/s]; for conveyor belts."""
    belt_turn: float = 0.0
    """Angular velocity of the surface about the part's z axis [rad/s]; for turntables."""
    drawn: Turned | Swept | Literal["itself", "smooth", "with the last"] = "itself"
    """Visible shape: the solid itself, the same without facets, a surface of revolution or a tube in the part's frame,
    or nothing because the surface of an earlier part also covers this one."""

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
            drawn=self.drawn if isinstance(self.drawn, str) else self.drawn.scaled(scale),
        )

    def stretched(self, factors: Point) -> "Part":
        """Return the part scaled per body axis; round shapes become hulls with many corners."""
        R = matrix_from_quat(self.quat)
        corners = (self._corners() @ R.T + np.asarray(self.position)) * factors
        middle = np.multiply(self.position, factors)
        return replace(
            self,
            shape="hull",
            size=(),
            vertices=tuple(point(corner) for corner in corners - middle),
            position=point(middle),
            quat=UPRIGHT,
            belt_velocity=point(R @ self.belt_velocity),
            drawn="itself",
        )

    def _corners(self) -> Array:
        """Return points (n, 3) of the surface in the part's own frame [m], whose hull is nearly the part."""
        if self.shape == "hull":
            return np.asarray(self.vertices, float)
        if self.shape == "box":
            return np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * self.size
        angle = np.arange(ROUND) * (2.0 * np.pi / ROUND)
        ring = np.stack([np.cos(angle), np.sin(angle), np.zeros(ROUND)], axis=1)
        if self.shape == "cylinder":
            radius, half = self.size
            return np.concatenate([ring * radius + [0, 0, s * half] for s in (-1, 1)])
        tilt = np.linspace(-0.5 * np.pi, 0.5 * np.pi, ROUND // 2 + 1)[1:-1]
        ball = np.concatenate([*(ring * np.cos(t) + [0, 0, np.sin(t)] for t in tilt), [[0, 0, 1], [0, 0, -1]]])
        if self.shape == "capsule":
            radius, half = self.size
            return np.concatenate([ball * radius + [0, 0, s * half] for s in (-1, 1)])
        return ball * (self.size if len(self.size) == 3 else self.size[0])

    def support(self, directions: ArrayLike) -> Array:
        """Return the extent (n,) [m] of the part in directions (n, 3) of its body's frame."""
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


@dataclass(frozen=True, kw_only=True, eq=False)
class Surface:
    """Textured triangles that are visible only; convex parts collide in their place."""

    vertices: Array
    """Corners (n, 3) in the body's frame [m]."""
    faces: NDArray[np.int32]
    """Triangles (m, 3)."""
    texcoords: Array
    """Place of every corner of every triangle in the image (m, 3, 2), 0 to 1, from its lower left."""
    image: NDArray[np.uint8]
    """Image (h, w, 3), sRGB."""
    substance: str = "plastic"
    """Key of ``handloom.objects.materials.SUBSTANCES``; determines its gloss."""
    body: str = "object"
    """Body that carries it."""


def point(values: ArrayLike) -> Point:
    """Return anything with three values as plain floats."""
    x, y, z = np.asarray(values, float).tolist()
    return (x, y, z)


def quad(values: ArrayLike) -> Quat:
    """Return anything with four values as plain floats."""
    w, x, y, z = np.asarray(values, float).tolist()
    return (w, x, y, z)


VECTORS_OF_LINKS = (
    *("origin", "axis", "head", "tail", "contact_axis", "normal", "push", "grip", "front_axis", "anchor", "turns"),
)
"""Keys for points and directions of a link, which rotate with the object frame."""


@dataclass(frozen=True, kw_only=True)
class Link:
    """A body that moves against the object's base by one joint at its origin.

    The annotation follows the keypoint planner's vocabulary: the *head* is the point between the fingers, head to tail
    runs along the moving surface at right angles to a hinge. Axes and points are in the link's frame unless they say
    base.
    In the library, frames of base and links are parallel when the joint is at zero; an imported link may be turned.
    """

    name: str
    """Body name, e.g. ``door``; the joint is named ``<name>_joint``."""
    kind: Literal["hinge", "slide"]
    """Revolute or prismatic."""
    origin: Point
    """Origin of the link in its parent's frame [m]; the joint is there unless ``anchor`` says otherwise."""
    axis: Point
    """Unit joint axis."""
    range: tuple[float, float]
    """Joint limits [rad or m]; 0 is closed."""
    head: Point
    """Middle of the handle, rim or knob that a hand grasps [m]."""
    tail: Point
    """Second point on the link [m]."""
    contact_axis: Point
    """Unit vector along the gripped part: a handle, an edge."""
    normal: Point
    """Unit vector out of the surface at the head, from which the hand comes."""
    push: Point | None = None
    """Point of the surface that is pushed to close the joint [m]; None: the head."""
    grip: Point | None = None
    """Unit vector from the head towards the approaching hand; None: the normal. Edges are grasped from outside."""
    turns: Point | None = None
    """Unit vector about which a setting of an annotation turns; None: the joint's own axis."""
    front_axis: Point = (0.0, -1.0, 0.0)
    """Side of the base that faces the user, in the base frame."""
    parent: str = "object"
    """Body that carries the link."""
    damping: float = 0.1
    """Viscous friction of the joint [N s/m or N m s/rad]."""
    frictionloss: float = 0.05
    """Dry friction of the joint [N or N m], which keeps doors where they are left."""
    stiffness: float = 0.0
    """Spring towards ``rest`` [N/m or N m/rad]."""
    rest: float = 0.0
    """Joint position at which the spring is slack [rad or m]."""
    latch: float = 0.0
    """Pull at the head that overcomes the catch at the closed end [N]; 0: no catch."""
    stop: float = 0.02
    """Time constant of the end stops [s]."""
    counterbalance: float = 0.0
    """Fraction of the link's weight that a spring or a stay carries, 0 to 1."""
    drives: str | None = None
    """Name of a link driven by this one (as a lid by its pedal), or None."""
    quat: Quat = UPRIGHT
    """Orientation of the link in its parent's frame with the joint at zero, wxyz."""
    anchor: Point = (0.0, 0.0, 0.0)
    """Point of the joint axis in the link's frame [m]."""
    ratio: float = 1.0
    """How far the driven link moves per unit of this one [(rad or m) / (rad or m)]."""

    @property
    def joint(self) -> str:
        """Name of the joint."""
        return f"{self.name}_joint"

    @property
    def held_from(self) -> Point:
        """Unit vector from the head towards the approaching hand."""
        return self.normal if self.grip is None else self.grip

    def balanced(self) -> "Link":
        """Return the link with a counterweight and a friction that hold it where it is left, without a spring."""
        return replace(
            self,
            counterbalance=max(self.counterbalance, 0.95),
            frictionloss=max(self.frictionloss, 0.05),
            stiffness=0.0,
        )

    def in_parent(self, position: Point) -> Point:
        """Return a point of the link in the frame of the parent, with the joint at zero [m]."""
        return point(np.add(self.origin, quat_rotate(self.quat, position)))

    def scaled(self, scale: float) -> "Link":
        """Return the link of an object of another size; angles stay."""
        length = scale if self.kind == "slide" else 1.0
        # Torques grow with mass times length, forces with mass.
        torque = scale**3 if self.kind == "slide" else scale**4
        return replace(
            self,
            origin=point(np.multiply(self.origin, scale)),
            range=(self.range[0] * length, self.range[1] * length),
            head=point(np.multiply(self.head, scale)),
            tail=point(np.multiply(self.tail, scale)),
            push=None if self.push is None else point(np.multiply(self.push, scale)),
            anchor=point(np.multiply(self.anchor, scale)),
            damping=self.damping * torque / length,
            frictionloss=self.frictionloss * torque,
            stiffness=self.stiffness * torque / length,
            rest=self.rest * length,
            latch=self.latch * scale**3,
        )

    def moved(self, offset: Point) -> "Link":
        """Return the link shifted by an offset (3,) [m] in the base frame."""
        return replace(self, origin=point(np.add(self.origin, offset)))


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


def upright_points(height: float, inside: float | None = None, /, **more: Point) -> dict[str, Keypoint]:
    """Return keypoints of an object on the z axis: ``bottom``, ``top``, in a vessel ``inside``, then others [m]."""
    axis = {"bottom": 0.0, "top": height, **({} if inside is None else {"inside": inside})}
    return points(**{name: (0.0, 0.0, z) for name, z in axis.items()}, **more)


def axes(**directions: Point) -> dict[str, Axis]:
    """Return axes of the base body from names and unit vectors."""
    return {name: Axis(direction=direction) for name, direction in directions.items()}
