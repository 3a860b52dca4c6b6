"""Conversion of grasp annotations to end-effector poses of an arm."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handloom.arrays import Array
from handloom.errors import InputError, unknown_name
from handloom.robots.robot_config import Axis, ExtraDepth
from handloom.robots.robot_description import Arm

# Half a turn about each end-effector axis: a gripper with two equal fingers then grasps identically.
HALF_TURNS: dict[Axis, Array] = {
    "x": np.diag([1.0, -1.0, -1.0]),
    "y": np.diag([-1.0, 1.0, -1.0]),
    "z": np.diag([-1.0, -1.0, 1.0]),
}
OBJECT_AXES = {"x": 0, "y": 1, "z": 2}
ROW_LENGTHS = (16, 17)


class CubicCurve:
    """The cubic spline through points (x_i, y_i), with continuous third derivative at the second and last but one.

    Those end conditions ("not a knot") are the usual default of spline libraries, so the curves agree. The
    unknowns are the second derivatives m_i; with h_i = x_{i+1} - x_i, continuity of the slope requires

        h_{i-1} m_{i-1} + 2 (h_{i-1} + h_i) m_i + h_i m_{i+1} = 6 ((y_{i+1} - y_i) / h_i - (y_i - y_{i-1}) / h_{i-1}).

    Args:
        x: At least four ascending abscissae (n,).
        y: Ordinates (n,).
    """

    def __init__(self, x: ArrayLike, y: ArrayLike) -> None:
        self.x, self.y = np.array(x, float), np.array(y, float)
        if self.x.ndim != 1 or self.x.shape != self.y.shape or len(self.x) < 4:
            raise InputError(f"a cubic curve needs four or more points, got shapes {self.x.shape} and {self.y.shape}")
        if not (np.all(np.diff(self.x) > 0) and np.all(np.isfinite(self.y))):
            raise InputError("a cubic curve needs ascending abscissae and finite ordinates")
        self._curvature = self._second_derivatives()

    def _second_derivatives(self) -> Array:
        n, h = len(self.x), np.diff(self.x)
        slope = np.diff(self.y) / h
        A, b = np.zeros((n, n)), np.zeros(n)
        for i in range(1, n - 1):
            A[i, i - 1 : i + 2] = h[i - 1], 2 * (h[i - 1] + h[i]), h[i]
            b[i] = 6 * (slope[i] - slope[i - 1])
        A[0, :3] = h[1], -(h[0] + h[1]), h[0]
        A[-1, -3:] = h[-1], -(h[-2] + h[-1]), h[-2]
        return np.linalg.solve(A, b).astype(np.float64)

    def __call__(self, x: ArrayLike) -> Array:
        """Return ordinates at abscissae of any shape, all inside the given points."""
        at = np.asarray(x, float)
        if np.any(at < self.x[0]) or np.any(at > self.x[-1]):
            raise InputError(f"the curve is defined from {self.x[0]:g} to {self.x[-1]:g}, got {at.min():g}")
        i = np.clip(np.searchsorted(self.x, at, side="right") - 1, 0, len(self.x) - 2)
        h = self.x[i + 1] - self.x[i]
        left, right = (self.x[i + 1] - at) / h, (at - self.x[i]) / h
        bend = (left**3 - left) * self._curvature[i] + (right**3 - right) * self._curvature[i + 1]
        return left * self.y[i] + right * self.y[i + 1] + bend * h**2 / 6


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
            between these fractions (0 to 1) of the range of all grasps.

    Returns:
        Poses T_object_tool (2 m, 4, 4), the m kept grasps first and then their turned copies, and scores (2 m,).

    Raises:
        InputError: Wrong shape, no row, a value that is not finite, or constraints that keep no grasp.
    """
    rows = constrained_rows(_checked_rows(grasps), constraints)
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
    turned = T_object_tool.copy()
    turned[:, :3, :3] = T_object_tool[:, :3, :3] @ HALF_TURNS[arm.ee_axis]
    return np.concatenate([T_object_tool, turned]), np.concatenate([rows[:, 0], rows[:, 0]])


def constrained_rows(rows: NDArray[Any], constraints: Sequence[object] | None) -> NDArray[Any]:
    """Return the rows (n, 16 or 17) with positions within ``[axis, low, high]``; None keeps all.

    Raises:
        InputError: The limits are swapped or leave no grasps.
    """
    if constraints is None:
        return rows
    if len(constraints) != 3:
        raise InputError(f"constraints are [axis, low, high], got {list(constraints)!r}")
    axis, low, high = constraints
    if axis not in OBJECT_AXES:
        raise unknown_name("object axis (first of constraints)", str(axis), OBJECT_AXES)
    values = rows[:, 13 + OBJECT_AXES[str(axis)]].astype(float)
    start, span = values.min(), np.ptp(values)
    lower, upper = (start + float(share) * span for share in (low, high))  # pyright: ignore[reportArgumentType]
    keep = (values >= lower) & (values <= upper)
    if not keep.any():
        raise InputError(
            f"constraints {list(constraints)!r} keep none of {len(values)} grasps, which lie between "
            f"{start:.4f} and {start + span:.4f} m along {axis}"
        )
    return rows[keep]


def clipped_widths(arm: Arm, widths: ArrayLike) -> Array:
    """Return grasp widths clipped to the range of the gripper [m]; a table of extra depths has its own limits."""
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
        raise InputError("no grasps to convert: the set is empty")
    bad = np.flatnonzero(~np.isfinite(rows[:, :16]).all(axis=1))
    if bad.size:
        raise InputError(f"{bad.size} of {len(rows)} grasps have values that are not finite, the first is row {bad[0]}")
    return rows
