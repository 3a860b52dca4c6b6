"""Flat pads on a single jaw and on the hand against which it closes, where the two face each other."""

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.robots.proposal.arm_chains import ArmChain
from handloom.robots.proposal.gripper_guess import GripperGuess, branches, settled
from handloom.spatial import quat_from_matrix

PAD_NAMES = ("hand_pad", "jaw_pad")
# Range of the rays that look for the jaws: to both sides of the tool centre, behind it and in front of it [m].
HALF_WIDTH, BEHIND, BEFORE = 0.012, 0.012, 0.014
# Spacing of the rays [m].
SPACING = 0.002
# Offsets from the tool centre at which rays may start, along the closing direction of the jaw [m].
SHIFTS = (0.0, 0.01, -0.01, 0.02, -0.02, 0.03)
# Smallest useful pad size [m].
SMALLEST = 0.006
HALF_THICKNESS = 0.0015
# Distance that pads stand out, so that they touch an object before the jaws do [m].
PROUD = 0.001
# Opening of the gripper while pads are fitted, as a fraction of its range: around an object of medium width.
OPEN_SHARE = 0.4
# The inner face of the hand defines the closing direction of the jaw, unless it is more oblique than this.
FACING = np.cos(np.radians(40.0))


def add_jaw_pads(
    spec: mujoco.MjSpec, model: mujoco.MjModel, arm: ArmChain, guess: GripperGuess, prefix: str, notes: list[str]
) -> tuple[str, str] | None:
    """Put a thin box on each jaw of a gripper with one moving jaw; return their names, None if there is no room.

    Such jaws are curved, and so are the pieces of their meshes: an object between two of those is held by edges and
    slips out. Rays across the opening find both jaws; the boxes lie just in front of the most protruding points,
    parallel to each other around a medium-sized object.
    """
    shut, wide = np.array(guess.closed_targets), np.array(guess.open_targets)
    data = settled(model, guess.drives, shut + OPEN_SHARE * (wide - shut))
    hand = data.body(arm.hand_body)
    R_world_hand = hand.xmat.reshape(3, 3)
    R = R_world_hand @ guess.T_hand_tool[:3, :3]  # y from the hand to the jaw, z to the tips
    center = hand.xpos + R_world_hand @ guess.T_hand_tool[:3, 3] + R[:, 2] * guess.tcp_offset
    (moving,), palm = branches(model, arm)
    sides = [{int(model.geom_bodyid[g]) for g in geoms} for geoms in (palm, moving)]
    R = _squared(model, data, sides[0], center, R)
    # The gap between the jaws is not exactly at the middles of the pieces of their meshes.
    centers = [center + shift * R[:, 1] for shift in SHIFTS]
    found = [_opposite(model, data, sides, start, R) for start in centers]
    best = max(range(len(found)), key=lambda k: len(found[k][0]))
    center, (points, to_hand, to_jaw) = centers[best], found[best]
    size = np.ptp(points, axis=0) if len(points) else np.zeros(2)
    if size.min() < SMALLEST:
        notes.append(
            f"{arm.hand_body} and its jaw do not face each other anywhere; put a thin box on each, see fl_pad_geoms"
        )
        return None
    x, z = points.min(axis=0) + size / 2
    names = (f"{prefix}{PAD_NAMES[0]}", f"{prefix}{PAD_NAMES[1]}")
    bodies = (model.body(arm.hand_body).id, int(model.geom_bodyid[guess.pad_geoms[1]]))
    # The face of a pad is slightly in front of the most protruding point of its jaw, its back inside the jaw.
    inner = [distance.min() - PROUD + HALF_THICKNESS for distance in (to_hand, to_jaw)]
    for name, body, y in zip(names, bodies, (-inner[0], inner[1]), strict=True):
        R_body = data.xmat[body].reshape(3, 3)
        spec.body(model.body(body).name).add_geom(
            name=name,
            type=mujoco.mjtGeom.mjGEOM_BOX,
            size=[size[0] / 2, HALF_THICKNESS, size[1] / 2],
            pos=R_body.T @ (center + R @ [x, y, z] - data.xpos[body]),
            quat=quat_from_matrix(R_body.T @ R),
            mass=0.0,
            group=3,
        )
    millimetres = " x ".join(f"{1000 * side:.0f}" for side in size)
    notes.append(f"flat pads of {millimetres} mm were put on {arm.hand_body} and its jaw, which are curved")
    return names


def _squared(model: mujoco.MjModel, data: mujoco.MjData, palm: set[int], center: Array, R: Array) -> Array:
    """Return the tool axes turned so that y is across the hand's inner face."""
    grid = _grid()
    distance = _distances(model, data, center + grid @ R.T, -R[:, 1], palm)
    seen = np.isfinite(distance)
    if seen.sum() < 4:
        return R
    hits = grid[seen] @ R.T - distance[seen, None] * R[:, 1]
    normal = np.linalg.svd(hits - hits.mean(axis=0))[2][2]
    normal = normal * np.sign(normal @ R[:, 1])
    normal -= R[:, 0] * (R[:, 0] @ normal)  # The axis of the jaw is x.
    normal /= max(float(np.linalg.norm(normal)), 1e-9)
    if normal @ R[:, 1] < FACING:
        return R
    approach = R[:, 2] - normal * (normal @ R[:, 2])
    approach /= np.linalg.norm(approach)
    return np.column_stack([np.cross(normal, approach), normal, approach])


def _opposite(
    model: mujoco.MjModel, data: mujoco.MjData, sides: list[set[int]], center: Array, R: Array
) -> tuple[Array, Array, Array]:
    """Return points (n, 2) along x and z [m] between both jaws, and their distances from the hand and the jaw (n,)."""
    grid = _grid()
    start = center + grid @ R.T
    to_hand = _distances(model, data, start, -R[:, 1], sides[0])
    to_jaw = _distances(model, data, start, R[:, 1], sides[1])
    both = np.isfinite(to_hand) & np.isfinite(to_jaw)
    return grid[both][:, [0, 2]], to_hand[both], to_jaw[both]


def _grid() -> Array:
    """Return points (n, 3) around the tool centre in the plane between the jaws [m]."""
    x, z = np.arange(-HALF_WIDTH, HALF_WIDTH + 1e-9, SPACING), np.arange(-BEHIND, BEFORE + 1e-9, SPACING)
    return np.array([(a, 0.0, b) for a in x for b in z])


def _distances(model: mujoco.MjModel, data: mujoco.MjData, start: Array, direction: Array, bodies: set[int]) -> Array:
    """Return distances to the given bodies along rays (n,) [m]; infinite if another body is hit first, or none."""
    found, hit = np.full(len(start), np.inf), np.zeros(1, dtype=np.int32)
    for k, point in enumerate(start):
        distance = mujoco.mj_ray(model, data, point, direction, None, 1, -1, hit)
        if hit[0] >= 0 and int(model.geom_bodyid[hit[0]]) in bodies:
            found[k] = distance
    return found
