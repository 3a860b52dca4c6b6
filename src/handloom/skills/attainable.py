"""Poses that an arm with too few joints for every pose can take."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handloom.motion.kinematics import Chain, IkOptions, IkSolver, Orientation

Array = NDArray[np.float64]

POSE = 6
"""Joints an arm needs to take any pose in its reach."""
SEEDS = 8
"""Starting points per pose: most candidates are out of reach, and the others are found from the first few."""


def attainable(
    chain: Chain,
    T_base_ee: Array,
    *,
    point_ee: ArrayLike,
    axis_ee: ArrayLike,
    seed: Array,
    angle: float = IkOptions.rotation_tolerance,
) -> tuple[Array, NDArray[np.bool_]]:
    """Return hand poses (n, 4, 4) that the arm can take, and which of them were found (n,).

    An arm of six or more joints can take any pose, so these come back as they are. One of five keeps a point of the
    hand where it is and an axis through that point as it points, and gives up the turn about the axis: fingers that
    close on two faces may come from another side, and a cube may be put down at another yaw.

    Args:
        chain: The arm, from its base to the end-effector frame.
        T_base_ee: Wanted poses (n, 4, 4).
        point_ee: Point in the hand that stays (3,) [m].
        axis_ee: Axis in the hand whose direction stays (3,).
        seed: Configuration to start from (dof,).
        angle: Largest turn of the axis [rad].
    """
    if chain.dof >= POSE or len(T_base_ee) == 0:
        return T_base_ee, np.ones(len(T_base_ee), bool)
    x, y, z = np.asarray(axis_ee, float).tolist()
    options = IkOptions(
        orientation=Orientation.AXIS, tool_axis=(x, y, z), rotation_tolerance=angle, max_seeds=SEEDS, threads=1
    )
    T_base_point = T_base_ee.copy()
    T_base_point[:, :3, 3] += T_base_ee[:, :3, :3] @ np.asarray(point_ee, float)
    found = IkSolver(_moved_tip(chain, point_ee), options).solve(T_base_point, seed=seed)
    return chain.T_base_tip(found.q), found.solved


def _moved_tip(chain: Chain, point: ArrayLike) -> Chain:
    """Return the chain with its tip at a point (3,) of the old tip frame [m]."""
    arrays = chain.arrays
    positions = arrays.positions.copy()
    positions[-1] += arrays.rotations[-1] @ np.asarray(point, float)
    return replace(chain, arrays=arrays._replace(positions=positions))
