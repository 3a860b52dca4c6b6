"""An object of the world: shape, mass, names, annotations."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import mujoco

from handloom.arrays import Array
from handloom.errors import unknown_name
from handloom.objects.choices import Value
from handloom.objects.geometry import Faces, triangles
from handloom.objects.parts import Axis, Keypoint, Link, Point
from handloom.objects.rest_poses import RestPoses, find_rest_poses


class SpecSource(Protocol):
    """Where the model of an object comes from: a blueprint, or a file."""

    def spec(self) -> mujoco.MjSpec:
        """Return a new model with one root body ``object``."""
        ...

    def fingerprint(self) -> str:
        """Return a hash of everything that reaches physics or pictures."""
        ...


@dataclass(frozen=True, kw_only=True)
class ObjectAsset:
    """One concrete object. Cheap to make; what needs a compiled model is computed when first asked for.

    The object frame has its origin at the centre of the bounding box and z up in the usual pose; the front of objects
    that have one faces -y.
    """

    category: str
    """Key of the registry, e.g. ``mug``."""
    name: str
    """Singular name with its colour, e.g. ``red mug``."""
    synonyms: tuple[str, ...]
    """Nouns without colour, the usual one first."""
    color: str | None
    """Colour word, or None where a colour would sound odd."""
    parameters: Mapping[str, Value]
    """Plain numbers and words that rebuild this object: ``make_object(category, parameters=...)``."""
    aabb: Array
    """Lower and upper corner (2, 3) [m] in the object frame, joints at zero."""
    keypoints: Mapping[str, Keypoint]
    """Named points; an articulated object has those of its main joint under the annotation's names."""
    axes: Mapping[str, Axis]
    """Named unit directions."""
    joints: tuple[Link, ...] = ()
    """Moving links with their joint, limits and contact points; the main one first."""
    holds: float = 0.0
    """Diameter of the largest ball a container takes [m]; 0 for everything else."""
    rests: str = "any"
    """``upright`` for furniture and appliances, which have one stable pose."""
    up: Point = (0.0, 0.0, 1.0)
    """Which way is up in the object frame in the usual pose; stand-ins have y up, as the files they stand in for."""
    source: SpecSource
    """Builds the model."""

    def spec(self) -> mujoco.MjSpec:
        """Return a new model: root body ``object`` at the origin without a joint, ready for ``attach`` with a prefix.

        Visible geoms are in group 2, invisible collision geoms in group 3; a geom collides if its contype is not 0.
        """
        return self.source.spec()

    @property
    def articulated(self) -> bool:
        """Whether it has joints."""
        return bool(self.joints)

    @property
    def stands_in(self) -> bool:
        """Whether it stands in for a published asset that is not there: an object of the library with y up."""
        return "path" not in self.parameters and self.parameters.get("up") == "y"

    @property
    def extent(self) -> Array:
        """Size (3,) of the bounding box [m]."""
        return self.aabb[1] - self.aabb[0]

    @cached_property
    def model(self) -> mujoco.MjModel:
        """The compiled object on its own; read it, do not change it."""
        return self.source.spec().compile()

    @property
    def mass(self) -> float:
        """Mass of all bodies [kg]."""
        return float(self.model.body_subtreemass[1])

    @cached_property
    def rest_poses(self) -> RestPoses:
        """Stable orientations with the height of the origin above the table."""
        return find_rest_poses(self.model, upright_only=self.rests == "upright", up=self.up)

    @property
    def stable_quats(self) -> Array:
        """Stable orientations (k, 4) on a level table, wxyz; upright first if it is one of them."""
        return self.rest_poses.quats

    @cached_property
    def content_hash(self) -> str:
        """Hash of shapes, looks, joints, words and annotations; equal in every process."""
        return self.source.fingerprint()

    def collision_triangles(self) -> tuple[Array, Faces]:
        """Return vertices (n, 3) [m] and faces (m, 3) of the solid convex parts in the object frame, joints at zero."""
        return triangles(self.model, solid=True)

    def surface_triangles(self) -> tuple[Array, Faces]:
        """Return vertices (n, 3) [m] and faces (m, 3) of what a camera sees."""
        return triangles(self.model, solid=False)

    def annotation(self, link: str | None = None) -> dict[str, object]:
        """Return keypoints and axes of one joint under the names of the reference's ``info.json``.

        Args:
            link: Name of the moving body; None takes the main one.
        """
        names = [joint.name for joint in self.joints]
        if not names or (link is not None and link not in names):
            raise unknown_name(f"link of {self.name}", link or "", names)
        index = 0 if link is None else names.index(link)
        return link_annotation(self.joints[index], index)

    def to_json(self) -> str:
        """Return category and parameters; ``make_object(**json.loads(text))`` gives this object back."""
        return json.dumps({"category": self.category, "parameters": dict(self.parameters)}, sort_keys=True)


def link_annotation(link: Link, index: int) -> dict[str, object]:
    """Return the annotation of one joint: points in metres, axes as unit vectors."""
    moving = "object_link0_rot_axis" if link.kind == "hinge" else "object_link0_move_axis"
    return {
        "object_keypoints": {
            "articulated_object_head": list(link.head),
            "articulated_object_tail": list(link.tail),
            "link_contact_point": list(link.head),
            "base_contact_point": list(link.base_contact),
        },
        moving: list(link.axis),
        "object_link0_contact_axis": list(link.contact_axis),
        "object_base_front_axis": list(link.front_axis),
        "joint_index": index,
        "object_link_path": link.name,
        "object_base_path": link.parent,
        "object_joint_path": link.joint,
        "object_scale": [1.0, 1.0, 1.0, 1.0],
    }


def link_keypoints(link: Link) -> tuple[dict[str, Keypoint], dict[str, Axis]]:
    """Return the same annotation as keypoints and axes that know their bodies."""
    head = Keypoint(body=link.name, position=link.head)
    moving = "object_link0_rot_axis" if link.kind == "hinge" else "object_link0_move_axis"
    base = Keypoint(body=link.parent, position=link.base_contact)
    return (
        {
            "articulated_object_head": head,
            "articulated_object_tail": Keypoint(body=link.name, position=link.tail),
            "link_contact_point": head,
            "base_contact_point": base,
            "base_object_contact_point": base,
        },
        {
            moving: Axis(body=link.name, direction=link.axis),
            "object_link0_contact_axis": Axis(body=link.name, direction=link.contact_axis),
            "object_base_front_axis": Axis(body=link.parent, direction=link.front_axis),
        },
    )
