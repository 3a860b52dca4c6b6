"""Paths for one arm: to a pose by the joints, or along a straight line."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handloom.motion.kinematics import Chain, IkOptions, IkSolver
from handloom.scene import SceneArm
from handloom.spatial import pos_quat_from_pose, pose_error, pose_from_pos_quat, quat_slerp

Array = NDArray[np.float64]

LINE_STEP = 0.01
"""Distance between way points on a straight line [m]."""
LINE_TURN = 0.05
"""Turn between way points on a straight line [rad]."""
JUMP = 0.3
"""A joint that moves further than this between two way points has changed its branch [rad]."""


@dataclass(frozen=True, eq=False)
class PathResult:
    """A joint path, or the reason why there is none."""

    path: Array | None
    """Way points (k, n) [rad]."""
    reason: str = ""
    detail: str = ""


class ArmPlanner:
    """Plans for one arm of a scene."""

    def __init__(self, arm: SceneArm) -> None:
        self.chain = Chain.from_model(
            arm.world.model, tip=arm.ee_body, base=arm.base_body, joints=arm.joint_names, qpos=arm.world.data.qpos
        )
        # One thread: an engine worker has one core, and the answer does not depend on it.
        self.solver = IkSolver(self.chain, IkOptions(position_tolerance=2e-4, rotation_tolerance=2e-3, threads=1))

    def reachable(self, T_base_ee: Array, seed: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Return joints (n, dof) [rad] for poses (n, 4, 4), and which of them reach."""
        result = self.solver.solve(T_base_ee, seed=seed)
        return result.q, result.solved

    def to_pose(self, start: Array, T_base_ee: Array) -> PathResult:
        """Return a straight joint path from ``start`` (dof,) to a pose."""
        q, solved = self.reachable(T_base_ee[None], start)
        if not solved[0]:
            return PathResult(None, "pose_unreachable", self._unreachable(T_base_ee))
        return PathResult(np.linspace(start, q[0], 32))

    def along_line(self, start: Array, T_base_ee: Array) -> PathResult:
        """Return the joint path that moves the hand on a straight line from where ``start`` puts it."""
        T_start = self.chain.T_base_tip(start)
        distance, angle = pose_error(T_start, T_base_ee)
        count = int(np.ceil(max(distance / LINE_STEP, angle / LINE_TURN, 1.0)))
        p0, q0 = pos_quat_from_pose(T_start)
        p1, q1 = pos_quat_from_pose(T_base_ee)
        path = [start]
        for fraction in np.arange(1, count + 1) / count:
            pose = pose_from_pos_quat(p0 + fraction * (p1 - p0), quat_slerp(q0, q1, fraction))
            result = self.solver.solve(pose, seed=path[-1])
            if not result.solved[0]:
                return PathResult(None, "line_unreachable", f"{fraction:.0%} of the way, {self._unreachable(pose)}")
            jump = np.abs(result.q[0] - path[-1]).max()
            if jump > JUMP:
                return PathResult(None, "line_jumps", f"{fraction:.0%} of the way a joint would jump {jump:.2f} rad")
            path.append(result.q[0])
        return PathResult(np.array(path))

    def _unreachable(self, T_base_ee: Array) -> str:
        x, y, z = T_base_ee[:3, 3]
        return f"no joint position brings the hand to ({x:.3f}, {y:.3f}, {z:.3f}) m in the arm base"
