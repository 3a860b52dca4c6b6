"""Many problems as flat tables for the kernels: every robot once, the obstacles of each problem."""

from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.motion.collision import CollisionRobot, Obstacle
from handloom.motion.collision.collision_arrays import BARE, FAR, PADDED, ROW, RobotArrays, supporting_planes
from handloom.motion.collision.collision_robot import MOST_PADDING
from handloom.motion.collision.shape import ShapeKind
from handloom.motion.collision.sphere_group import group_reach

_PROBLEM_FIELDS = ("joint", "joints", "group", "groups", "pair", "pairs", "item", "items", "obstacle")
_PROBLEM_FIELDS += ("face", "height", "goal", "goals")
PROBLEM = np.dtype([(name, np.int32) for name in _PROBLEM_FIELDS])
"""The kernels' ``Problem``."""

POLYHEDRA = (int(ShapeKind.CONVEX), int(ShapeKind.ELLIPSOID))
KERNEL_KIND = {int(ShapeKind.SPHERE): int(ShapeKind.CAPSULE), int(ShapeKind.ELLIPSOID): int(ShapeKind.CONVEX)}


class RobotView(NamedTuple):
    """Data of a robot, computed once."""

    arrays: RobotArrays
    limits: NDArray[np.float32]
    """Limits of the sampling box (n, 2)."""
    centre: Array
    """Centre of the region that each group can reach (g, 3) [m]."""
    reach: Array
    """Radius of this region (g,) [m]."""
    bits: NDArray[np.int64]
    """Contact bits of each group (g, 2)."""
    left_out: tuple[frozenset[str], ...]
    """Names that each group may touch."""
    special: frozenset[str]
    """Names that some group may touch, and fixed bodies of the robot."""
    fixed: frozenset[str]


def view_of(robot: CollisionRobot) -> RobotView:
    """Return the data of a robot for the tables."""
    reached = [group_reach(robot.tree, group) for group in robot.groups]
    pairs = robot.ignored | robot.coarse
    left_out = tuple(frozenset(n for pair in pairs if group.body in pair for n in pair) for group in robot.groups)
    return RobotView(
        robot.arrays(padding=0.0),
        np.stack(robot.tree.sampling_box, axis=1).astype(np.float32),
        np.array([centre for centre, _ in reached]).reshape(-1, 3),
        np.array([reach for _, reach in reached]),
        np.array([(g.contype, g.conaffinity) for g in robot.groups], np.int64).reshape(-1, 2),
        left_out,
        frozenset().union(*left_out, robot.fixed),
        robot.fixed,
    )


class WorldRows(NamedTuple):
    """The obstacles of all problems, one after the other."""

    kind: NDArray[np.int32]
    row: NDArray[np.float32]
    face: NDArray[np.float32]
    height: NDArray[np.float32]
    face_begin: NDArray[np.int64]
    """First plane of each problem (p,)."""
    height_begin: NDArray[np.int64]
    """First height of each problem (p,)."""
    begin: NDArray[np.int64]
    """First obstacle of each problem (p + 1,)."""
    T: Array
    """Poses in the world (b, 4, 4)."""
    size: Array
    """Three lengths (b, 3) [m]."""
    shape: NDArray[np.int64]
    """``ShapeKind`` (b,)."""
    contype: NDArray[np.int64]
    conaffinity: NDArray[np.int64]
    enabled: NDArray[np.bool_]
    names: list[str]
    bodies: list[str]
    obstacles: list[Obstacle]


