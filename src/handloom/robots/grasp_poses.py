"""From grasp annotations to end-effector poses of one arm."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handloom.arrays import Array
from handloom.errors import InputError, unknown_name
from handloom.robots.arm import Arm
from handloom.robots.cubic_curve import CubicCurve
from handloom.robots.robot_config import Axis, ExtraDepth

# Half a turn about each end-effector axis: a gripper with two equal fingers grasps the same way after it.
HALF_TURNS: dict[Axis, Array] = {
    "x": np.diag([1.0, -1.0, -1.0]),
    "y": np.diag([-1.0, 1.0, -1.0]),
    "z": np.diag([-1.0, -1.0, 1.0]),
}
OBJECT_AXES = {"x": 0, "y": 1, "z": 2}
ROW_LENGTHS = (16, 17)


def tool_poses_of_grasps(
    arm: Arm,
    grasps: ArrayLike,
    *,
    grasp_scale: float = 1.0,
    tcp_offset: float | None = None,
    constraints: Sequence[object] | None = None,
) -> tuple[Array, Array]:
    """Convert grasp annotations to end-effector poses, each also turned half a turn about the approach axis.

    With R the annotated rotation, t its position, d its depth and a the approach axis of the end effector:
    ``R_object_tool = R R_ee_graspnet^T``, ``p = grasp_scale t + R_object_tool a (d + f(w) - tcp_offset)``, where f is
    the arm's extra depth at the clipped width w (zero for fingers that move straight).

    Args:
        arm: The arm.
        grasps: Rows (n, 16 or 17): score, width, height, depth [m], rotation (9, row by row, GraspNet axes), position
            (3) [m], and optionally an object id, which is not used.
        grasp_scale: Multiplies positions, not depths; the scale of the object.
        tcp_offset: Replaces the arm's own [m].
        constraints: ``[axis, low, high]``: keep grasps whose position along that object axis ("x", "y", "z") lies
            between these shares (0 to 1) of the range all grasps span.

    Returns:
        Poses T_object_tool (2 m, 4, 4), the m kept grasps first and then their turned copies, and scores (2 m,).

    Raises:
        InputError: Wrong shape, no row, a value that is not finite, or constraints that keep nothing.
    """
    rows = _checked_rows(grasps)
    offset = arm.tcp_offset if tcp_offset is None else float(tcp_offset)
    if not (np.isfinite(offset) and np.isfinite(grasp_scale)):
        raise InputError(f"tcp_offset and grasp_scale must be finite, got {offset} and {grasp_scale}")
    T_obj_tcp = np.tile(np.eye(4), (len(rows), 1, 1))
    T_obj_tcp[:, :3, :3] = rows[:, 4:13].reshape(-1, 3, 3) @ arm.R_ee_graspnet.T
    T_obj_tcp[:, :3, 3] = rows[:, 13:16] * grasp_scale
    depths = rows[:, 3] + _extra_depths(arm, rows[:, 1])
    T_object_tool = T_obj_tcp.copy()
    approach = T_obj_tcp[:, :3, :3] @ arm.approach
    T_object_tool[:, :3, 3] += approach * (depths - offset)[:, None]
    keep = _kept(T_obj_tcp[:, :3, 3], constraints)
    T_object_tool, scores = T_object_tool[keep], rows[keep, 0]
    turned = T_object_tool.copy()
    turned[:, :3, :3] = T_object_tool[:, :3, :3] @ HALF_TURNS[arm.ee_axis]
    return np.concatenate([T_object_tool, turned]), np.concatenate([scores, scores])


def clipped_widths(arm: Arm, widths: ArrayLike) -> Array:
    """Return grasp widths clipped to what the gripper can do [m]; a table of extra depths brings its own bounds."""
    low, high = arm.gripper_min_width, arm.gripper_max_width
    if arm.extra_depth is not None:
        low, high = arm.extra_depth.width[1], arm.extra_depth.width[-1]
    return np.clip(np.asarray(widths, float), low, high)


def extra_depth_curve(table: ExtraDepth) -> CubicCurve:
    """Return offset [m] over width [m]; the first entry of the table is not used, as published."""
    return CubicCurve(table.width[1:], table.offset[1:])


def _extra_depths(arm: Arm, widths: Array) -> Array:
    if arm.extra_depth is None:
        return np.zeros(len(widths))
    return extra_depth_curve(arm.extra_depth)(clipped_widths(arm, widths))


def _checked_rows(grasps: ArrayLike) -> Array:
    rows = np.asarray(grasps, dtype=float)
    if rows.ndim != 2 or rows.shape[1] not in ROW_LENGTHS:
        raise InputError(
            f"grasps are rows of 16 or 17 numbers (score, width, height, depth, rotation, position, object id), "
            f"or poses (n, 4, 4); got shape {rows.shape}"
        )
    if len(rows) == 0:
        raise InputError("there is no grasp to convert: the set is empty")
    bad = np.flatnonzero(~np.isfinite(rows[:, :16]).all(axis=1))
    if bad.size:
        raise InputError(f"{bad.size} of {len(rows)} grasps have values that are not finite, the first is row {bad[0]}")
    return rows


def _kept(positions: Array, constraints: Sequence[object] | None) -> NDArray[np.bool_]:
    """Return which positions (n, 3) lie in the window of ``[axis, low, high]``."""
    if constraints is None:
        return np.ones(len(positions), bool)
    if len(constraints) != 3:
        raise InputError(f"constraints are [axis, low, high], got {list(constraints)!r}")
    axis, low, high = constraints
    if axis not in OBJECT_AXES:
        raise unknown_name("object axis (first of constraints)", str(axis), OBJECT_AXES)
    values = positions[:, OBJECT_AXES[str(axis)]]
    start, span = values.min(), np.ptp(values)
    lower, upper = (start + float(share) * span for share in (low, high))  # pyright: ignore[reportArgumentType]
    keep = (values >= lower) & (values <= upper)
    if not keep.any():
        raise InputError(
            f"constraints {list(constraints)!r} keep none of {len(values)} grasps, which lie between "
            f"{start:.4f} and {start + span:.4f} m along {axis}"
        )
    return keep
