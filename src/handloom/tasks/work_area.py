"""Reach of an arm's hand from above or from the side, by inverse kinematics and free of collisions."""

from collections.abc import Sequence
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.motion.planning import Move
from handloom.skills.arms.arm_controller import ArmController
from handloom.skills.arms.arm_motion import POSE
from handloom.spatial import invert_pose, make_pose, translation

YAWS = 6
"""Rotations of the hand about its approach that are tried at each point."""
TILTS = {"down": (0.0, 30.0, -30.0), "side": (0.0, 30.0, -30.0), "slanted": (0.0, 35.0, 65.0)}
"""Tilts of a hand away from the arm's base and towards it that are tried at each point [deg]."""
FINER = {"down": (0.0, 15.0, -15.0, 30.0), "side": (0.0, 30.0, -30.0), "slanted": (0.0, 20.0, 40.0, 60.0, -20.0)}
"""The same if they are tried in turn [deg]."""
CONFIGURATIONS, VOXEL = 100_000, 0.05
"""Random configurations of an arm that show where its fingertips can be at all, to within this distance [m]."""
STEP = 0.02
"""Distance between tested points of a ray [m]."""
FURTHEST = 1.3
"""End of a ray [m]; no arm of the zoo reaches further."""

Approach = Literal["down", "side", "slanted"]


def reached_points(controller: ArmController, points: Array, approach: Approach) -> NDArray[np.bool_]:
    """Return which points (n,) a hand's fingertips can reach without collision.

    Args:
        controller: The arm in its scene.
        points: Points (n, 3) in the world [m].
        approach: ``down``: the hand points down, to within 30 degrees. ``side``: it points away from the arm's base, to
            within 30 degrees of level. ``slanted``: down, or away from the base by up to 65 degrees, as short picks do.
    """
    return _reached(controller, points, approach, TILTS[approach])


def reached_stepwise(controller: ArmController, points: Array, approach: Approach) -> NDArray[np.bool_]:
    """Return the result of ``reached_points`` with more tilts and rotations of the hand, tried until one succeeds.

    Points far from the fingertips in all random configurations of the arm are not tried at all.
    """
    reached, left = np.zeros(len(points), bool), _possible(controller, points)
    for tilt, turned in product(FINER[approach], (0.0, np.pi / YAWS)):
        if left.any():
            reached[left] = _reached(controller, points[left], approach, (tilt,), turned)
            left &= ~reached
    return reached


def furthest(controller: ArmController) -> float:
    """Return the reach of an arm's fingertips from its base [m]."""
    return float(np.linalg.norm(_tips(controller), axis=1).max())


def _tips(controller: ArmController) -> Array:
    """Return the fingertip positions (n, 3) in random configurations of an arm, in its base [m]."""
    chain = controller.chain
    q = np.random.default_rng(0).uniform(*chain.sampling_box, (CONFIGURATIONS, chain.dof))
    return (chain.T_base_tool(q, threads=1) @ controller.arm.spec.T_tool_tcp)[:, :3, 3]


def _possible(controller: ArmController, points: Array) -> NDArray[np.bool_]:
    """Return which points (n,) are near the fingertips in some random configuration of an arm."""
    T_world_base = controller.arm.T_world_base
    tips = _tips(controller) @ T_world_base[:3, :3].T + T_world_base[:3, 3]
    cells = {tuple(cell) for cell in np.unique(np.floor(tips / VOXEL).astype(int), axis=0).tolist()}
    around = np.stack(np.meshgrid(*[[-1, 0, 1]] * 3), axis=-1).reshape(-1, 3)
    near = np.floor(points / VOXEL).astype(int)[:, None] + around
    return np.array([any(tuple(cell) in cells for cell in cells_here) for cells_here in near.tolist()], bool)


def _reached(
    controller: ArmController, points: Array, approach: Approach, tilts: Sequence[float], turned: float = 0.0
) -> NDArray[np.bool_]:
    arm = controller.arm
    T_base_world = invert_pose(arm.T_world_base)
    R = np.array(
        [
            _orientations(point - arm.T_world_base[:3, 3], approach, arm.spec.R_ee_graspnet, tilts, turned)
            for point in points
        ]
    )
    T_world_tcp = make_pose(R.reshape(-1, 3, 3), np.repeat(points, R.shape[1], axis=0))
    tcp = arm.spec.T_tool_tcp[:3, 3]
    T_base_tool, taken = T_base_world @ T_world_tcp @ translation(-tcp), np.ones(len(T_world_tcp), bool)
    if controller.chain.dof < POSE:
        T_base_tool, taken = controller.attainable(T_base_tool, point_tool=tcp, axis_tool=arm.spec.approach)
    if taken.any():
        taken[taken] = controller.reachable(Move(T_base_tool=T_base_tool[taken])).free
    return np.any(taken.reshape(len(points), -1), axis=1)


def reached_band(controller: ArmController, towards: Array, height: float, approach: Approach) -> tuple[float, float]:
    """Return the nearest and farthest reach of an arm from its base in a horizontal direction [m]; zeros if none.

    Args:
        controller: The arm in its scene.
        towards: Horizontal direction (2,) in the world.
        height: Height of the fingertips in the world [m].
        approach: How the hand comes.
    """
    base = controller.arm.T_world_base[:3, 3]
    distances = np.arange(STEP, FURTHEST, STEP)
    points = np.full((len(distances), 3), height)
    points[:, :2] = base[:2] + distances[:, None] * np.asarray(towards) / np.linalg.norm(towards)
    free = distances[reached_points(controller, points, approach)]
    return (float(free.min()), float(free.max())) if len(free) else (0.0, 0.0)


def _orientations(
    offset: Array, approach: Approach, R_ee_graspnet: Array, tilts: Sequence[float], turned: float
) -> Array:
    """Return hand orientations (n, 3, 3) in the world around an approach direction, with turns about each."""
    far = float(np.hypot(offset[0], offset[1]))
    away = np.array([offset[0], offset[1], 0.0]) / far if far > 1e-9 else np.array([1.0, 0.0, 0.0])
    down = np.array([0.0, 0.0, -1.0])
    first, second = (away, down) if approach == "side" else (down, away)
    side = np.cross(first, second)
    frames = []
    for tilt in np.deg2rad(tilts):
        x = np.cos(tilt) * first + np.sin(tilt) * second
        for turn in turned + np.arange(YAWS) * (2.0 * np.pi / YAWS):
            y = np.cos(turn) * side + np.sin(turn) * np.cross(x, side)
            frames.append(np.stack([x, y, np.cross(x, y)], axis=-1) @ R_ee_graspnet.T)
    return np.array(frames)
