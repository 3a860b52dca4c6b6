"""A segment of a demonstrated path, transferred to its object's current pose."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.episode.actions import nearest_joints
from handloom.episode.demonstration import HandWay, WaySegment, tcp_chain
from handloom.motion.clearance import Clearance
from handloom.objects.symmetry import ANGLES
from handloom.scene import Scene, SceneArm
from handloom.skills.arms.arm_controller import motion_limits
from handloom.skills.arms.arm_motion import POSE
from handloom.spatial import (
    invert_pose,
    make_pose,
    matrix_from_quat,
    matrix_from_rotvec,
    pose_error,
    quat_from_matrix,
    quat_slerp,
)

APPROACH = 0.06
"""Length of the path before a contact that is transferred unchanged [m]; the bridge ends at its start."""
LEAST_ROWS = 12
"""Minimum number of rows of a bridge; if the demonstration has fewer, its clock pauses."""
LIFTS = (0.0, 0.06, 0.12)
"""Heights by which the middle of a bridge is raised [m], tried in this order until it is collision-free."""
NEAR = {True: (0.003, 0.03), False: (0.006, 0.4)}
"""Tolerance of the hand near its object [m], [rad]: for arms that can reach any pose, and for others."""
FREE = (0.04, 0.5)
"""Tolerance on a bridge [m], [rad]."""
CALM = 4
"""Rows over which a slowdown is smoothed on either side."""
STRIDE = 2
"""Interval of the knots of a bridge that are tested for collisions."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TransferredPath:
    """Joint path along a segment, as a function of the row of the demonstration."""

    knots: Array
    """Rows (k,), in order; some lie between two rows of the demonstration if a bridge needs more knots."""
    joints: Array
    """Joints (k, n) at the knots [rad or m]."""
    pace: Array
    """Rows per frame that the arm can follow from each knot (k,), at most 1."""
    X: Array
    """The transfer: T_world_new = X @ T_world_demonstrated (4, 4)."""

    def at(self, row: float) -> Array:
        """Return the joints (n,) at a row."""
        return np.array([np.interp(row, self.knots, column) for column in self.joints.T])

    def pace_at(self, row: float) -> float:
        """Return the number of rows that the next frame may advance."""
        return float(self.pace[min(int(np.searchsorted(self.knots, row, side="right")) - 1, len(self.pace) - 1)])