def world_rows(worlds: Sequence[Sequence[Obstacle]]) -> WorldRows:
    """Return the rows of ``world_arrays`` for each world, computed for all worlds at once."""
    obstacles = [o for world in worlds for o in world]
    solids = [o.shape for o in obstacles]
    begin = np.cumsum([0, *map(len, worlds)])
    T = np.concatenate([np.zeros((0, 4)), *[o.T_world_obstacle for o in obstacles]]).reshape(-1, 4, 4)
    size = np.fromiter(chain.from_iterable([one.size for one in solids]), float, 3 * len(solids)).reshape(-1, 3)
    shape = np.array([one.kind for one in solids], np.int64)
    rows = np.zeros((len(obstacles), ROW))
    rows[:, :3], rows[:, 3:12], rows[:, 12:15] = T[:, :3, 3], T[:, :3, :3].reshape(-1, 9), size
    rows[:, 15], rows[:, 21:24] = _bounding_radius(shape, size), _bounding_box(shape, size)
    faces, heights = [np.zeros((0, 4))], [np.zeros(0)]
    # Planes and heights of each obstacle, one number more than obstacles.
    plane_count, height_count = np.zeros((2, len(obstacles) + 1), np.int64)
    special = np.flatnonzero(np.isin(shape, (*POLYHEDRA, int(ShapeKind.HEIGHT_FIELD))))
    for i in special.tolist():
        solid = solids[i]
        rows[i, 15] = min(solid.bounding_radius, FAR)
        if solid.heights is not None:
            (down, across), (x, y, _) = solid.heights.shape, solid.size
            rows[i, 17:21] = down, across, 2 * x / (across - 1), 2 * y / (down - 1)
            heights.append(solid.heights.ravel())
            height_count[i] = solid.heights.size
            continue
        planes = supporting_planes(solid)
        faces.append(planes)
        plane_count[i] = len(planes)
        if solid.kind is ShapeKind.CONVEX and solid.vertices is not None:
            rows[i, 21:24] = np.abs(solid.vertices).max(axis=0)
    planes_before, heights_before = (np.cumsum(count) - count for count in (plane_count, height_count))
    face_begin, height_begin = planes_before[begin[:-1]], heights_before[begin[:-1]]
    problem = np.searchsorted(begin, special, side="right") - 1
    field = height_count[special] > 0
    rows[special, 16] = np.where(field, heights_before[special] - height_begin[problem], 0)
    hull, of = special[~field], problem[~field]
    rows[hull, 16] = planes_before[hull] - face_begin[of]
    rows[hull, 17] = rows[hull, 16] + plane_count[hull]
    kind = shape.copy()
    for given, seen in KERNEL_KIND.items():
        kind[shape == given] = seen
    return WorldRows(
        kind.astype(np.int32),
        rows.astype(np.float32),
        np.concatenate(faces).astype(np.float32),
        np.concatenate(heights).astype(np.float32),
        face_begin,
        height_begin,
        begin,
        T,
        size,
        shape,
        # One list per attribute: tuples would have to be collected as garbage.
        np.array([o.contype for o in obstacles], np.int64),
        np.array([o.conaffinity for o in obstacles], np.int64),
        np.array([o.enabled for o in obstacles], bool),
        [o.name for o in obstacles],
        [o.body for o in obstacles],
        obstacles,
    )


def _bounding_radius(shape: NDArray[np.int64], size: Array) -> Array:
    """Return the bounding radius of each solid around its frame [m]; that of a hull is filled in elsewhere."""
    x, y, z = size.T
    radius = np.full(len(shape), FAR)
    for kind, value in (
        (ShapeKind.BOX, np.sqrt(x * x + y * y + z * z)),
        (ShapeKind.CAPSULE, x + y),
        (ShapeKind.CYLINDER, np.hypot(x, y)),
        (ShapeKind.SPHERE, size.max(axis=1, initial=0.0)),
        (ShapeKind.ELLIPSOID, size.max(axis=1, initial=0.0)),
    ):
        radius = np.where(shape == kind, value, radius)
    return radius


def _bounding_box(shape: NDArray[np.int64], size: Array) -> Array:
    """Return half sides of the bounding box of each solid [m]; those of a hull are filled in elsewhere."""
    box = size.copy()
    x, y, _ = size.T
    round_ = (shape == ShapeKind.CAPSULE) | (shape == ShapeKind.SPHERE)
    box[round_] = np.stack([x, x, x + y], axis=1)[round_]
    box[shape == ShapeKind.CYLINDER] = np.stack([x, x, y], axis=1)[shape == ShapeKind.CYLINDER]
    box[shape == ShapeKind.HEIGHT_FIELD, 2] = FAR
    return box


