"""Grasps of any object and robot, by fingers or by suction, annotated on first use and cached."""

import hashlib
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.cache import user_cache
from handloom.errors import HandloomError
from handloom.grasping.annotate import Ground, annotate
from handloom.grasping.annotate_options import DEPTHS, AnnotateOptions
from handloom.grasping.antipodal import sample_surface
from handloom.grasping.convex_parts import ConvexParts, convex_parts
from handloom.grasping.grasp_file import (
    CENTRE,
    DEPTH,
    FINGER_HEIGHT,
    HEIGHT,
    OBJECT,
    ROTATION,
    SCORE,
    WIDTH,
    read_grasps,
    write_grasps,
)
from handloom.grasping.gripper_shape import GripperShape
from handloom.grasping.ray_kernels import outer_points
from handloom.objects import ObjectAsset
from handloom.objects.geometry import geom_ids

SAMPLES = 600
"""Number of surface points tried."""
PATCHES = 96
"""Number of patches kept, nearest to the centre of mass first."""
RING = 16
"""Rays per circle under the lip."""
CIRCLES = (0.5, 1.0)
"""Radii of the circles of rays, as fractions of the cup's radius."""
UNEVEN = 5e-4
"""Largest deviation of a patch from its plane [m]; a soft lip follows it."""
EDGE = 0.003
"""Distance of the lip from the edge of a patch [m]."""
ABOVE = 5e-3
"""Rays start this far above the plane [m], below any obstacle that a lip cannot pass."""
PRESSED = 1e-3
"""Compression of the lip [m]."""


def suction_rows(asset: ObjectAsset, radius: float, rng: np.random.Generator) -> NDArray[np.float32]:
    """Return grasp rows (n, 17) at which a cup seals; the score is the lever arm of the weight about the cup.

    The approach is against the normal. The closing axis, which has no meaning for a suction cup, is aligned with an
    axis of the object, so that the hand is parallel to its sides; each patch comes with two of them, a quarter turn
    apart.

    Args:
        asset: The object.
        radius: Radius of the cup [m].
        rng: Draws surface points.
    """
    data = mujoco.MjData(asset.model)
    mujoco.mj_forward(asset.model, data)
    geoms, centre_of_mass = geom_ids(asset.model, solid=True), data.subtree_com[0].copy()
    parts = convex_parts(asset.model, geoms, data.geom_xpos[geoms], data.geom_xmat[geoms].reshape(-1, 3, 3))
    points, normals = sample_surface(asset.model, parts, SAMPLES, rng)
    # The best point of a face is in line with the centre of mass, where random points rarely fall.
    under = centre_of_mass - np.einsum("ni,ni->n", centre_of_mass - points, normals)[:, None] * normals
    points, normals = np.concatenate([under, points]), np.tile(normals, (2, 1))
    points, normals = _distinct(points, normals)
    flat = np.array([_seals(parts, p, n, radius + EDGE) for p, n in zip(points, normals, strict=True)], dtype=bool)
    points, normals = points[flat], normals[flat]
    offset = points - centre_of_mass
    lever = np.linalg.norm(offset - np.einsum("ni,ni->n", offset, normals)[:, None] * normals, axis=1)
    best = np.argsort(lever, kind="stable")[:PATCHES]
    return np.concatenate([_rows(points[best], normals[best], lever[best], turn) for turn in (False, True)])


def _distinct(points: Array, normals: Array) -> tuple[Array, Array]:
    """Return points and normals without duplicates within a tenth of a millimetre."""
    key = np.round(np.concatenate([points / 1e-4, normals / 1e-3], axis=1)).astype(np.int64)
    first = np.sort(np.unique(key, axis=0, return_index=True)[1])
    return points[first], normals[first]


