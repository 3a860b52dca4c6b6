"""The annotator: computes grasp rows for any object and any two-finger gripper."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from handloom.grasping.annotate_options import AnnotateOptions
from handloom.grasping.antipodal import AntipodalPairs, antipodal_pairs, pairs_through, shifted
from handloom.grasping.convex_parts import BOX, Array, ConvexParts, convex_parts
from handloom.grasping.filter_kernels import free_poses, spread_out
from handloom.grasping.grasp_file import CENTRE, DEPTH, FINGER_HEIGHT, HEIGHT, OBJECT, ROTATION, SCORE, WIDTH, GraspSet
from handloom.grasping.gripper_shape import GripperShape, GripTable
from handloom.objects import ObjectAsset
from handloom.objects.geometry import Reach, geom_ids, posed
from handloom.spatial import make_pose, matrix_from_quat

TURN = 0.3
"""Spread of an approach direction around that of a neighbouring grasp [rad]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class GraspCandidates:
    """n hand poses in the object frame, one array per property."""

    score: Array
    """(n,)"""
    contacts: Array
    """(n, 2, 3) [m]."""
    normals: Array
    """(n, 2, 3)"""
    R: Array
    """(n, 3, 3): columns approach, closing, and their cross product."""
    hand: Array
    """(n, 3) position of the end effector [m]."""
    depth: Array
    """(n,) reach of the fingertips past the contacts [m]."""
    level: Array
    """(n,) drive level at which the fingers just clear the contacts."""

    def __len__(self) -> int:
        """Return n."""
        return len(self.score)

    @property
    def width(self) -> Array:
        """Distance (n,) between the contacts [m]."""
        return np.linalg.norm(self.contacts[:, 1] - self.contacts[:, 0], axis=1)

    @property
    def contact(self) -> Array:
        """Point (n, 3) between the contacts [m]."""
        return self.contacts.mean(axis=1)

    def take(self, rows: NDArray[np.int64]) -> "GraspCandidates":
        """Return the candidates at indices ``rows``, in that order."""
        return GraspCandidates(**{f.name: getattr(self, f.name)[rows] for f in fields(self)})

    @classmethod
    def joined(cls, sets: Sequence["GraspCandidates"]) -> "GraspCandidates":
        """Return all candidates of several sets."""
        return cls(**{f.name: np.concatenate([getattr(s, f.name) for s in sets]) for f in fields(cls)})


def turned_around(
    pairs: AntipodalPairs, table: GripTable, options: AnnotateOptions, rng: np.random.Generator, *, down: Array
) -> GraspCandidates:
    """Combine every pair with approach directions around its closing axis and with every depth that the pads allow.

    The first direction of every pair is as close to ``down`` (3,) as its closing axis allows.
    """
    R = _orientations(pairs, options.approaches, rng, down)
    depths = len(table.depths)
    pair = np.repeat(np.arange(len(pairs)), options.approaches * depths)
    depth = np.tile(np.arange(depths), len(pairs) * options.approaches)
    return _placed(pairs, pair, np.repeat(R, depths, axis=0), depth, table, options)


def turned_like(
    pairs: AntipodalPairs, approach: Array, table: GripTable, options: AnnotateOptions, rng: np.random.Generator
) -> GraspCandidates:
    """Give each pair an approach direction near a given one (m, 3) and any depth."""
    y = pairs.closing
    x = approach + TURN * rng.standard_normal((len(y), 3)) * rng.uniform(size=(len(y), 1)) ** 2
    x -= np.sum(x * y, axis=1, keepdims=True) * y
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    R = np.stack([x, y, np.asarray(np.cross(x, y), float)], axis=-1)
    depth = rng.integers(len(table.depths), size=len(y))
    return _placed(pairs, np.arange(len(y)), R, depth, table, options)


def _placed(
    pairs: AntipodalPairs,
    pair: NDArray[np.int64],
    R: Array,
    depth: NDArray[np.int64],
    table: GripTable,
    options: AnnotateOptions,
) -> GraspCandidates:
    """Place hands (n, 3, 3) on pairs (n,) at depth indices (n,); leave out those that the pads do not reach."""
    level, middle = table.at_opening(pairs.width[pair] + 2.0 * options.clearance, depth)
    fits = np.flatnonzero(np.isfinite(level))
    pair, R = pair[fits], R[fits]
    contact = pairs.contacts[pair].mean(axis=1)
    return GraspCandidates(
        score=pairs.score[pair],
        contacts=pairs.contacts[pair],
        normals=pairs.normals[pair],
        R=R,
        hand=contact - np.einsum("nij,nj->ni", R, middle[fits]),
        depth=table.depths[depth[fits]],
        level=level[fits],
    )


