"""An object of the world: shape, mass, names, annotations."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import mujoco

from handloom.arrays import Array
from handloom.config.search import demand_inside, enclosing_folders
from handloom.errors import unknown_name
from handloom.objects.choices import Value
from handloom.objects.geometry import Faces, triangles
from handloom.objects.keypoints import Action, JointKeypoints, joint_keypoints
from handloom.objects.parts import Axis, Keypoint, Link, Point
from handloom.objects.rest_poses import RestPoses, find_rest_poses
from handloom.render.looks import Look

PARENTS = 3
"""Number of parent folders of a file that may contain its parts: ROS packages have models and meshes side by side."""
STANDING = frozenset(
    {
        *("beaker", "bottle", "bowl", "can", "carafe", "cereal_box", "cup", "flask", "food_tin", "glass", "jar"),
        *("milk_carton", "mug", "plate", "potted_plant", "spray_bottle", "stacking_cup", "teapot", "vase"),
        *("watering_can", "wine_glass"),
    }
)
"""Categories that stand on a foot."""


class SpecSource(Protocol):
    """Source of an object's model: a blueprint, or a file."""

    def spec(self) -> mujoco.MjSpec:
        """Return a new model with one root body ``object``."""
        ...

    def fingerprint(self) -> str:
        """Return a hash of everything that affects physics or images."""
        ...


@dataclass(frozen=True, kw_only=True)
class ObjectAsset:
    """One concrete object. Cheap to create; everything that needs a compiled model is computed on first access.

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
    """Colour word, or None if a colour would sound odd."""
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
    """Up direction in the object frame in the usual pose; stand-ins have y up, like the files they replace."""
    source: SpecSource
    """Builds the model."""
    looks: tuple[Look, ...] = ()
    """Visible surfaces that replace colliding parts; names are those of the object's own model."""

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
        """Whether it substitutes a missing published asset: a library object in that asset's frame convention."""
        return "path" not in self.parameters and "up" in self.parameters

    @property
    def stands(self) -> bool:
        """Whether it is meant to stand upright: a mug, a bottle or a plant, and every other open container."""
        return not self.articulated and (self.holds > 0.0 or self.category in STANDING)

    @property
    def extent(self) -> Array:
        """Size (3,) of the bounding box [m]."""
        return self.aabb[1] - self.aabb[0]

    def file_beside(self, name: str) -> Path | None:
        """Return the path of a file beside the asset's own file; None for an object that is not from a file.

        Raises:
            NotAllowedError: The name, or a symbolic link, leads out of the asset's folder and its three parent folders.
        """
        source = self.parameters.get("path")
        if source is None:
            return None
        file = Path(str(source)).parent / name
        if not self.parameters.get("allow_outside"):
            demand_inside(file, enclosing_folders(Path(str(source)).parent, most=PARENTS), what=str(source))
        return file

    @cached_property
    def model(self) -> mujoco.MjModel:
        """The compiled object on its own; read-only."""
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
        """Hash of shapes, looks, joints, words and annotations; the same in every process."""
        return self.source.fingerprint()

    def collision_triangles(self) -> tuple[Array, Faces]:
        """Return vertices (n, 3) [m] and faces (m, 3) of the solid convex parts in the object frame, joints at zero."""
        return triangles(self.model, solid=True)

    def surface_triangles(self) -> tuple[Array, Faces]:
        """Return vertices (n, 3) [m] and faces (m, 3) of the visible parts."""
        return triangles(self.model, solid=False)

    def joint_index(self, link: str | None = None) -> int:
        """Return the index in ``joints`` of a moving body; None takes the main one."""
        names = [joint.name for joint in self.joints]
        if not names or (link is not None and link not in names):
            raise unknown_name(f"link of {self.name}", link or "", names)
        return 0 if link is None else names.index(link)

    def joint_keypoints(self, link: str | None = None, action: Action = "open") -> JointKeypoints:
        """Return the keypoints of one joint for an action.

        Args:
            link: Name of the moving body; None takes the main one.
            action: ``open``, ``close`` or ``turn``.
        """
        index = self.joint_index(link)
        return joint_keypoints(self.joints[index], index, action)

    def annotation(self, link: str | None = None, action: Action = "open") -> dict[str, Any]:
        """Return the same in the form of the reference's ``info.json``."""
        return self.joint_keypoints(link, action).info()

    def to_json(self) -> str:
        """Return category and parameters; ``make_object(**json.loads(text))`` gives this object back."""
        return json.dumps({"category": self.category, "parameters": dict(self.parameters)}, sort_keys=True)