def _across(normals: Array) -> tuple[Array, Array]:
    """Return two unit vectors (n, 3) in each plane, the first along the object axis closest to it."""
    axis = np.eye(3)[np.argmin(np.abs(np.round(normals, 6)), axis=1)]
    flat = axis - np.sum(axis * normals, axis=1, keepdims=True) * normals
    first: Array = flat / np.linalg.norm(flat, axis=1, keepdims=True)
    return first, np.cross(normals, first)


def _seals(parts: ConvexParts, point: Array, normal: Array, radius: float) -> bool:
    """Return whether the surface under a lip is flat."""
    u, v = _across(normal[None])
    angle = np.linspace(0.0, 2.0 * np.pi, RING, endpoint=False)[:, None]
    ring = np.cos(angle) * u + np.sin(angle) * v
    places = np.concatenate([point[None], *(point + share * radius * ring for share in CIRCLES)])
    down = np.tile(-normal, (len(places), 1))
    found, normals, hit = outer_points(parts, places + ABOVE * normal, down, 2.0 * ABOVE)
    return bool(hit.all() and np.abs((found - point) @ normal).max() < UNEVEN and (normals @ normal).min() > 0.99)


def _rows(points: Array, normals: Array, lever: Array, turned: bool) -> NDArray[np.float32]:
    first, second = _across(normals)
    closing = second if turned else first
    rows = np.zeros((len(points), 17), np.float32)
    rows[:, SCORE], rows[:, WIDTH], rows[:, HEIGHT], rows[:, DEPTH] = lever, 0.0, FINGER_HEIGHT, PRESSED
    R = np.stack([-normals, closing, np.cross(-normals, closing)], axis=2)
    rows[:, ROTATION], rows[:, CENTRE], rows[:, OBJECT] = R.reshape(-1, 9), points, -1.0
    return rows


LYING = AnnotateOptions(count=150, approaches=2, depths=(0.002, 0.003, *DEPTHS), enough=2)
"""Search options for lying objects: half of the approaches straight down, and fingertip grasps included."""
RIM_OPENING = 0.020
"""Finger opening during the approach to a rim [m]."""
RIM = AnnotateOptions(
    count=150, samples=3000, depths=(0.003, *DEPTHS), opening=RIM_OPENING, clearance=0.004, margin=0.001, enough=2
)
"""Search options for rims: fingers 20 mm apart hold rims up to 12 mm thick, with room for a few millimetres of error of
the arm."""
RING_OPENING = 0.030
"""Finger opening with one finger in the hole of a ring, such as a donut wider than the hand [m]."""
RINGS = replace(RIM, opening=RING_OPENING)
"""Search options for rings: with a wider opening, that finger would hit the other side of the hole."""
DIRECTIONS = 6
"""Quantization steps per unit of the up direction: at most seven degrees off."""
REST_POSES = 4
"""Number of rest poses considered per object."""
ALGORITHM = 2
"""Incremented whenever the annotator's output changes, to invalidate cached files."""

SUCTION_ALGORITHM = 1
"""The same version number for patches of suction cups."""


def grasps_for(
    asset: ObjectAsset, gripper: GripperShape, *, options: AnnotateOptions | None = None
) -> NDArray[np.float32]:
    """Return the grasp rows (n, 17) of an object; annotated on first use, then taken from the cache.

    The generator is seeded by the content of object, gripper and options, so the rows depend on nothing else: not on
    the run, the worker or the cache.

    Args:
        asset: The object.
        gripper: Shape of the gripper.
        options: Settings of the annotator.
    """
    options = options or AnnotateOptions()
    return _cached(grasp_key(asset, gripper, options), partial(_floating, asset, gripper, options))


def lying_grasps_for(asset: ObjectAsset, gripper: GripperShape) -> NDArray[np.float32]:
    """Return grasp rows (n, 17) of an object that lies on a table, in any of its first few rest poses.

    They suit pens and spoons that lie flat, where most grasps found in free space would hit the table.

    Args:
        asset: The object.
        gripper: Shape of the gripper.
    """
    return _cached(grasp_key(asset, gripper, LYING), partial(_lying, asset, gripper, LYING))


