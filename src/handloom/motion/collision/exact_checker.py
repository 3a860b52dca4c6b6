"""MuJoCo's own collision detection, on a lean copy of the robot and the obstacles around it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.motion.collision.obstacle import CollisionPart, Obstacle
from handloom.motion.collision.shape import Shape, ShapeKind
from handloom.motion.kinematics.joint_tree import JointTree
from handloom.spatial import quat_from_matrix


@dataclass(frozen=True, kw_only=True, order=True)
class Touch:
    """A contact between a part of the robot and another body; the deepest comes first in sorted order."""

    distance: float
    """Signed distance [m]; negative for overlap."""
    part: str
    """Body of the robot."""
    other: str
    """Other body of the robot, or obstacle."""

    @property
    def depth(self) -> float:
        """Depth of the overlap [m], 0 if there is none."""
        return max(0.0, -self.distance)

    def __str__(self) -> str:
        if self.distance < 0:
            return f"{self.part} overlaps {self.other} by {1000 * self.depth:.1f} mm"
        return f"{self.part} is {1000 * self.distance:.1f} mm from {self.other}"


Pair = frozenset[str]

HORIZON = 0.1
"""Distances beyond this are not measured [m]."""

MOST_REMEMBERED = 4096
"""Number of free configurations that a checker caches: the ends of a path are checked before and after it."""

STRIDE = 64
"""One in this many configurations that spheres prove free is nevertheless checked exactly."""

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
    """First collision of a path."""

    touch: Touch
    """The deepest contact there."""
    segment: int
    """Index of the waypoint before it."""
    fraction: float
    """Position on that segment, 0 to 1."""
    q: Array
    """Configuration (n,)."""


class ExactChecker:
    """Exact contacts between moving parts and obstacles, and among moving parts.

    The checker compiles its own model: one body per link of the joint tree, with the joints in normal form, and one
    static body per obstacle. Obstacles can be moved, enabled and disabled without recompiling.
    """

    def __init__(
        self,
        tree: JointTree,
        parts: Sequence[CollisionPart],
        obstacles: Sequence[Obstacle],
        ignored: Iterable[Pair] = (),
    ) -> None:
        self.tree = tree
        self._model = _compile(tree, parts, obstacles, set(ignored))
        self._data = mujoco.MjData(self._model)
        model = self._model
        self._qpos = np.array([model.joint(name).qposadr[0] for name in tree.joint_names], np.int64)
        self._label = [_label(model.body(model.geom_bodyid[g]).name) for g in range(model.ngeom)]
        self._fixed = np.array([model.body_weldid[model.geom_bodyid[g]] == 0 for g in range(model.ngeom)])
        self._margin = HORIZON
        self._bits = model.geom_contype.copy(), model.geom_conaffinity.copy()
        self._placed = {obstacle.name: obstacle for obstacle in obstacles if obstacle.enabled}
        self._left: tuple[str, ...] = ()
        self._free: set[bytes] = set()
        self.place(obstacles)

    def place(self, obstacles: Iterable[Obstacle]) -> None:
        """Update pose and enabled state of the obstacles, which must be those that the checker was built with."""
        model = self._model
        for obstacle in obstacles:
            if self._placed.get(obstacle.name) is obstacle:
                continue
            self._placed[obstacle.name] = obstacle
            self._free.clear()
            body = model.body(f"obstacle:{obstacle.name}").id
            model.body_pos[body] = obstacle.T_world_obstacle[:3, 3]
            model.body_quat[body] = quat_from_matrix(obstacle.T_world_obstacle[:3, :3])
            geom = model.body_geomadr[body]
            model.geom_contype[geom] = self._bits[0][geom] if obstacle.enabled else 0
            model.geom_conaffinity[geom] = self._bits[1][geom] if obstacle.enabled else 0

    def leave_behind(self, bodies: Iterable[str]) -> None:
        """Ignore contacts of these moving bodies from now on, and check those of all others again."""
        left = tuple(bodies)
        if left == self._left:
            return
        self._left = left
        self._free.clear()
        for geom, label in enumerate(self._label):
            if not self._fixed[geom]:
                self._model.geom_contype[geom] = 0 if label in left else self._bits[0][geom]
                self._model.geom_conaffinity[geom] = 0 if label in left else self._bits[1][geom]

    def touches(self, q: Array, *, within: float = 0.0) -> list[Touch]:
        """Return the closest contact of each pair closer than ``within`` [m] at a configuration, deepest first.

        Distances are measured up to the checker's horizon.
        """
        geoms, distances = self._contacts(q, min(within, HORIZON))
        closest: dict[tuple[str, str], float] = {}
        for (a, b), distance in zip(geoms, distances, strict=True):
            if distance < within:
                pair = (self._label[b], self._label[a]) if self._fixed[a] else (self._label[a], self._label[b])
                closest[pair] = min(distance, closest.get(pair, np.inf))
        return sorted(Touch(distance=float(d), part=a, other=b) for (a, b), d in closest.items())

    def clearance(self, q: Array) -> float:
        """Return the smallest distance between objects that must not touch [m], at most the horizon."""
        _, distances = self._contacts(q, HORIZON)
        return min(HORIZON, float(distances.min())) if len(distances) else HORIZON

    def is_free(self, q: Array) -> bool:
        """Return whether nothing overlaps at a configuration."""
        key = q.tobytes()
        if key in self._free:
            return True
        self._collide(q, 0.0)
        free = self._data.ncon == 0 or bool(self._data.contact.dist.min() >= 0.0)
        if free:
            if len(self._free) >= MOST_REMEMBERED:
                self._free.clear()
            self._free.add(key)
        return free

    def first_collision(
        self,
        path: Array,
        *,
        step: float = 0.01,
        allowed: dict[Pair, float] | None = None,
        surely_free: Callable[[Array], NDArray[np.bool_]] | None = None,
    ) -> PathCollision | None:
        """Return the first collision of a path of straight joint motions, or None if it is free.

        Args:
            path: Waypoints (m, n).
            step: Largest unchecked motion of any joint [rad or m].
            allowed: Tolerated overlap of some pairs [m], such as contacts at the start of the path.
            surely_free: Returns which of the configurations (m, n) need no exact check, because spheres that contain
                the solids are free there. Some of these are nevertheless checked exactly.
        """
        q, counts = samples_along(path, step)
        needed = np.ones(len(q), bool)
        if surely_free is not None:
            needed = ~surely_free(q)
            needed[::STRIDE] = True
            needed[-1] = True
        for k in np.flatnonzero(needed):
            if self.is_free(q[k]):
                continue
            for touch in self.touches(q[k]):
                if touch.depth > (allowed or {}).get(frozenset((touch.part, touch.other)), 0.0):
                    segment, fraction = place_of_sample(int(k), counts)
                    return PathCollision(touch=touch, segment=segment, fraction=fraction, q=q[k])
        return None

    def _contacts(self, q: Array, margin: float) -> tuple[NDArray[np.int32], Array]:
        """Return geoms (c, 2) and signed distances (c,) [m] of all contacts within a margin [m]."""
        self._collide(q, margin)
        if self._data.ncon == 0:
            return np.empty((0, 2), np.int32), np.empty(0)
        return self._data.contact.geom, self._data.contact.dist

    def _collide(self, q: Array, margin: float) -> None:
        """Find all contacts within a margin [m] with MuJoCo."""
        model, data = self._model, self._data
        if margin != self._margin:
            moving = ~self._fixed
            model.geom_margin[moving] = margin
            model.body_margin[model.geom_bodyid[moving]] = margin
            self._margin = margin
        data.qpos[self._qpos] = q
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)


def samples_along(path: Array, step: float) -> tuple[Array, NDArray[np.int64]]:
    """Return configurations at most ``step`` apart in any joint, and their number for each segment of the path."""
    if len(path) == 1:
        return path, np.ones(1, np.int64)
    steps = path[1:] - path[:-1]
    counts = np.maximum(1, np.ceil(np.abs(steps).max(axis=1) / step)).astype(np.int64)
    q, row = np.empty((int(counts.sum()) + 1, path.shape[1])), 0
    for begin, motion, count in zip(path, steps, counts.tolist(), strict=False):
        q[row : row + count] = begin + (np.arange(count) / count)[:, None] * motion
        row += count
    q[-1] = path[-1]
    return q, counts


def place_of_sample(k: int, counts: NDArray[np.int64]) -> tuple[int, float]:
    """Return the segment of sample k of ``samples_along``, and its position on it (0 to 1)."""
    for segment, count in enumerate(counts.tolist()):
        if k < count:
            return segment, k / count
        k -= count
    return len(counts) - 1, 1.0


def _label(body: str) -> str:
    """Return the user's name of a body of the checker's model."""
    return body.partition(":")[2]


def _bodies(parts: Sequence[CollisionPart]) -> list[str]:
    return list(dict.fromkeys(part.body for part in parts))


def _compile(
    tree: JointTree, parts: Sequence[CollisionPart], obstacles: Sequence[Obstacle], ignored: set[Pair]
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
        # The dynamics of this model are never used, but MuJoCo rejects moving bodies without mass.
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


def _exclude(
    spec: mujoco.MjSpec, parts: Sequence[CollisionPart], obstacles: Sequence[Obstacle], ignored: set[Pair]
) -> None:
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
    """Add the asset of a height field; MuJoCo requires heights from 0 to 1 and ground below them."""
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
