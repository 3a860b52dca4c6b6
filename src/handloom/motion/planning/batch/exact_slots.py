"""Exact checks in many scenes without compiling a model for each: obstacles are assigned to existing slots."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.motion.collision import CollisionRobot, ExactChecker, Obstacle
from handloom.motion.collision.shape import Shape, ShapeKind
from handloom.spatial import quat_from_matrix

RESIZED = (ShapeKind.BOX, ShapeKind.CAPSULE, ShapeKind.CYLINDER, ShapeKind.SPHERE, ShapeKind.ELLIPSOID)
"""Solids defined by three lengths: a slot takes any solid of its type."""
PLAIN = frozenset((*RESIZED, ShapeKind.PLANE))
"""Solids that a slot of their type can take."""
SPARE = 8
"""Slots for resizable solids are created in multiples of this number."""
MOST_KINDS = 64
"""Number of slot types kept before restarting with the required ones only."""


class SlotKind(NamedTuple):
    """Type of a slot, which determines the obstacles that it can hold."""

    kind: ShapeKind
    content: bytes
    """Hash of a hull or height field; empty for resizable solids."""
    contype: int
    conaffinity: int
    let_touch: frozenset[str]
    """Bodies of the robot that may touch it."""


class PlacedSolids(NamedTuple):
    """Poses and sizes of obstacles."""

    position: Array
    """(b, 3) [m]."""
    quat: Array
    """(b, 4)."""
    size: Array
    """Three lengths (b, 3) [m]."""
    half: Array
    """Half sides of their bounding boxes (b, 3) [m]."""
    reach: Array
    """Radii of their bounding spheres (b,) [m]."""


def placed(T: Array, kind: NDArray[np.int64], size: Array) -> PlacedSolids:
    """Return placements of obstacles from their poses (b, 4, 4), ``ShapeKind`` (b,) and lengths (b, 3) [m]."""
    return PlacedSolids(T[:, :3, 3], quat_from_matrix(T[:, :3, :3]).reshape(-1, 4), size, *_bounds(kind, size))


class SlotKinds:
    """Determines the slot type that an obstacle needs for a given robot."""

    def __init__(self, robot: CollisionRobot) -> None:
        self._ignored = robot.ignored
        self._bodies = tuple(dict.fromkeys(part.body for part in robot.parts))
        self.names = frozenset(name for pair in robot.ignored for name in pair)
        """Names that matter for the slot type: bodies that may touch something, and what they may touch."""

    def is_plain(self, obstacle: Obstacle) -> bool:
        """Return whether an obstacle fits into any slot of its type and contact bits."""
        solid = obstacle.shape.kind in PLAIN
        return solid and obstacle.name not in self.names and obstacle.body not in self.names

    def of(self, obstacle: Obstacle) -> SlotKind:
        """Return the slot type."""
        shape, names = obstacle.shape, (obstacle.name, obstacle.body)
        may = frozenset(b for b in self._bodies for n in names if frozenset((b, n)) in self._ignored)
        content = b"" if shape.kind in PLAIN else _content(shape)
        return SlotKind(shape.kind, content, obstacle.contype, obstacle.conaffinity, may)


class ExactSlots:
    """Exact checkers of one robot that are reused from scene to scene.

    A model is compiled when a scene needs slots that do not exist yet, and is reused for every scene that fits into it.
    """

    def __init__(self, robot: CollisionRobot) -> None:
        self._robot = robot
        self._room: dict[SlotKind, int] = {}
        self._models: dict[SlotKind, Obstacle] = {}
        self._slots: dict[SlotKind, list[int]] = {}
        self._checker: SlotChecker | None = None
        self.compiled = 0
        """Models compiled so far."""

    def put(self, kinds: Sequence[SlotKind], where: PlacedSolids, models: Mapping[SlotKind, Obstacle]) -> "SlotChecker":
        """Return the checker with only these obstacles around the robot.

        Args:
            kinds: Slot that each obstacle needs (b,).
            where: Where they are.
            models: An example obstacle of every slot type.
        """
        needed = Counter(kinds)
        if self._checker is None or any(count > self._room.get(kind, 0) for kind, count in needed.items()):
            self._checker = self._compile(needed, models)
        taken: Counter[SlotKind] = Counter()
        slots = np.empty(len(kinds), np.int64)
        for i, kind in enumerate(kinds):
            slots[i] = self._slots[kind][taken[kind]]
            taken[kind] += 1
        self._checker.fill(slots, where)
        return self._checker

    def _compile(self, needed: Counter[SlotKind], models: Mapping[SlotKind, Obstacle]) -> "SlotChecker":
        """Compile a model with room for these obstacles and for all previous ones."""
        if len(self._room) > MOST_KINDS:
            self._room.clear()
        for kind, count in needed.items():
            self._models.setdefault(kind, models[kind])
            room = SPARE * -(-count // SPARE) if kind.kind in RESIZED and not kind.let_touch else count
            self._room[kind] = max(self._room.get(kind, 0), room)
        templates: list[Obstacle] = []
        ignored = set(self._robot.ignored)
        for kind, count in self._room.items():
            self._slots[kind] = list(range(len(templates), len(templates) + count))
            for k in self._slots[kind]:
                name = f"slot {k}"
                templates.append(
                    replace(self._models[kind], name=name, body=name, enabled=True, T_world_obstacle=np.eye(4))
                )
                ignored |= {frozenset((body, name)) for body in kind.let_touch}
        self.compiled += 1
        return SlotChecker(self._robot, templates, ignored)


class SlotChecker(ExactChecker):
    """An exact checker whose obstacles are resized as well as moved."""

    def __init__(self, robot: CollisionRobot, slots: Sequence[Obstacle], ignored: set[frozenset[str]]) -> None:
        super().__init__(robot.tree, robot.parts, slots, ignored)
        model = self._model
        self._body = np.array([model.body(f"obstacle:{slot.name}").id for slot in slots], np.int64)
        self._geom = model.body_geomadr[self._body].astype(np.int64)
        self._bound = model.body_bvhadr[self._body].astype(np.int64)
        self._kind = np.array([int(slot.shape.kind) for slot in slots], np.int64)
        self._resized = np.isin(self._kind, [int(kind) for kind in RESIZED])
        self._body_bits = model.body_contype[self._body].copy(), model.body_conaffinity[self._body].copy()
        self._geom_bits = self._bits[0][self._geom], self._bits[1][self._geom]
        # Reference frame of a body's bounding boxes; obstacles are compiled at the origin, so this is the body frame.
        assert np.allclose(model.body_ipos[self._body[self._resized]], 0.0)

    def fill(self, slots: NDArray[np.int64], where: PlacedSolids) -> None:
        """Assign obstacles to slots (b,); all other slots are left empty."""
        model, used = self._model, np.zeros(len(self._body), bool)
        used[slots] = True
        self._free.clear()
        model.body_contype[self._body] = np.where(used, self._body_bits[0], 0)
        model.body_conaffinity[self._body] = np.where(used, self._body_bits[1], 0)
        model.geom_contype[self._geom] = np.where(used, self._geom_bits[0], 0)
        model.geom_conaffinity[self._geom] = np.where(used, self._geom_bits[1], 0)
        bodies = self._body[slots]
        model.body_pos[bodies], model.body_quat[bodies] = where.position, where.quat
        again = np.flatnonzero(self._resized[slots])
        some = slots[again]
        geoms, bounds, half = self._geom[some], self._bound[some], where.half[again]
        model.geom_size[geoms], model.geom_rbound[geoms] = where.size[again], where.reach[again]
        model.geom_aabb[geoms, 3:] = half
        model.bvh_aabb[bounds, :3] = 0.0
        model.bvh_aabb[bounds, 3:] = half


def _bounds(kind: NDArray[np.int64], size: Array) -> tuple[Array, Array]:
    """Return half sides of bounding boxes (b, 3) and bounding radii (b,) of solids, as in MuJoCo [m]."""
    x, y, z = size.T
    half, reach = size.copy(), np.sqrt(x * x + y * y + z * z)
    for which, sides, radius in (
        (ShapeKind.CAPSULE, (x, x, x + y), x + y),
        (ShapeKind.CYLINDER, (x, x, y), np.hypot(x, y)),
        (ShapeKind.SPHERE, (x, x, x), x),
        (ShapeKind.ELLIPSOID, (x, y, z), np.maximum(np.maximum(x, y), z)),
    ):
        mine = kind == which
        half[mine], reach[mine] = np.stack(sides, axis=1)[mine], radius[mine]
    return half, reach


def _content(shape: Shape) -> bytes:
    digest = hashlib.sha256()
    for part in (shape.vertices, shape.normals, shape.heights):
        digest.update(b"-" if part is None else part.tobytes())
    digest.update(repr((shape.size, shape.faces)).encode())
    return digest.digest()