def grasps_as_it_lies(asset: ObjectAsset, gripper: GripperShape, up: Array) -> NDArray[np.float32]:
    """Return grasp rows (n, 17) of an object that lies on a table in its present pose, regardless of its rest poses.

    A lemon rolls: it has many rest poses, and a grasp from above in one comes from the side in another.

    Args:
        asset: The object.
        gripper: Shape of the gripper.
        up: Up direction (3,) in the object's frame.
    """
    coarse = np.round(np.asarray(up, float) * DIRECTIONS)
    words = ("as it lies", grasp_key(asset, gripper, LYING), coarse.astype(int).tolist())
    key = hashlib.sha256(repr(words).encode()).hexdigest()
    ground = Ground.below(asset, coarse / np.linalg.norm(coarse))
    return _cached(key, lambda rng: annotate(asset, gripper, LYING, rng, ground=ground).rows)


def rim_grasps_for(asset: ObjectAsset, gripper: GripperShape) -> NDArray[np.float32]:
    """Return grasp rows (n, 17) of rims and edges of an object on a table, for a hand that is open ``RIM_OPENING``.

    They suit plates: one finger goes under the rim, where a fully open one would hit the table.

    Args:
        asset: The object.
        gripper: Shape of the gripper.
    """
    return _cached(grasp_key(asset, gripper, RIM), partial(_lying, asset, gripper, RIM))


def ring_grasps_for(asset: ObjectAsset, gripper: GripperShape) -> NDArray[np.float32]:
    """Return grasp rows (n, 17) of a lying ring, with one finger in its hole, for a hand that is open ``RING_OPENING``.

    Args:
        asset: The object.
        gripper: Shape of the gripper.
    """
    return _cached(grasp_key(asset, gripper, RINGS), partial(_lying, asset, gripper, RINGS))


def suction_grasps_for(asset: ObjectAsset, radius: float) -> NDArray[np.float32]:
    """Return grasp rows (n, 17) of the flat patches of an object on which a suction cup seals.

    Args:
        asset: The object.
        radius: Radius of the cup [m].
    """
    words = ("suction", SUCTION_ALGORITHM, asset.content_hash, round(radius, 6))
    key = hashlib.sha256(repr(words).encode()).hexdigest()
    return _cached(key, partial(suction_rows, asset, radius))


def _floating(
    asset: ObjectAsset, gripper: GripperShape, options: AnnotateOptions, rng: np.random.Generator
) -> NDArray[np.float32]:
    return annotate(asset, gripper, options, rng).rows


def _lying(
    asset: ObjectAsset, gripper: GripperShape, options: AnnotateOptions, rng: np.random.Generator
) -> NDArray[np.float32]:
    poses = range(min(REST_POSES, len(asset.rest_poses.quats)))
    sets = [annotate(asset, gripper, options, rng, ground=Ground.under(asset, pose)).rows for pose in poses]
    return np.concatenate(sets)


def _cached(key: str, make: Callable[[np.random.Generator], NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return the rows of a key from the cache, or compute and cache them."""
    file = cache_file(key)
    if file.is_file():
        try:
            return read_grasps(file)
        except HandloomError:
            # A damaged cache file is not an error: the rows can be computed again.
            file.unlink(missing_ok=True)
    rows = make(np.random.default_rng(int(key[:16], 16)))
    write_grasps(file, rows)
    return rows


def grasp_key(asset: ObjectAsset, gripper: GripperShape, options: AnnotateOptions) -> str:
    """Return the hash of all inputs on which the rows depend."""
    settings = [item for item in sorted(asdict(options).items()) if item[1] is not None]
    words = (ALGORITHM, asset.content_hash, gripper.content_hash, settings)
    return hashlib.sha256(repr(words).encode()).hexdigest()


def cache_file(key: str) -> Path:
    """Return the cache file of a key."""
    return user_cache() / "grasps" / f"{key[:32]}.npy"
