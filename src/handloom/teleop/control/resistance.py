"""Detection that an arm pushes against something solid, from its commands and its motion."""

import numpy as np

from handloom.arrays import Array
from handloom.motion.kinematics import Chain

LEAD = (0.005, 0.15)
"""Maximum lead of the commanded tool over the measured one in free motion: constant [m], and per speed [s]. Arms lag by
0.04 to 0.08 s."""
ANSWER = 0.3
"""A tool slower than this fraction of its commanded speed is blocked ..."""
PATIENCE = 0.1
"""... if this lasts for this long [s]: an arm needs a moment to start."""
PUSH = 0.012
"""Lead of the command while the hand pushes on [m]: gives 10 N on a small arm, 80 N on a large one."""
REST = 0.001
"""Lead of the command once the hand has come back a little [m]."""
RELIEF = 4.0
"""Speed of the command from PUSH back to REST, relative to the hand."""
GIVES_WAY = 0.002
"""Motion of the tool after which the obstacle counts as having given way [m]."""
SMOOTHING = 0.3
"""Weight of the newest tick in the commanded velocity."""


class Resistance:
    """Detector for one arm.

    Args:
        chain: The arm.
    """

    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        self.reset()

    def reset(self) -> None:
        """Reset, because the hand has released the arm."""
        self._last: Array | None = None
        self._velocity = np.zeros(3)
        self._stuck = 0.0
        self.direction: Array | None = None
        """Direction in which it is blocked (3,), in the frame of the arm's base; None in free motion."""
        self._since = np.zeros(3)
        self._peak = -np.inf

    def look(self, commanded: Array, joints: Array, velocity: Array, dt: float) -> None:
        """Update with the motion in a control period.

        Args:
            commanded: Commanded tool position (3,) [m].
            joints: Joint positions (n,).
            velocity: Joint velocities (n,).
            dt: The period [s].
        """
        measured = self._chain.T_base_tool(joints, threads=1)[:3, 3]
        moves = self._chain.jacobian(joints)[:3] @ velocity
        if self._last is not None:
            self._velocity = self._velocity + SMOOTHING * ((commanded - self._last) / dt - self._velocity)
        self._last, self._measured = commanded, measured
        lead = commanded - measured
        length = float(np.linalg.norm(lead))
        if self.direction is not None:
            if length < REST or float((measured - self._since) @ self.direction) > GIVES_WAY:
                self.reset()
            else:
                self.direction = lead / length
            return
        ahead = lead / max(length, 1e-12)
        told = float(self._velocity @ ahead)
        held_up = length > LEAD[0] + LEAD[1] * float(np.linalg.norm(moves)) and told > 0.01
        self._stuck = self._stuck + dt if held_up and float(moves @ ahead) < ANSWER * told else 0.0
        if self._stuck > PATIENCE:
            self.direction, self._since, self._peak = ahead, measured, -np.inf

    def within(self, target: Array, hand: Array) -> Array:
        """Return a target (3,) [m] that goes no further into the obstacle than pushing needs.

        Args:
            target: Desired tool position (3,) [m].
            hand: Position of the hand (3,), in the same frame [m].
        """
        if self.direction is None:
            return target
        place = float(hand @ self.direction)
        self._peak = max(self._peak, place)
        most = max(REST, PUSH - RELIEF * (self._peak - place))
        beyond = float((target - self._measured) @ self.direction) - most
        return target - max(0.0, beyond) * self.direction
