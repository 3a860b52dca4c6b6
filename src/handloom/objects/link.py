"""A moving body of an articulated object and the joint that carries it."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from handloom.objects.part import UPRIGHT, Point, Quat, point
from handloom.spatial import quat_rotate


@dataclass(frozen=True, kw_only=True)
class Link:
    """A body that moves against the object's base by one joint at its origin.

    The annotation follows the keypoint planner's vocabulary: the *head* is where the finger touches, head to tail runs
    along the moving surface at right angles to a hinge. Axes and points are in the link's frame unless they say base.
    In the library, frames of base and links are parallel when the joint is at zero; an imported link may be turned.
    """

    name: str
    """Body name, e.g. ``door``; the joint is called ``<name>_joint``."""
    kind: Literal["hinge", "slide"]
    """Revolute or prismatic."""
    origin: Point
    """Origin of the link in its parent's frame [m]; the joint is there unless ``anchor`` says otherwise."""
    axis: Point
    """Unit joint axis."""
    range: tuple[float, float]
    """Joint limits [rad or m]; 0 is closed."""
    head: Point
    """Contact point on the link [m]."""
    tail: Point
    """Second point on the link [m]."""
    contact_axis: Point
    """Unit vector out of the surface at the head: the hand comes from there."""
    front_axis: Point = (0.0, -1.0, 0.0)
    """Side of the base that faces the user, in the base frame."""
    parent: str = "object"
    """Body that carries the link."""
    damping: float = 0.1
    """Viscous friction of the joint [N s/m or N m s/rad]."""
    frictionloss: float = 0.05
    """Dry friction of the joint [N or N m]; keeps doors where they are left."""
    stiffness: float = 0.0
    """Spring towards zero [N/m or N m/rad]."""
    counterbalance: float = 0.0
    """Share of the link's weight that a spring or a stay carries, 0 to 1."""
    drives: str | None = None
    """Name of a link that this one moves (a pedal and its lid), or None."""
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
    def base_contact(self) -> Point:
        """The head in the frame of the parent, with the joint at zero [m]."""
        return point(np.add(self.origin, quat_rotate(self.quat, self.head)))

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
            anchor=point(np.multiply(self.anchor, scale)),
            damping=self.damping * torque / length,
            frictionloss=self.frictionloss * torque,
            stiffness=self.stiffness * torque / length,
        )

    def moved(self, offset: Point) -> "Link":
        """Return the link shifted by an offset (3,) [m] in the base frame."""
        return replace(self, origin=point(np.add(self.origin, offset)))
