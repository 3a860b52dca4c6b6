"""MuJoCo's own collision detection, on a lean copy of the robot and the obstacles around it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.motion.collision.obstacle import Obstacle
from handloom.motion.collision.part import Part
from handloom.motion.collision.shape import Shape, ShapeKind
from handloom.motion.collision.sweep_kernels import free_fraction
from handloom.motion.collision.touch import Touch
from handloom.motion.kinematics.joint_tree import WORLD, JointTree
from handloom.spatial import quat_from_matrix

Array = NDArray[np.float64]
Pair = frozenset[str]

HORIZON = 0.1
"""Distances beyond this are not measured [m]. A larger horizon allows longer steps along a path but makes every
check look at more pairs; 10 cm needed the least time of 3 to 20 cm on tabletop scenes."""

_TYPES = {
    ShapeKind.BOX: mujoco.mjtGeom.mjGEOM_BOX,
    ShapeKind.CAPSULE: mujoco.mjtGeom.mjGEOM_CAPSULE,
    ShapeKind.CYLINDER: mujoco.mjtGeom.mjGEOM_CYLINDER,
    ShapeKind.PLANE: mujoco.mjtGeom.mjGEOM_PLANE,
    ShapeKind.CONVEX: mujoco.mjtGeom.mjGEOM_MESH,
    ShapeKind.HEIGHT_FIELD: mujoco.mjtGeom.mjGEOM_HFIELD,
    ShapeKind.SPHERE: mujoco.mjtGeom.mjGEOM_SPHERE,
    ShapeKind.ELLIPSOID: mujoco.mjtGeom.mjGEOM_ELLIPSOID,
}


@dataclass(frozen=True, kw_only=True)
class PathCollision:
    """Where a path collides first."""

    touch: Touch
    """The deepest contact there."""
    segment: int
    """Index of the waypoint before it."""
    fraction: float
    """Place on that segment, 0 to 1."""
    q: Array
    """Configuration (n,)."""


class ExactChecker:
    """Exact contacts between moving parts and obstacles, and among moving parts.

    The checker compiles its own model: one body per link of the joint tree, with the joints in normal form, and one
    static body per obstacle. Obstacles can be moved and switched without compiling again.
    """

    def __init__(
        self, tree: JointTree, parts: Sequence[Part], obstacles: Sequence[Obstacle], ignored: Iterable[Pair] = ()
    ) -> None:
        self.tree = tree
        self._model = _compile(tree, parts, obstacles, set(ignored))
        self._data = mujoco.MjData(self._model)
        model = self._model
        self._qpos = np.array([model.joint(name).qposadr[0] for name in tree.joint_names], np.int64)
        self._joints = np.array([model.joint(name).id for name in tree.joint_names], np.int64)
        self._label = [_label(model.body(model.geom_bodyid[g]).name) for g in range(model.ngeom)]
        self._fixed = np.array([model.body_weldid[model.geom_bodyid[g]] == 0 for g in range(model.ngeom)])
        self._bits = model.geom_contype.copy(), model.geom_conaffinity.copy()
        self._part_bodies = np.array([model.body(f"part:{body}").id for body in _bodies(parts)], np.int64)
        self._part_radius = _body_radii(parts)
        order = {body: i for i, body in enumerate(_bodies(parts))}
        self._geom_body = np.array([-1 if f else order[n] for f, n in zip(self._fixed, self._label, strict=True)])
        self._moves = _moves(tree, parts)
        self._one_chain = bool(np.all(tree.parent == np.arange(tree.dof) - 1))
        self.place(obstacles)

    def place(self, obstacles: Iterable[Obstacle]) -> None:
        """Take over the poses and switches of obstacles, which must be those the checker was made with."""
        model = self._model
        for obstacle in obstacles:
            body = model.body(f"obstacle:{obstacle.name}").id
            model.body_pos[body] = obstacle.T_world_obstacle[:3, 3]
            model.body_quat[body] = quat_from_matrix(obstacle.T_world_obstacle[:3, :3])
            geom = model.body_geomadr[body]
            model.geom_contype[geom] = self._bits[0][geom] if obstacle.enabled else 0
            model.geom_conaffinity[geom] = self._bits[1][geom] if obstacle.enabled else 0

    def touches(self, q: Array, *, within: float = 0.0) -> list[Touch]:
        """Return the closest contact of each pair that is closer than ``within`` [m] at a configuration, deepest first.

        Distances are measured up to the checker's horizon.
        """
        geoms, distances = self._contacts(q)
        closest: dict[tuple[str, str], float] = {}
        for (a, b), distance in zip(geoms, distances, strict=True):
            if distance < within:
                pair = (self._label[b], self._label[a]) if self._fixed[a] else (self._label[a], self._label[b])
                closest[pair] = min(distance, closest.get(pair, np.inf))
        return sorted(Touch(distance=float(d), part=a, other=b) for (a, b), d in closest.items())

    def clearance(self, q: Array) -> float:
        """Return the smallest distance between things that must not touch [m], at most the horizon."""
        _, distances = self._contacts(q)
        return min(HORIZON, float(distances.min())) if len(distances) else HORIZON

    def is_free(self, q: Array) -> bool:
        """Tell whether nothing overlaps at a configuration."""
        _, distances = self._contacts(q)
        return not len(distances) or bool(distances.min() >= 0.0)

    def first_collision(
        self, path: Array, *, step: float = 0.01, allowed: dict[Pair, float] | None = None
    ) -> PathCollision | None:
        """Return where a path of straight joint motions collides first, or None when it is free.

        Where the distance to everything is known, a bound on how fast robot points move tells how far the joints can
        go before anything could touch: configurations in between need no check. Elsewhere consecutive checks are at
        most ``step`` apart, in the joint that moves most.

        Args:
            path: Waypoints (m, n).
            step: Largest unchecked motion of any joint near contact [rad or m].
            allowed: Overlap that is tolerated for some pairs [m], such as contacts at the start of the path.
        """
        for segment in range(max(1, len(path) - 1)):
            a, b = path[segment], path[min(segment + 1, len(path) - 1)]
            direction = b - a
            length = float(np.abs(direction).max())
            smallest = 1.0 if length <= step else step / length
            at = 0.0
            while True:
                safe, touch = self._judge(a + at * direction, direction, allowed)
                if touch is not None:
                    return PathCollision(touch=touch, segment=segment, fraction=at, q=a + at * direction)
                if at >= 1.0 or length == 0.0:
                    break
                at = min(1.0, at + max(smallest, safe))
        return None

    def _judge(self, q: Array, direction: Array, allowed: dict[Pair, float] | None) -> tuple[float, Touch | None]:
        """Return how much of ``direction`` is surely free from q on, and the worst touch that is not allowed."""
        geoms, distances = self._contacts(q)
        if len(distances) and distances.min() < 0.0:
            for touch in self.touches(q):
                if touch.depth > (allowed or {}).get(frozenset((touch.part, touch.other)), 0.0):
                    return 0.0, touch
            return 0.0, None
        data = self._data
        safe = free_fraction(
            direction,
            data.xanchor[self._joints],
            data.xaxis[self._joints],
            self.tree.prismatic,
            data.xpos[self._part_bodies],
            self._part_radius,
            self._moves,
            self._geom_body,
            geoms,
            distances,
            HORIZON,
            self._one_chain,
        )
        return safe, None

    def _contacts(self, q: Array) -> tuple[NDArray[np.int32], Array]:
        """Return geoms (c, 2) and signed distances (c,) [m] of all contacts within the horizon."""
        model, data = self._model, self._data
        data.qpos[self._qpos] = q
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        return data.contact.geom, data.contact.dist


def _label(body: str) -> str:
    """Return the user's name of a body of the checker's model."""
    return body.partition(":")[2]


def _bodies(parts: Sequence[Part]) -> list[str]:
    return list(dict.fromkeys(part.body for part in parts))


def _moves(tree: JointTree, parts: Sequence[Part]) -> NDArray[np.bool_]:
    """Return which joint moves which body (n, bodies)."""
    link_of = {part.body: part.link for part in parts}
    moves = np.zeros((tree.dof, len(link_of)), bool)
    for b, body in enumerate(_bodies(parts)):
        link = link_of[body]
        while link != WORLD:
            moves[link, b] = True
            link = int(tree.parent[link])
    return moves


def _body_radii(parts: Sequence[Part]) -> Array:
    """Return the radius about each body's frame origin, the link origin, that contains its solids (bodies,) [m]."""
    radii: dict[str, float] = {}
    for part in parts:
        reach = float(np.linalg.norm(part.T_link_part[:3, 3])) + part.shape.bounding_radius
        radii[part.body] = max(reach, radii.get(part.body, 0.0))
    return np.array([radii[body] for body in _bodies(parts)])


