"""Control of an arm with too few joints for poses: its tool follows positions, its wrist the roll of the hand."""

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.motion.clearance import Clearance
from handloom.motion.differential_ik import DifferentialIk, DifferentialIkConfig
from handloom.motion.kinematics import Chain
from handloom.retarget.so101.position_ik import PositionIk

SPEED = 0.5
"""Speed limit of the tool [m/s]."""


class PositionFollower(DifferentialIk):
    """Follows positions, within the same limits, speeds and clearance as arms that follow poses.

    Position-only inverse kinematics gives the desired joints; of the steps within all bounds, the one that brings the
    tool closest to their position is taken.

    Args:
        chain: The arm, whose last joint is the roll of the wrist.
        q: Initial joints (n,) [rad].
        speed_limit: Speed limit of each joint (n,) [rad/s].
        clearance: Measures the distance to obstacles.
    """

    def __init__(self, chain: Chain, q: Array, speed_limit: Array, *, clearance: Clearance | None = None) -> None:
        super().__init__(chain, speed_limit, DifferentialIkConfig(linear_speed=SPEED), clearance=clearance)
        self.reset(q)
        self._ik = PositionIk(chain)
        self._ik.reset(q)
        self._roll_ahead = 0.0
        """Difference between the roll of the hand and of the wrist at engagement [rad]."""
        self._roll = float(q[-1])

    def engage(self, roll: float) -> None:
        """Take the roll of the hand [rad] as that of the wrist, without motion."""
        self._ik.reset(self._q)
        self._roll_ahead = roll - float(self._q[-1])

    def turn(self, roll: float) -> None:
        """Rotate the wrist by the rotation of the hand since it engaged [rad]."""
        self._roll = roll - self._roll_ahead

    def step(self, T_base_target: ArrayLike, dt: float) -> Array:
        """Move towards a position for a control period [s] and return the joints (n,)."""
        here = self.T_base_tool[:3, 3]
        way = np.asarray(T_base_target, float)[:3, 3] - here
        way *= min(1.0, SPEED * dt / max(float(np.linalg.norm(way)), 1e-12))
        self.is_blocked = False
        wanted = self._ik.step(here + way, self._roll) - self._q
        if np.any(wanted != 0.0):
            J = self.chain.jacobian(self._q)[:3]
            H = J.T @ J + self.config.damping**2 * np.eye(len(wanted))
            self._q = self._kept_apart(self._within_bounds(H, H @ wanted, dt))
        self._ik.correct(self._q)
        return self.q