def _orientations(pairs: AntipodalPairs, count: int, rng: np.random.Generator, down: Array) -> Array:
    """Return ``count`` hand orientations per pair (m * count, 3, 3), half of them regular, half random."""
    y = pairs.closing
    # If the closing axis itself points down, an axis of the object at right angles is used instead.
    steep = np.abs(y @ down)[:, None] > 0.99
    wanted = np.where(steep, np.eye(3)[int(np.argmin(np.abs(down)))], down)
    first = wanted - np.sum(wanted * y, axis=1, keepdims=True) * y
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    second = np.cross(y, first)
    regular = (count + 1) // 2
    angle = np.empty((len(y), count))
    angle[:, :regular] = np.arange(regular) * (2.0 * np.pi / regular)
    angle[:, regular:] = rng.uniform(0.0, 2.0 * np.pi, size=(len(y), count - regular))
    x = np.cos(angle)[..., None] * first[:, None] + np.sin(angle)[..., None] * second[:, None]
    y = np.broadcast_to(y[:, None], x.shape)
    z = np.asarray(np.cross(x, y), float)
    return np.stack([x, y, z], axis=-1).reshape(-1, 3, 3)


STRAIGHT_DOWN = np.array([0.0, 0.0, -1.0])
SIDE, THICKNESS = 2.0, 0.1
"""Size of the slab that represents the table [m]."""
LEVEL = np.sin(np.deg2rad(20.0))
"""Steeper closing directions would push one finger into the table."""
METRES_PER_RADIAN = 0.05
"""In the choice of diverse grasps, a turn of 1 rad counts as much as a shift of 5 cm, about the size of the objects."""
CURVED_SEGMENTS = 6
"""Straight segments per path of a turning finger: 0.2 rad each, 0.5 mm of sagitta at 10 cm."""
BATCH = 2000
"""Poses tested before each check whether the search has found enough."""


@dataclass(frozen=True, eq=False)
class Ground:
    """A horizontal plane in the frame of an object that lies on it."""

    up: Array
    """Unit vector (3,)."""
    height: float
    """Height of the object's origin above the plane [m]."""

    @classmethod
    def under(cls, asset: ObjectAsset, pose: int) -> "Ground":
        """Return the ground under one of an object's rest poses."""
        rest = asset.rest_poses
        return cls(matrix_from_quat(rest.quats[pose])[2], float(rest.heights[pose]))

    @classmethod
    def below(cls, asset: ObjectAsset, up: Array) -> "Ground":
        """Return the ground under an object that lies with a given direction (3,) of its own frame up."""
        reach = Reach(asset.model, posed(asset.model))
        return cls(up, float(reach(-up[None])[0]))

    @property
    def down(self) -> Array:
        """Unit vector (3,)."""
        return -self.up

    def level(self, directions: Array) -> NDArray[np.bool_]:
        """Return whether unit directions (n, 3) are nearly horizontal."""
        return np.abs(directions @ self.up) < LEVEL

    @property
    def solid(self) -> ConvexParts:
        """A slab under the object."""
        across = np.asarray(np.cross(self.up, np.eye(3)[int(np.argmin(np.abs(self.up)))]), float)
        side = across / np.linalg.norm(across)
        size = np.array([[SIDE / 2, SIDE / 2, THICKNESS / 2]])
        return ConvexParts(
            kind=np.array([BOX], np.int64),
            size=size,
            position=np.ascontiguousarray(self.down * (self.height + THICKNESS / 2))[None],
            rotation=np.ascontiguousarray(
                np.stack([side, np.asarray(np.cross(self.up, side), float), self.up], axis=1)
            )[None],
            radius=np.linalg.norm(size, axis=1),
            corners=np.zeros((0, 3)),
            corner_range=np.zeros((1, 2), np.int64),
            planes=np.zeros((0, 4)),
            plane_range=np.zeros((1, 2), np.int64),
        )


def annotate(
    asset: ObjectAsset,
    gripper: GripperShape,
    options: AnnotateOptions,
    rng: np.random.Generator,
    *,
    ground: Ground | None = None,
) -> GraspSet:
    """Find antipodal grasps that the gripper can reach without touching the object before closing.

    Args:
        asset: The object, joints at zero.
        gripper: The gripper's shape; ``GripperShape.of(robot)``.
        options: Settings.
        rng: Draws surface points, closing and approach directions; the same state gives bit-identical results.
        ground: Surface under the object, which the gripper must not touch either; None: the object floats.

    Returns:
        At most ``options.count`` grasps, best score first; empty when the gripper cannot hold the object.
    """
    solid = object_parts(asset)
    table = gripper.grips(options.depths, options.edge)
    found, funnel = _search(asset, solid, gripper, table, options, rng, ground)
    chosen = spread_out(found.contact, found.R, 1.1 - found.score, options.count, METRES_PER_RADIAN)
    best = found.take(chosen[np.argsort(found.score[chosen], kind="stable")])
    return GraspSet(
        rows=_rows(best, gripper),
        contacts=best.contacts,
        normals=best.normals,
        hands=make_pose(best.R, best.hand),
        funnel={**funnel, "chosen": len(best)},
    )