def _compile(
    tree: JointTree, parts: Sequence[Part], obstacles: Sequence[Obstacle], ignored: set[Pair]
) -> mujoco.MjModel:
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.compiler.inertiafromgeom = False
    spec.compiler.balanceinertia = True
    links = [spec.worldbody]
    for k, name in enumerate(tree.joint_names):
        T = tree.T_parent_joint[k]
        link = links[tree.parent[k] + 1].add_body(name=f"link:{k}", pos=T[:3, 3], quat=quat_from_matrix(T[:3, :3]))
        kind = mujoco.mjtJoint.mjJNT_SLIDE if tree.prismatic[k] else mujoco.mjtJoint.mjJNT_HINGE
        link.add_joint(name=name, type=kind, axis=(0, 0, 1))
        # The dynamics of this model are never used, but MuJoCo refuses moving bodies without mass.
        link.explicitinertial, link.mass, link.inertia = True, 1.0, (1.0, 1.0, 1.0)
        links.append(link)
    carriers = {}
    for part in parts:
        if part.body not in carriers:
            carriers[part.body] = links[part.link + 1].add_body(name=f"part:{part.body}")
        _add_geom(spec, carriers[part.body], part.shape, part.T_link_part, HORIZON, part.contype, part.conaffinity)
    for obstacle in obstacles:
        T = obstacle.T_world_obstacle
        body = spec.worldbody.add_body(name=f"obstacle:{obstacle.name}", pos=T[:3, 3], quat=quat_from_matrix(T[:3, :3]))
        _add_geom(spec, body, obstacle.shape, np.eye(4), 0.0, obstacle.contype, obstacle.conaffinity)
    _exclude(spec, parts, obstacles, ignored)
    return spec.compile()


