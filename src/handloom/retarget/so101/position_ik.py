"""Inverse kinematics for position targets of an arm with too few joints for a pose and one too many for a point."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.motion.kinematics import Chain


@dataclass(frozen=True, kw_only=True)
class PositionIkConfig:
    """Settings of ``PositionIk``."""

    damping: float = 0.01
    """Lambda of the damped least squares [m/rad]; the published default."""
    iterations: int = 20
    """Maximum number of steps per target."""
    tolerance: float = 1e-5
    """Distance at which a target counts as reached [m]."""
    largest_step: float = 0.2
    """Largest change of any joint in one step [rad]."""
    limit_margin: float = 0.02
    """Distance kept from every joint limit [rad]."""
    approach: tuple[float, float, float] | None = (0.0, 0.0, -1.0)
    """Preferred direction of the tool in the base, as far as the position allows; None for no preference."""
    tool_axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    """Axis of the tip frame that points along the approach."""
    turn_per_metre: float = 20.0
    """Largest null-space rotation of the tool towards the approach per metre of target motion [rad/m]."""

    def __post_init__(self) -> None:
        """Reject settings with which the solver cannot converge."""
        for name in ("damping", "iterations", "tolerance", "largest_step"):
            if not getattr(self, name) > 0:
                raise InputError(f"PositionIkConfig.{name} must be > 0, got {getattr(self, name)}")


class PositionIk:
    """Follows position targets with the joints before the last; the last one, the roll, is given.

    Each step is damped least squares on the position, dq = J' (J J' + lambda^2 I)^-1 e, plus a motion in its
    null space that turns the tool towards the preferred approach. That motion is bounded by the distance the
    target moved, so an arm whose target stands still does not move at all. The state is the last solution:
    targets are followed from the commanded joints, which never jump to another branch.

    Args:
        chain: Arm from its base to the tool centre; its last joint is the roll.
        config: Settings.
    """

    def __init__(self, chain: Chain, config: PositionIkConfig | None = None) -> None:
        self.chain = chain
        self.config = config or PositionIkConfig()
        self._lower = chain.lower + self.config.limit_margin
        self._upper = chain.upper - self.config.limit_margin
        self._axis = np.array(self.config.tool_axis)
        self._q = chain.middle
        self._last_target: Array | None = None

    @property
    def q(self) -> Array:
        """The last solution (n,) [rad]."""
        return self._q.copy()

    def reset(self, q: ArrayLike) -> None:
        """Start from measured joints (n,) [rad]; they may lie slightly outside the limits and are not clipped."""
        joints = np.array(q, float)
        if joints.shape != (self.chain.dof,) or not np.all(np.isfinite(joints)):
            raise InputError(f"the arm needs {self.chain.dof} joint positions, got {q!r}")
        self._q, self._last_target = joints, None

    def correct(self, q: ArrayLike) -> None:
        """Continue from joints (n,) [rad] that were commanded instead of the last solution."""
        self._q = np.array(q, float)

    def step(self, p_base_target: ArrayLike, roll: float) -> Array:
        """Move towards a target and return the joints (n,) [rad]; if it is out of reach, the nearest solution found.

        Args:
            p_base_target: Tool centre in the base (3,) [m].
            roll: Position of the last joint [rad].
        """
        target = np.array(p_base_target, float)
        if target.shape != (3,) or not np.all(np.isfinite(target)) or not np.isfinite(roll):
            raise InputError(f"a target must be a finite position (3,) and a roll, got {p_base_target!r} and {roll!r}")
        q = self._q
        q[-1] = min(max(roll, self._lower[-1]), self._upper[-1])
        moved = 0.0 if self._last_target is None else float(np.linalg.norm(target - self._last_target))
        self._last_target = target
        budget = self.config.turn_per_metre * moved
        for _ in range(self.config.iterations):
            T = self.chain.T_base_tool(q, threads=1)
            error = target - T[:3, 3]
            if np.linalg.norm(error) < self.config.tolerance and budget <= 0.0:
                break
            J = self.chain.jacobian(q)[:, :-1]
            step, turned = self._step(J, error, T[:3, :3] @ self._axis, budget)
            budget = budget - turned if turned > 1e-6 else 0.0
            low = np.minimum(self._lower[:-1], q[:-1])
            high = np.maximum(self._upper[:-1], q[:-1])
            q[:-1] = np.clip(q[:-1] + step, low, high)
        return q.copy()

    def _step(self, J: Array, error: Array, tool: Array, budget: float) -> tuple[Array, float]:
        """Return the change of the joints and the rotation of the tool by its null-space part [rad]."""
        Jp, Jr = J[:3], J[3:]
        gram = Jp @ Jp.T + self.config.damping**2 * np.eye(3)
        step = Jp.T @ np.linalg.solve(gram, error)
        turned = 0.0
        if self.config.approach is not None and budget > 0.0:
            wish = np.cross(tool, self.config.approach)
            free = np.eye(Jp.shape[1]) - np.linalg.pinv(Jp) @ Jp
            # The null space is one-dimensional: the self-motion, found from the preferred direction without a
            # decomposition.
            motion = free @ (Jr.T @ wish)
            rate = Jr @ motion
            along = float(rate @ rate)
            if along > 1e-12:
                # The multiple of the self-motion that brings the tool closest to the approach.
                amount = float(rate @ wish) / along
                turned = abs(amount) * np.sqrt(along)
                if turned > budget:
                    amount, turned = amount * budget / turned, budget
                step = step + amount * motion
        return np.clip(step, -self.config.largest_step, self.config.largest_step), turned
