"""Solids of a model that move with the planned joints (parts), and solids around the robot (obstacles)."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.motion.collision.shape import Shape, geom_shape
from handloom.motion.kinematics.joint_tree import WORLD, JointTree
from handloom.spatial import make_pose, matrix_from_quat

ALL_BITS = 0x7FFFFFFF
"""Contact bits that collide with every solid that has any."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CollisionPart:
    """A solid of a body that the planned joints move."""

    name: str
    """Name of the geom, or ``body#2`` for the second nameless one."""
    body: str
    """Body of the solid; solids of one body form one group."""
    link: int
    """Link of the joint tree that moves the body."""
    T_link_part: Array
    """Pose in the link (4, 4)."""
    shape: Shape
    contype: int = ALL_BITS
    conaffinity: int = ALL_BITS
    geom: int = -1
    """Geom of the model from which it was taken, -1 for an attached object."""

    def moved_to(self, model: mujoco.MjModel, tree: JointTree) -> "CollisionPart":
        """Return the part at its pose in another tree of the same joints."""
        return self if self.geom < 0 else replace(self, T_link_part=_T_link_geom(model, tree, self.geom))


def moving_parts(model: mujoco.MjModel, tree: JointTree) -> tuple[CollisionPart, ...]:
    """Return the solids of all bodies that the joints of a tree move."""
    return tuple(
        CollisionPart(
            name=geom_name(model, geom),
            body=model.body(model.geom_bodyid[geom]).name,
            link=int(tree.body_link[model.geom_bodyid[geom]]),
            T_link_part=_T_link_geom(model, tree, geom),
            shape=geom_shape(model, geom),
            contype=int(model.geom_contype[geom]),
            conaffinity=int(model.geom_conaffinity[geom]),
            geom=geom,
        )
        for geom in solid_geoms(model)
        if tree.body_link[model.geom_bodyid[geom]] != WORLD
    )


def solid_geoms(model: mujoco.MjModel) -> Iterable[int]:
    """Return the geoms that can collide at all."""
    return np.flatnonzero((model.geom_contype != 0) | (model.geom_conaffinity != 0)).tolist()


def geom_name(model: mujoco.MjModel, geom: int) -> str:
    """Return the name of a geom, or one made from its body."""
    body = model.geom_bodyid[geom]
    return model.geom(geom).name or f"{model.body(body).name}#{geom - model.body_geomadr[body]}"


def T_body_geom(model: mujoco.MjModel, geom: int) -> Array:  # noqa: N802 - frame notation
    """Return the pose of a geom in its body (4, 4)."""
    return make_pose(matrix_from_quat(model.geom_quat[geom]), model.geom_pos[geom])


def _T_link_geom(model: mujoco.MjModel, tree: JointTree, geom: int) -> Array:  # noqa: N802 - frame notation
    return tree.T_link_body[model.geom_bodyid[geom]] @ T_body_geom(model, geom)


def bits_meet(contype_a: int, conaffinity_a: int, contype_b: int, conaffinity_b: int) -> bool:
    """Return whether MuJoCo's contact bits let two solids collide."""
    return bool((contype_a & conaffinity_b) | (contype_b & conaffinity_a))


@dataclass(frozen=True, kw_only=True, eq=False)
class Obstacle:
    """A solid at a pose in the world."""

    name: str
    """Unique name; ``body/geom`` for an obstacle taken from a model."""
    body: str
    """Body of the obstacle; its own name if it was added by hand."""
    shape: Shape
    T_world_obstacle: Array
    """Pose (4, 4)."""
    enabled: bool = True
    """Whether the obstacle is currently enabled."""
    geom: int = -1
    """Geom of the model from which it was taken, -1 if it was added by hand."""
    contype: int = ALL_BITS
    conaffinity: int = ALL_BITS
