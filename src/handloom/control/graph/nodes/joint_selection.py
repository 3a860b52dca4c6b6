"""Which joints a node speaks of: names win over indices, neither means all."""

from collections.abc import Mapping
from typing import Any

from handloom.articulation import SingleArticulation
from handloom.errors import InputError, unknown_name


def selected_joints(robot: SingleArticulation, given: Mapping[str, Any]) -> tuple[int, ...] | None:
    """Return the joints chosen by ``jointNames`` or ``jointIndices``; None when neither is given.

    Raises:
        InputError: An index outside the robot, or a joint twice.
        NotFoundError: A joint name that does not exist.
    """
    names, indices = given["jointNames"], given["jointIndices"]
    if not names and not indices:
        return None
    for name in names:
        if name not in robot.dof_names:
            raise unknown_name(f"joint of {robot.name!r}", name, robot.dof_names)
    joints = tuple(robot.dof_names.index(name) for name in names) if names else tuple(indices)
    outside = [joint for joint in joints if not 0 <= joint < robot.num_dof]
    if outside:
        raise InputError(f"jointIndices {outside} lie outside 0 ... {robot.num_dof - 1} of {robot.name!r}")
    if len(set(joints)) != len(joints):
        raise InputError(f"a joint of {robot.name!r} is selected twice: {list(names or indices)}")
    return joints
