"""Actions of a policy: joint targets, tool poses or tool deltas, converted to actuator targets."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from handloom.arrays import Array
from handloom.dataset.robot_columns import POSE_NAMES, TWIST_NAMES
from handloom.errors import InputError, unknown_name
from handloom.motion.kinematics import Chain
from handloom.scene import Scene, SceneArm
from handloom.spatial import make_pose, matrix_from_quat, matrix_from_rotvec, quat_normalize, rotvec_from_matrix

DELTA_NAMES = ("dx", "dy", "dz", "rx", "ry", "rz")
ITERATIONS = 20
"""Maximum number of steps of the inverse kinematics per command; the small moves of policies need 3 to 6."""
DAMPING = 0.02
"""Damping of the least squares: near a singularity joints stay slow and the tool lags behind [m or rad]."""
GAP = (1e-5, 1e-4)
"""Tolerance at which the tool counts as arrived [m], [rad]."""
PULL = 0.1
"""Fraction of the distance to a wanted posture that redundant joints move per step."""
MARGIN = 0.01
"""Distance that commands keep from joint limits [rad]."""


class Actions:
    """Turns the actions of a policy into actuator targets, for all arms of a scene.

    Kinds: ``joint``, the dataset's ``action`` (joint targets [rad] and opening 0 to 1 of every arm); ``tool_pose``,
    the end effector in the arm's base (x y z [m], quaternion wxyz) and opening; ``tool_delta``, a step of the
    commanded end effector in its own frame (translation [m], rotation vector [rad]) and opening; ``controls``, the
    actuator targets themselves, NaN keeps the present one. All but the last kind end with the velocity of every
    drivable base, in its own frame (forward and left [m/s], yaw rate [rad/s]).

    Args:
        scene: The scene; it is not changed.
        kind: A key of ``KINDS``.
    """

    def __init__(self, scene: Scene, kind: str = "joint") -> None:
        if kind not in KINDS:
            raise unknown_name("kind of action", kind, KINDS)
        self.kind = kind
        self._scene = scene
        several = len(scene.robots) > 1
        self._arms = [
            (f"{name}." * several + f"{arm.name}_" * (len(robot.arms) > 1), arm)
            for name, robot in scene.robots.items()
            for arm in robot.arms
        ]
        self._bases = [
            (f"{name}." * several, robot.base) for name, robot in scene.robots.items() if robot.base is not None
        ]
        self._chains = [arm.chain() for _, arm in self._arms] if kind.startswith("tool") else []
        self._goals: list[Array | None] = [None] * len(self._arms)
        """Accumulated pose of each tool (4, 4); None before the first step."""

    @property
    def names(self) -> tuple[str, ...]:
        """Name of each entry of an action."""
        if self.kind == "controls":
            model = self._scene.world.model
            return tuple(model.actuator(k).name for k in range(model.nu))
        arms = [f"{prefix}{name}" for prefix, arm in self._arms for name in (*KINDS[self.kind](arm), "gripper")]
        return (*arms, *(f"{prefix}{name}" for prefix, _ in self._bases for name in TWIST_NAMES))

    def bounds(self) -> tuple[Array, Array]:
        """Return the smallest and largest sensible values (n,), (n,)."""
        if self.kind == "controls":
            model = self._scene.world.model
            limited = model.actuator_ctrllimited.astype(bool)
            low, high = model.actuator_ctrlrange.T
            return np.where(limited, low, -np.inf), np.where(limited, high, np.inf)
        low, high = [], []
        for _, arm in self._arms:
            lower, upper = self._arm_bounds(arm)
            low += [*lower, 0.0]
            high += [*upper, 1.0]
        for _, base in self._bases:
            most = [base.drive.max_linear_speed] * 2 + [base.drive.max_angular_speed]
            low += [-speed for speed in most]
            high += most
        return np.array(low), np.array(high)

    def targets(self, action: Sequence[float] | Array) -> Array:
        """Return actuator targets (controls,) [m or rad], NaN where there is no command."""
        values = np.asarray(action, float)
        if values.shape != (len(self.names),):
            raise InputError(f"an action of kind {self.kind} has {len(self.names)} values, got shape {values.shape}")
        if self.kind == "controls":
            return values
        if not np.isfinite(values).all():
            raise InputError(f"an action has values that are not finite: {values}")
        targets = np.full(self._scene.world.model.nu, np.nan)
        twists = len(TWIST_NAMES) * len(self._bases)
        width = (len(values) - twists) // len(self._arms) if self.kind != "joint" else 0
        start = 0
        for number, (_, arm) in enumerate(self._arms):
            count = (width or len(arm.joint_names) + 1) - 1
            targets[arm.ctrl_index] = self._joints(number, arm, values[start : start + count])
            opening = float(np.clip(values[start + count], 0.0, 1.0))
            # This form gives the exact published targets at 0 and 1.
            targets[arm.gripper_ctrl_index] = (
                1.0 - opening
            ) * arm.spec.gripper_closed + opening * arm.spec.gripper_open
            start += count + 1
        for _, base in self._bases:
            base.drive_at(targets, values[start : start + len(TWIST_NAMES)])
            start += len(TWIST_NAMES)
        return targets

    def _joints(self, number: int, arm: SceneArm, values: Array) -> Array:
        if self.kind == "joint":
            return values
        present = self._scene.world.data.ctrl[arm.ctrl_index]
        chain = self._chains[number]
        if self.kind == "tool_pose":
            goal = make_pose(matrix_from_quat(quat_normalize(values[3:7])), values[:3])
        else:
            before = self._goals[number]
            before = chain.T_base_tool(present) if before is None else before
            goal = before @ make_pose(matrix_from_rotvec(values[3:6]), values[:3])
        self._goals[number] = goal
        return nearest_joints(chain, present, goal)

    def _arm_bounds(self, arm: SceneArm) -> tuple[Array, Array]:
        if self.kind == "tool_pose":
            return np.array([-2.0] * 3 + [-1.0] * 4), np.array([2.0] * 3 + [1.0] * 4)
        if self.kind == "tool_delta":
            most = np.array([0.1] * 3 + [0.5] * 3)
            return -most, most
        model = self._scene.world.model
        low, high = model.actuator_ctrlrange[[_actuator_of(model, k) for k in arm.ctrl_index]].T
        return low, high


def nearest_joints(chain: Chain, q: Array, T_base_tool: Array, *, posture: Array | None = None) -> Array:
    """Return joints (n,) near given ones that bring the tool to a pose (4, 4), or as close to it as the limits allow.

    Args:
        chain: The arm.
        q: Joints to start from (n,).
        T_base_tool: The pose.
        posture: Joints (n,) that bias a redundant arm on the way; None leaves it free.
    """
    lower, upper = chain.lower + MARGIN, chain.upper - MARGIN
    for _ in range(ITERATIONS):
        here = chain.T_base_tool(q)
        error = np.concatenate(
            [T_base_tool[:3, 3] - here[:3, 3], rotvec_from_matrix(T_base_tool[:3, :3] @ here[:3, :3].T)]
        )
        if np.linalg.norm(error[:3]) < GAP[0] and np.linalg.norm(error[3:]) < GAP[1]:
            break
        J = chain.jacobian(q)
        JJ = J @ J.T + DAMPING**2 * np.eye(6)
        step = J.T @ np.linalg.solve(JJ, error)
        if posture is not None:
            away = PULL * (posture - q)
            step += away - J.T @ np.linalg.solve(JJ, J @ away)
        q = np.clip(q + step, np.minimum(lower, q), np.maximum(upper, q))
    return q


def _actuator_of(model: Any, control: int) -> int:
    """Return the actuator at an index in ``ctrl``."""
    return int(np.flatnonzero(model.actuator_ctrladr == control)[0])


KINDS: Mapping[str, Callable[[SceneArm], Sequence[str]]] = {
    "joint": lambda arm: arm.spec.joint_names,
    "tool_pose": lambda arm: POSE_NAMES,
    "tool_delta": lambda arm: DELTA_NAMES,
    "controls": lambda arm: (),
}
"""Kind of action > names of its entries for one arm, without the opening."""
