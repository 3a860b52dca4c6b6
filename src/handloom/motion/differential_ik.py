"""Tracks a moving pose: differential inverse kinematics with joint limits, speed limits and clearance."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.motion.clearance import Clearance
from handloom.motion.kinematics import Chain
from handloom.spatial import rotvec_from_matrix


@dataclass(frozen=True, kw_only=True)
class DifferentialIkConfig:
    """Settings of ``DifferentialIk``."""

    damping: float = 0.01
    """Damping of the least squares: near a singularity, joints stay slow and the tool lags behind [m/rad]."""
    metres_per_radian: float = 0.3
    """Weight of rotation: an error of 1 rad counts as this many metres."""
    linear_speed: float = 0.8
    """Maximum speed of the tool [m/s]."""
    angular_speed: float = 3.0
    """Maximum rotation speed of the tool [rad/s]."""
    limit_margin: float = 0.01
    """Distance kept from joint limits [rad or m]."""
    clearance: float = 0.003
    """Distance kept from solids that must not be touched [m]."""
    look_ahead: float = 0.04
    """Approaches slow down below this distance [m] and stop at the clearance."""
    slow_down: float = 8.0
    """Maximum approach speed per remaining distance [1/s]."""

    def __post_init__(self) -> None:
        """Reject settings with which the arm would never move or never stop."""
        for name in ("damping", "metres_per_radian", "linear_speed", "angular_speed", "slow_down"):
            if not 0.0 < getattr(self, name) < np.inf:
                raise InputError(f"DifferentialIkConfig.{name} must be > 0 and finite, got {getattr(self, name)}")
        if not 0.0 <= self.clearance < self.look_ahead <= 0.1:
            raise InputError(
                f"DifferentialIkConfig: 0 <= clearance < look_ahead <= 0.1 m must hold, got {self.clearance} and "
                f"{self.look_ahead}"
            )


STILL = (1e-7, 1e-6)
"""Errors [m], [rad] below which the tool has arrived: the rounding of poses in 32 bits."""
TOUCHING = 1e-6
"""Excess beyond a bound [m, rad] that a step must request for the bound to count as active."""
HALVINGS = 4
"""Number of times that a step that would come too close is halved before it is dropped."""


class DifferentialIk:
    """Moves joints a little per call so that the tool follows a pose.

    Each step solves a small quadratic program: least squares of the pose error with damping, subject to the joint
    limits, the joint speeds and, for every pair of solids nearer than ``look_ahead``, a bound on how fast they may
    approach. Zero motion always satisfies these bounds, so a target at the current tool pose causes no motion,
    regardless of nearby solids. The state is the last command, not the measurement, so the arm's lag does not feed
    back.

    Args:
        chain: The arm, from its base to the tool.
        speed_limit: Maximum speed of each joint (n,) [rad/s or m/s].
        config: Settings.
        clearance: Measures distances to solids that must not be touched; None leaves collisions to physics.
    """

    def __init__(
        self,
        chain: Chain,
        speed_limit: ArrayLike,
        config: DifferentialIkConfig | None = None,
        *,
        clearance: Clearance | None = None,
    ) -> None:
        self.chain = chain
        self.config = config or DifferentialIkConfig()
        self.clearance = clearance
        self._speed = np.asarray(speed_limit, float)
        if self._speed.shape != (chain.dof,) or not np.all(self._speed > 0.0):
            raise InputError(f"the arm needs {chain.dof} speed limits > 0, got {speed_limit!r}")
        self._q = chain.middle
        self.is_blocked = False
        """Whether a joint limit or a solid that must not be touched constrained the last step."""
        self._least = 0.0
        """Distance that the next joints keep [m]: the clearance, or the current distance if that is smaller."""

    @property
    def q(self) -> Array:
        """The last commanded joints (n,) [rad or m]."""
        return self._q.copy()

    @property
    def T_base_tool(self) -> Array:  # noqa: N802 - frame notation
        """Tool pose at these joints (4, 4)."""
        return self.chain.T_base_tool(self._q, threads=1)

    def reset(self, q: ArrayLike) -> None:
        """Start from joints (n,), possibly outside the limits or in collision; they are kept until the first motion."""
        joints = np.array(q, float)
        if joints.shape != (self.chain.dof,) or not np.all(np.isfinite(joints)):
            raise InputError(f"the arm needs {self.chain.dof} finite joint positions, got {q!r}")
        self._q = joints

    def step(self, T_base_target: ArrayLike, dt: float) -> Array:
        """Move towards a pose for a control period and return the joints (n,) to command.

        Args:
            T_base_target: Pose of the tool in the base (4, 4).
            dt: Control period [s].
        """
        T = np.asarray(T_base_target, float)
        if T.shape != (4, 4) or not np.all(np.isfinite(T)):
            raise InputError(f"a target must be a finite pose (4, 4), got {T_base_target!r}")
        if not 0.0 < dt < np.inf:
            raise InputError(f"a control period must be > 0 s, got {dt}")
        error = self._error(T, dt)
        self.is_blocked = False
        if error is not None:
            self._q = self._kept_apart(self._step(error, dt))
        return self.q

    def step_joints(self, q_target: ArrayLike, dt: float, *, fastest: float = np.inf) -> Array:
        """Move towards joints for a control period, within the same bounds, and return the joints (n,) to command.

        Args:
            q_target: Target joints (n,) [rad or m].
            dt: Control period [s].
            fastest: Maximum speed of all joints [rad/s or m/s], in addition to their own limits.
        """
        target = np.asarray(q_target, float)
        if target.shape != self._q.shape or not np.all(np.isfinite(target)):
            raise InputError(f"the arm needs {self.chain.dof} finite joint positions, got {q_target!r}")
        if not 0.0 < dt < np.inf:
            raise InputError(f"a control period must be > 0 s, got {dt}")
        way = target - self._q
        way *= min(1.0, fastest * dt / max(float(np.abs(way).max()), 1e-12))
        self.is_blocked = False
        if np.any(way != 0.0):
            self._q = self._kept_apart(self._within_bounds(np.eye(len(way)), way, dt))
        return self.q

    def _error(self, T: Array, dt: float) -> Array | None:
        """Return the remaining error (6,) [m, rad], limited to one step; None if the target is reached."""
        here = self.T_base_tool
        way = T[:3, 3] - here[:3, 3]
        turn = rotvec_from_matrix(T[:3, :3] @ here[:3, :3].T)
        far, wide = float(np.linalg.norm(way)), float(np.linalg.norm(turn))
        if far < STILL[0] and wide < STILL[1]:
            return None
        way *= min(1.0, self.config.linear_speed * dt / max(far, 1e-12))
        turn *= min(1.0, self.config.angular_speed * dt / max(wide, 1e-12))
        return np.concatenate([way, turn])

    def _step(self, error: Array, dt: float) -> Array:
        q, config = self._q, self.config
        weight = np.array([1.0] * 3 + [config.metres_per_radian] * 3)
        J = self.chain.jacobian(q) * weight[:, None]
        H = J.T @ J + config.damping**2 * np.eye(len(q))
        return self._within_bounds(H, J.T @ (weight * error), dt)

    def _within_bounds(self, H: Array, g: Array, dt: float) -> Array:
        """Return the step x (n,) of a control period that minimises x'Hx / 2 - g'x and keeps every bound."""
        q, config = self._q, self.config
        reach = self._speed * dt
        lower, upper = self.chain.lower + config.limit_margin, self.chain.upper - config.limit_margin
        high = np.clip(upper - q, 0.0, reach)
        low = np.clip(q - lower, 0.0, reach)
        rows, bounds = [np.eye(len(q)), -np.eye(len(q))], [high, low]
        hard = [high < reach, low < reach]
        if self.clearance is not None:
            near = self.clearance.near(q, config.look_ahead)
            self._least = float(np.min(near.distance, initial=config.clearance))
            rows.append(-near.gradient)
            bounds.append(np.maximum(0.0, config.slow_down * dt * (near.distance - config.clearance)))
            hard.append(np.ones(len(near.distance), bool))
        C, d = np.concatenate(rows), np.concatenate(bounds)
        step = bounded_step(H, g, C, d)
        self.is_blocked = bool(
            np.any(C[np.concatenate(hard)] @ np.linalg.solve(H, g) > (d + TOUCHING)[np.concatenate(hard)])
        )
        return np.clip(step, -low, high)  # To the last bit.

    def _kept_apart(self, step: Array) -> Array:
        """Return the joints after a step, shortened where curvature would bring solids nearer than the clearance."""
        if self.clearance is None:
            return self._q + step
        for _ in range(HALVINGS):
            q = self._q + step
            if self.clearance.clearance(q) >= self._least:
                return q
            step, self.is_blocked = 0.5 * step, True
        return self._q


def bounded_step(H: Array, g: Array, C: Array, d: Array) -> Array:
    """Return the x (n,) that minimises x'Hx / 2 - g'x subject to C x <= d.

    With H = LL' and y = L'x - L^-1 g this is the point of a polytope nearest to the origin, found by non-negative least
    squares (Lawson and Hanson 1974, chapter 23); most steps reach no bound and need none of this.

    Args:
        H: Positive definite matrix (n, n).
        g: Vector (n,).
        C: Rows of the bounds (m, n).
        d: Bounds (m,), none negative: x = 0 must be possible.
    """
    free = np.asarray(np.linalg.solve(H, g), float)
    if np.all(C @ free <= d):
        return free
    L = np.linalg.cholesky(H)
    G = np.linalg.solve(L, C.T).T
    E = np.asarray(np.vstack([-G.T, C @ free - d]), float)
    f = np.zeros(len(E))
    f[-1] = 1.0
    rest = E @ nonnegative_least_squares(E, f) - f
    return free + np.linalg.solve(L.T, -rest[:-1] / rest[-1])


ENTERING = 1e-12
"""Slope below which making another unknown positive has no benefit."""


def nonnegative_least_squares(E: Array, f: Array) -> Array:
    """Return the u >= 0 (m,) that minimises ||E u - f|| (Lawson and Hanson's algorithm)."""
    m = E.shape[1]
    u, positive = np.zeros(m), np.zeros(m, bool)
    for _ in range(3 * m):
        slope = np.where(positive, -np.inf, E.T @ (f - E @ u))
        if slope.max() <= ENTERING:
            break
        positive[int(np.argmax(slope))] = True
        while positive.any():
            wanted = np.zeros(m)
            wanted[positive] = np.linalg.lstsq(E[:, positive], f, rcond=None)[0]
            blocked = positive & (wanted <= 0.0)
            if not blocked.any():
                u = wanted
                break
            share = np.min(u[blocked] / (u[blocked] - wanted[blocked] + 1e-300))
            u = u + share * (wanted - u)
            positive &= ~(blocked & (u <= ENTERING))
            u[~positive] = 0.0
    return u