class CheckedTables(NamedTuple):
    """The result of ``CollisionRobot.checked`` for each problem: groups against obstacles."""

    flat: NDArray[np.int8]
    """Tables (groups, obstacles) row by row, one after the other."""
    begin: NDArray[np.int64]
    """Where the table of each problem begins (p + 1,)."""
    groups: NDArray[np.int64]
    """Groups of the robot of each problem (p,)."""

    def table(self, p: int) -> NDArray[np.int8]:
        """Return the table of one problem."""
        groups = int(self.groups[p])
        flat = self.flat[self.begin[p] : self.begin[p + 1]]
        return flat.reshape(groups, len(flat) // groups) if groups else flat.reshape(0, 0)


def checked_tables(views: Sequence[RobotView], which: NDArray[np.int64], rows: WorldRows) -> CheckedTables:
    """Return which groups are checked against which obstacles, for all problems at once.

    Args:
        views: The robots.
        which: Robot of each problem (p,).
        rows: Obstacles of all problems.
    """
    obstacles, contype, conaffinity = rows.obstacles, rows.contype, rows.conaffinity
    centres, radius = rows.T[:, :3, 3], rows.row[:, 15].astype(float)
    radius[radius >= FAR] = np.inf
    across = np.diff(rows.begin)
    groups = np.array([len(view.reach) for view in views], np.int64)[which]
    begin = np.concatenate([[0], np.cumsum(groups * across)])
    problem = np.repeat(np.arange(len(which)), across)
    # The place of an obstacle in the first row of its table, and the distance to the next row.
    place, stride = begin[problem] + np.arange(len(obstacles)) - rows.begin[problem], across[problem]
    owner, flat = which[problem], np.zeros(int(begin[-1]), np.int8)
    for r, view in enumerate(views):
        mine = np.flatnonzero(owner == r) if len(views) > 1 else np.arange(len(obstacles))
        limit = radius[mine] + view.reach[:, None] + MOST_PADDING + 1e-6
        near = _squared_distances(view.centre, centres[mine]) <= limit * limit
        # An infinitely large obstacle is near everything, and one entirely inside cannot be further away than nothing.
        near &= limit >= 0.0
        meet = (view.bits[:, :1] & conaffinity[mine]) | (contype[mine] & view.bits[:, 1:])
        table = np.where(near & (meet != 0) & rows.enabled[mine], PADDED, 0).astype(np.int8)
        for at in _named(view.special, rows.names, rows.bodies, mine):
            one = obstacles[mine[at]]
            for g, left_out in enumerate(view.left_out):
                if one.name in left_out or one.body in left_out:
                    table[g, at] = 0
            if one.geom >= 0 and one.body in view.fixed:
                table[table[:, at] != 0, at] = BARE
        flat[place[mine] + np.arange(len(view.reach))[:, None] * stride[mine]] = table
    return CheckedTables(flat, begin, groups)


def _squared_distances(a: Array, b: Array) -> Array:
    """Return the squared distances between points (n, 3) and points (m, 3) as (n, m) [m^2]."""
    total = np.zeros((len(a), len(b)))
    for k in range(3):
        along = a[:, k, None] - b[:, k]
        along *= along
        total += along
    return total


def _named(special: frozenset[str], names: list[str], bodies: list[str], mine: NDArray[np.int64]) -> list[int]:
    """Return the places in ``mine`` of obstacles whose name or body is special."""
    if special.isdisjoint(names) and special.isdisjoint(bodies):
        return []
    return [at for at, j in enumerate(mine.tolist()) if names[j] in special or bodies[j] in special]


class Tables(NamedTuple):
    """All kernel input of a batch, as host arrays."""

    arrays: tuple[NDArray[Any], ...]
    """In the order of the kernels' ``Tables``."""
    problems: NDArray[Any]
    """Rows of ``PROBLEM``."""


def tables_of(views: Sequence[RobotView], which: NDArray[np.int64], rows: WorldRows, checked: CheckedTables) -> Tables:
    """Return the tables of a batch; the caller fills in the goals."""
    robots, places = _robot_arrays(views)
    problems = np.zeros(len(which), PROBLEM)
    for name, column in zip(("joint", "joints", "group", "groups", "pair", "pairs"), places.T, strict=True):
        problems[name] = column[which]
    flat, before, across = checked.flat, checked.begin, np.diff(rows.begin)
    at = np.flatnonzero(flat)
    of = np.searchsorted(before, at, side="right") - 1
    group, obstacle = np.divmod(at - before[of], np.maximum(across[of], 1))
    column = flat[at].astype(np.int64)
    radius = robots[6].reshape(-1, 5)[group + problems["group"][of], column]
    items = np.empty((len(at), 2), np.int32)
    items[:, 0] = group | column << 8 | obstacle << 12
    items[:, 1] = np.ascontiguousarray(radius).view(np.int32)
    problems["obstacle"] = rows.begin[:-1]
    edges = np.searchsorted(at, before)
    problems["item"], problems["items"] = edges[:-1], np.diff(edges)
    problems["face"], problems["height"] = rows.face_begin, rows.height_begin
    world = (rows.kind, rows.row, rows.face, rows.height, items)
    return Tables((*robots, *world), problems)


def _robot_arrays(views: Sequence[RobotView]) -> tuple[tuple[NDArray[Any], ...], NDArray[np.int64]]:
    """Return the concatenated robots and the start of each: joints, groups and pairs with their counts."""
    joints = groups = clusters = spheres = pairs = 0
    parts: list[tuple[NDArray[Any], ...]] = []
    places = []
    for view in views:
        a = view.arrays
        ranges = np.stack([a.group_begin[:-1], a.group_begin[1:]], axis=1) + clusters
        inner = np.stack([a.cluster_begin[:-1], a.cluster_begin[1:]], axis=1) + spheres
        solids = (a.group_link, ranges, inner, a.group, a.cluster, a.sphere, a.pair + groups)
        parts.append((a.parent, a.joint, a.prismatic, *solids, view.limits))
        places.append((joints, len(a.parent), groups, len(a.group), pairs, len(a.pair)))
        joints, groups, pairs = joints + len(a.parent), groups + len(a.group), pairs + len(a.pair)
        clusters, spheres = clusters + len(a.cluster), spheres + len(a.sphere)
    kinds = (np.int32, np.float32, np.int32, np.int32, np.int32, np.int32, *[np.float32] * 3, np.int32, np.float32)
    arrays = tuple(
        np.ascontiguousarray(np.concatenate(column).astype(kind))
        for column, kind in zip(zip(*parts, strict=True), kinds, strict=True)
    )
    return arrays, np.array(places, np.int64).reshape(-1, 6)
