"""Lookahead from a grasp: the subsequent places that the arm can reach, and their distance."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from handloom.arrays import Array
from handloom.skills.arms.arm_controller import ArmController

FORESEEN = 8
"""Poses tested per grasp when a pick looks ahead."""
LINES = 3
"""Maximum number of these tested for the straight path down."""


def ways_to_places(
    controller: ArmController,
    places: Sequence[tuple[Array, Array] | None],
    q: Array,
    ignore: Sequence[str],
    *,
    count: int = FORESEEN,
) -> Array:
    """Return the joint motion to the nearest place, per grasp (n,) [rad]; infinite if there is none.

    Args:
        controller: The arm.
        places: For each grasp, poses of the hand before and at the places (m, 4, 4); None if there are none.
        q: Joints at the grasp.
        ignore: Obstacles to ignore.
        count: Poses that are tested per grasp.
    """
    before: list[Array] = []
    at: list[Array] = []
    owner: list[int] = []
    for k, poses in enumerate(places):
        if poses is not None:
            before.extend(poses[0][:count])
            at.extend(poses[1][:count])
            owner += [k] * min(count, len(poses[0]))
    ways = np.full(len(places), np.inf)
    if not owner:
        return ways
    controller.refresh()
    start = controller.planner.free_ik(np.array(before), q, ignore=ignore)
    far = np.where(start.free, np.linalg.norm(start.q - q, axis=1), np.inf)
    lines = Counter[int]()
    for i in np.argsort(far, kind="stable").tolist():
        k = owner[i]
        if not np.isfinite(far[i]) or far[i] >= ways[k] or lines[k] == LINES:
            continue
        lines[k] += 1
        if controller.planner.plan_straight(start.q[i], at[i], ignore=ignore).ok:
            ways[k] = far[i]
    return ways
