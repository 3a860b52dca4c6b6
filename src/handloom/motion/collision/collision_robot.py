"""The moving parts of a robot as the collision checkers see them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import InputError, unknown_name
from handloom.motion.collision.collision_arrays import BARE, PADDED, RobotArrays
from handloom.motion.collision.obstacle import CollisionPart, Obstacle, bits_meet, moving_parts
from handloom.motion.collision.self_collision import fixed_bodies, self_collision_pairs
from handloom.motion.collision.shape import Shape
from handloom.motion.collision.sphere_group import SphereGroup, group_arrays, group_reach
from handloom.motion.collision.sphere_model import SphereModel, cached_cover
from handloom.motion.kinematics.joint_tree import JointTree

Pair = frozenset[str]

MOST_PADDING = 0.1
"""Distance beyond the reach of a group from which obstacles are never checked against it [m]; padding must be
smaller."""

HELD_TOLERANCE = 0.008
"""Distance by which spheres may protrude from a held object, regardless of its wall thickness [m]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CollisionRobot:
    """Solids and spheres on the links of a joint tree, and the pairs that may touch."""

    tree: JointTree
    parts: tuple[CollisionPart, ...]
    """Exact solids."""
    groups: tuple[SphereGroup, ...]
    """Spheres, one group per body."""
    ignored: frozenset[Pair]
    """Pairs of bodies that may overlap: neighbours, and pairs that overlap in every position."""
    coarse: frozenset[Pair]
    """Pairs so close together that their spheres overlap almost always; only the exact checker checks these."""
    fixed: frozenset[str]
    """Bodies of the same robot that no chosen joint moves: pedestal, torso, another arm."""
    tolerance: float
    """Tolerance of the sphere covers [m]."""

    @classmethod
    def from_model(
        cls, model: mujoco.MjModel, tree: JointTree, *, qpos: Array | None = None, tolerance: float = 0.01
    ) -> "CollisionRobot":
        """Collect everything that the joints of a tree move.

        Args:
            model: The model of the tree.
            tree: Joints that will move.
            qpos: Configuration (nq,) of all other joints; None means the model's ``qpos0``.
            tolerance: Distance by which spheres may protrude from the solids [m].
        """
        parts = moving_parts(model, tree)
        spheres = SphereModel.from_model(model, dict.fromkeys(part.body for part in parts), tolerance=tolerance)
        groups = [_group(model, tree, spheres, parts, body) for body in spheres.bodies]
        # Outer links first: they collide most often, and the first collision ends a check.
        groups = tuple(sorted(groups, key=lambda group: -group.link))
        ignored, coarse = self_collision_pairs(model, tree, parts, groups, qpos=qpos)
        return cls(
            tree=tree,
            parts=parts,
            groups=groups,
            ignored=ignored,
            coarse=coarse,
            fixed=fixed_bodies(model, tree),
            tolerance=tolerance,
        )

    def moved_to(self, model: mujoco.MjModel, tree: JointTree) -> "CollisionRobot":
        """Return the robot with its unplanned joints, such as fingers, at other positions, given by ``tree``.

        Attached objects stay attached. The result is the same as that of :meth:`from_model`, which is slower.
        """
        body_of = {part.body: model.geom_bodyid[part.geom] for part in self.parts if part.geom >= 0}
        groups = list(self.groups)
        for i, group in enumerate(groups):
            # An attached object is not a body of the model; parts whose pose is unchanged remain the same objects.
            T = tree.T_link_body[body_of[group.body]] if group.body in body_of else group.T_link_body
            if not np.array_equal(T, group.T_link_body):
                groups[i] = replace(group, T_link_body=T)
        parts = tuple(part.moved_to(model, tree) for part in self.parts)
        return replace(self, tree=tree, parts=parts, groups=tuple(groups))

    @property
    def bodies(self) -> tuple[str, ...]:
        """Bodies with solids."""
        return tuple(group.body for group in self.groups)

    def attach(
        self, name: str, shape: Shape, body: str, T_body_object: Array, *, may_touch: Iterable[str] = ()
    ) -> "CollisionRobot":
        """Return the robot with an object fixed to one of its bodies.

        Args:
            name: Name of the object, used in failure reports.
            shape: Its solid.
            body: Body that holds the object, such as the hand.
            T_body_object: Pose of the object in that body (4, 4).
            may_touch: Names of other bodies or obstacles that the object may touch, such as the fingers.
        """
        holder = next((group for group in self.groups if group.body == body), None)
        if holder is None:
            raise unknown_name("moving body", body, self.bodies)
        if any(part.body == name for part in self.parts):
            raise InputError(f"{name!r} is already attached or part of the robot")
        centres, radii = cached_cover(shape, self.tolerance, least=HELD_TOLERANCE)
        T_link_object = holder.T_link_body @ T_body_object
        part = CollisionPart(name=name, body=name, link=holder.link, T_link_part=T_link_object, shape=shape)
        group = SphereGroup(body=name, link=holder.link, centre_body=centres, radius=radii, T_link_body=T_link_object)
        same_link = {p.body for p in self.parts if p.link == holder.link}
        allowed = {frozenset((name, other)) for other in {*same_link, *may_touch}}
        return replace(self, parts=(*self.parts, part), groups=(*self.groups, group), ignored=self.ignored | allowed)

    def detach(self, name: str) -> "CollisionRobot":
        """Return the robot without an attached object."""
        if name not in self.bodies:
            raise unknown_name("attached object", name, self.bodies)
        return replace(
            self,
            parts=tuple(part for part in self.parts if part.body != name),
            groups=tuple(group for group in self.groups if group.body != name),
            ignored=frozenset(pair for pair in self.ignored if name not in pair),
        )

    def arrays(self, *, padding: float, self_padding: float = 0.0) -> RobotArrays:
        """Return the kernels' view, with spheres enlarged against the world and against each other [m]."""
        left_out = self.ignored | self.coarse
        pairs = [
            (i, j)
            for i, a in enumerate(self.groups)
            for j, b in enumerate(self.groups[:i])
            if a.link != b.link
            and frozenset((a.body, b.body)) not in left_out
            and bits_meet(a.contype, a.conaffinity, b.contype, b.conaffinity)
        ]
        return group_arrays(self.tree, self.groups, pairs, padding=padding, self_padding=self_padding)

    def checked(self, obstacles: Sequence[Obstacle]) -> NDArray[np.int8]:
        """Return the checks of groups against obstacles (groups, obstacles), see ``WorldArrays.checked``.

        Obstacles that a group cannot reach in any configuration are left out, as are those it may touch. Padding
        does not apply to fixed parts of the robot itself.
        """
        table = np.zeros((len(self.groups), len(obstacles)), np.int8)
        centres = np.array([o.T_world_obstacle[:3, 3] for o in obstacles]).reshape(-1, 3)
        sizes = np.array([o.shape.bounding_radius for o in obstacles])
        for i, group in enumerate(self.groups):
            centre, reach = group_reach(self.tree, group)
            near = np.linalg.norm(centres - centre, axis=1) - sizes <= reach + MOST_PADDING
            left_out = {name for pair in self.ignored | self.coarse if group.body in pair for name in pair}
            for j in np.flatnonzero(near).tolist():
                obstacle = obstacles[j]
                if (
                    obstacle.enabled
                    and obstacle.name not in left_out
                    and obstacle.body not in left_out
                    and bits_meet(group.contype, group.conaffinity, obstacle.contype, obstacle.conaffinity)
                ):
                    table[i, j] = BARE if obstacle.geom >= 0 and obstacle.body in self.fixed else PADDED
        return table


def _group(
    model: mujoco.MjModel, tree: JointTree, spheres: SphereModel, parts: Sequence[CollisionPart], body: str
) -> SphereGroup:
    """Return the spheres of one body in its link."""
    own = [part for part in parts if part.body == body]
    centres, radii = spheres.spheres_of(body)
    contype = conaffinity = 0
    for part in own:
        contype, conaffinity = contype | part.contype, conaffinity | part.conaffinity
    return SphereGroup(
        body=body,
        link=own[0].link,
        centre_body=centres,
        radius=radii,
        T_link_body=tree.T_link_body[model.body(body).id],
        contype=contype,
        conaffinity=conaffinity,
    )