class WayCarrier:
    """Transfers segments of demonstrated paths for one arm.

    Args:
        scene: The scene in its first state.
        arm: The arm.
    """

    def __init__(self, scene: Scene, arm: SceneArm) -> None:
        self.arm = arm
        self._scene = scene
        self._chain = tcp_chain(scene, arm)
        robot = next(r for r in scene.instance.robots if r.name == arm.robot_name)
        self._clearance = Clearance(scene.world.model, scene.world.data, self._chain, ignore=robot.ignore_obstacles)
        self._step = motion_limits(arm.spec).velocity / scene.instance.fps

    def transform(self, way: HandWay, segment: WaySegment, T_world_object: Array, turns: int, up: Array) -> Array:
        """Return the transform of a segment (4, 4).

        The symmetry of the object that rotates the hand least is used.

        Args:
            way: The demonstrated path.
            segment: The segment.
            T_world_object: Current pose of its object (4, 4).
            turns: Number of equal turns after which the object looks the same.
            up: Axis of these turns in the object (3,).
        """
        if segment.object is None:
            return self.arm.T_world_base @ invert_pose(way.T_world_base)
        R_base = self.arm.T_world_base[:3, :3] @ way.T_world_base[:3, :3].T
        M = T_world_object[:3, :3].T @ R_base @ segment.T_world_object[:3, :3]
        spin = np.array([M[2, 1] - M[1, 2], M[0, 2] - M[2, 0], M[1, 0] - M[0, 1]])
        angle = np.arctan2(up @ spin, np.trace(M) - up @ M @ up)
        if turns < ANGLES:
            angle = np.round(angle * turns / (2.0 * np.pi)) * 2.0 * np.pi / turns
        T_object_turned = make_pose(matrix_from_rotvec(angle * up), np.zeros(3))
        return T_world_object @ T_object_turned @ invert_pose(segment.T_world_object)

    def carried(self, way: HandWay, segment: WaySegment, X: Array, q: Array) -> TransferredPath | str:
        """Return the joints along a segment, or the reason for failure: ``out_of_reach`` or ``bridge_collides``.

        Args:
            way: The demonstrated path.
            segment: The segment.
            X: Its transform (4, 4).
            q: Joints commanded last (n,), from which a bridge leads to it.
        """
        here = self.arm.T_world_base @ self._chain.T_base_tool(q, threads=1)
        X_here = here @ invert_pose(way.T_world_tcp[max(segment.start - 1, 0)])
        knots, rows, share = _knots(way, segment)
        self._clearance.update(self._scene.world.data)
        for lift in LIFTS:
            T = _bridged(way.T_world_tcp[rows], X_here, X, share)
            T[:, 2, 3] += lift * 4.0 * share * (1.0 - share)
            joints = self._joints(T, way.joints[rows], q, share)
            if joints is None and lift == 0.0:
                return "out_of_reach"
            if joints is not None and not self._blocked(joints[share < 1.0]):
                return TransferredPath(knots=knots, joints=joints, pace=self._pace(knots, joints, q, way), X=X)
        return "bridge_collides"

    def _joints(self, T_world_tcp: Array, posture: Array, q: Array, share: Array) -> Array | None:
        """Return joints (k, n) along poses (k, 4, 4); None if the hand would be too far from one of them."""
        T_base_tcp = invert_pose(self.arm.T_world_base) @ T_world_tcp
        found = np.empty_like(posture)
        for k, T in enumerate(T_base_tcp):
            q = found[k] = nearest_joints(self._chain, q, T, posture=posture[k])
        off, turn = pose_error(self._chain.T_base_tool(found, threads=1), T_base_tcp)
        near = NEAR[self._chain.dof >= POSE]
        bridge = share < 1.0
        good = (off < np.where(bridge, FREE[0], near[0])) & (turn < np.where(bridge, FREE[1], near[1]))
        return found if good.all() else None

    def _blocked(self, joints: Array) -> bool:
        return any(not self._clearance.is_free(q) for q in joints[::STRIDE])

    def _pace(self, knots: Array, joints: Array, q: Array, way: HandWay) -> Array:
        """Return rows per frame from each knot (k,): 1, or less where a joint would be too fast."""
        demonstrated = np.abs(np.diff(way.joints, axis=0)).max(axis=0, initial=0.0)
        most = np.maximum(self._step, demonstrated)
        frames = (np.abs(np.diff(joints, axis=0, prepend=q[None])) / most).max(axis=1)
        rows = np.diff(knots, prepend=knots[0] - 1.0)
        slow = np.append((frames / rows)[1:], 1.0)  # Time needed to the next knot.
        slow = np.maximum(slow, 1.0)
        spread = np.lib.stride_tricks.sliding_window_view(np.pad(slow, CALM, mode="edge"), 2 * CALM + 1).max(axis=1)
        return 1.0 / np.lib.stride_tricks.sliding_window_view(np.pad(spread, CALM, mode="edge"), 2 * CALM + 1).mean(
            axis=1
        )


def _knots(way: HandWay, segment: WaySegment) -> tuple[Array, NDArray[np.intp], Array]:
    """Return the knots of a segment (k,), their rows of the demonstration, and their blend factors.

    The factor is 0 at the start, relative to the previous frame of reference, and 1 where the path is relative to the
    object.
    """
    start, stop = segment.start, segment.stop
    rows = np.arange(start, stop)
    before = way.length[min(segment.contact, stop - 1)] - way.length[rows] >= APPROACH
    merge = start + int(np.flatnonzero(before)[-1]) if before.any() else start
    if segment.contact >= stop:  # Without contact, the whole segment may be the bridge.
        merge = stop - 1
    if merge - start >= LEAST_ROWS:
        return rows.astype(float), rows, _eased((rows - start) / (merge - start))
    extra = np.arange(1, LEAST_ROWS) / LEAST_ROWS
    knots = np.concatenate([[start], start + extra, rows[1:]])
    share = np.concatenate([[0.0], _eased(extra), np.ones(len(rows) - 1)])
    return knots, np.concatenate([np.full(LEAST_ROWS, start), rows[1:]]), share


def _eased(x: Array) -> Array:
    """Return a blend factor that starts and ends at rest, without a jump in acceleration."""
    x = np.clip(x, 0.0, 1.0)
    return x**3 * (10.0 - 15.0 * x + 6.0 * x**2)


def _bridged(T: Array, X_from: Array, X_to: Array, share: Array) -> Array:
    """Return poses (k, 4, 4) that lead from one transferred path to another."""
    a, b = X_from @ T, X_to @ T
    quats = quat_slerp(quat_from_matrix(a[:, :3, :3]), quat_from_matrix(b[:, :3, :3]), share)
    s = share[:, None]
    return make_pose(matrix_from_quat(quats), (1.0 - s) * a[:, :3, 3] + s * b[:, :3, 3])