def object_parts(asset: ObjectAsset) -> ConvexParts:
    """Return the solid convex parts of an object in its own frame, joints at zero."""
    model, data = asset.model, posed(asset.model)
    geoms = geom_ids(model, solid=True)
    return convex_parts(model, geoms, data.geom_xpos[geoms], data.geom_xmat[geoms].reshape(-1, 3, 3))


def clear_of(
    solid: ConvexParts, gripper: GripperShape, R: Array, hand: Array, level: Array, options: AnnotateOptions
) -> NDArray[np.bool_]:
    """Return whether hand poses (n,) approach and close without touching the object first.

    Args:
        solid: The object's parts.
        gripper: The gripper.
        R: Hand orientations (n, 3, 3) in the object frame.
        hand: Hand positions (n, 3) in the object frame [m].
        level: Levels (n,) at which the fingers are just clear of the contacts.
        options: Margin, approach, and whether the fingers arrive at that level, at a given opening or fully open.
    """
    opened = gripper.level_at(options.opening) if options.opening is not None else len(gripper.position) - 1.0
    arriving = level if options.preshape else np.full(len(level), opened)
    segments = 0 if options.preshape else (CURVED_SEGMENTS if gripper.curved else 1)
    # The kernel is compiled again, for seconds, for every combination of layouts and types of its arrays.
    position, rotation, R, hand, level, arriving = (
        np.ascontiguousarray(values, float) for values in (gripper.position, gripper.rotation, R, hand, level, arriving)
    )
    shape = (gripper.parts, position, rotation, gripper.moving)
    return free_poses(solid, *shape, R, hand, level, arriving, options.approach_length, segments, options.margin)


def _search(
    asset: ObjectAsset,
    solid: ConvexParts,
    gripper: GripperShape,
    table: GripTable,
    options: AnnotateOptions,
    rng: np.random.Generator,
    ground: Ground | None,
) -> tuple[GraspCandidates, dict[str, int]]:
    """Return candidates without collision, and the number left after each stage."""
    opening = float(np.nanmax(table.opening, initial=0.0)) if options.opening is None else options.opening
    widest = max(opening - 2.0 * options.clearance, 0.0)
    pairs = antipodal_pairs(asset.model, solid, widest, options, rng)
    if ground is not None and options.opening is None:
        pairs = pairs.take(np.flatnonzero(ground.level(pairs.closing)))
    poses = turned_around(pairs, table, options, rng, down=STRAIGHT_DOWN if ground is None else ground.down)
    poses = poses.take(rng.permutation(len(poses))[: options.poses])
    found = poses.take(np.zeros(0, np.int64))
    tested, wanted = 0, options.enough * options.count

    def free(batch: GraspCandidates) -> GraspCandidates:
        for solids in (solid,) if ground is None else (ground.solid, solid):
            clear = clear_of(solids, gripper, batch.R, batch.hand, batch.level, options)
            batch = batch.take(np.flatnonzero(clear))
        return batch

    while tested < len(poses) and len(found) < wanted:
        batch = poses.take(np.arange(tested, min(tested + BATCH, len(poses))))
        found = GraspCandidates.joined([found, free(batch)])
        tested += len(batch)
    drawn = 0
    while 0 < len(found) < wanted and drawn < options.neighbours:
        batch = _neighbours(found, solid, table, widest, options, rng)
        found = GraspCandidates.joined([found, free(batch)])
        tested += len(batch)
        drawn += BATCH
    return found, {"pairs": len(pairs), "poses": tested, "free": len(found)}


def _neighbours(
    found: GraspCandidates,
    solid: ConvexParts,
    table: GripTable,
    widest: float,
    options: AnnotateOptions,
    rng: np.random.Generator,
) -> GraspCandidates:
    """Return candidates with contacts and approaches near those of grasps already found."""
    parent = rng.integers(len(found), size=BATCH)
    place, normal, hit = shifted(solid, found.contacts[parent, 0], found.normals[parent, 0], options.step, rng)
    approach = found.R[parent, :, 0][hit]
    spread = np.where(rng.uniform(size=len(approach)) < 0.5, 0.0, options.max_friction)
    pairs, start = pairs_through(solid, place[hit], normal[hit], spread, widest, options, rng)
    return turned_like(pairs, approach[start], table, options, rng)


def _rows(grasps: GraspCandidates, gripper: GripperShape) -> NDArray[np.float32]:
    """Write published rows; the conversion to end-effector poses starts from their centre."""
    rows = np.zeros((len(grasps), 17), np.float32)
    rows[:, SCORE], rows[:, WIDTH] = grasps.score, grasps.width
    rows[:, HEIGHT], rows[:, DEPTH] = FINGER_HEIGHT, grasps.depth
    rows[:, ROTATION] = grasps.R.reshape(-1, 9)
    rows[:, CENTRE] = grasps.hand + grasps.R[:, :, 0] * (gripper.advance(grasps.width) - grasps.depth)[:, None]
    rows[:, OBJECT] = -1.0
    return rows