def _exclude(spec: mujoco.MjSpec, parts: Sequence[Part], obstacles: Sequence[Obstacle], ignored: set[Pair]) -> None:
    bodies = _bodies(parts)
    for i, a in enumerate(bodies):
        for b in bodies[:i]:
            if frozenset((a, b)) in ignored:
                spec.add_exclude(bodyname1=f"part:{a}", bodyname2=f"part:{b}")
        for obstacle in obstacles:
            if frozenset((a, obstacle.body)) in ignored or frozenset((a, obstacle.name)) in ignored:
                spec.add_exclude(bodyname1=f"part:{a}", bodyname2=f"obstacle:{obstacle.name}")


def _add_geom(
    spec: mujoco.MjSpec, body: mujoco.MjsBody, shape: Shape, T: Array, margin: float, contype: int, conaffinity: int
) -> None:
    geom = body.add_geom(
        type=_TYPES[shape.kind],
        pos=T[:3, 3],
        quat=quat_from_matrix(T[:3, :3]),
        contype=contype,
        conaffinity=conaffinity,
    )
    geom.size, geom.margin, geom.mass = shape.size, margin, 0.0
    if shape.kind == ShapeKind.PLANE:
        geom.size = (0.0, 0.0, 0.01)
    elif shape.kind == ShapeKind.CONVEX and shape.vertices is not None:
        mesh = spec.add_mesh(name=f"hull{len(spec.meshes)}", uservert=shape.vertices.flatten())
        mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
        geom.meshname = mesh.name
    elif shape.kind == ShapeKind.HEIGHT_FIELD and shape.heights is not None:
        geom.hfieldname = _add_height_field(spec, shape, shape.heights)
        geom.pos = T[:3, 3] + T[:3, 2] * float(shape.heights.min())


def _add_height_field(spec: mujoco.MjSpec, shape: Shape, heights: Array) -> str:
    """Add the asset of a height field; MuJoCo wants heights from 0 to 1 and ground below them."""
    name, low, span = f"field{len(spec.hfields)}", float(heights.min()), float(np.ptp(heights))
    scaled = (heights - low) / span if span > 0 else np.zeros_like(heights)
    spec.add_hfield(
        name=name,
        nrow=heights.shape[0],
        ncol=heights.shape[1],
        size=(shape.size[0], shape.size[1], max(span, 1e-6), 1.0),
        userdata=scaled.astype(np.float32).flatten(),
    )
    return name
