"""Detects that an arm pushes against something solid, from its commands and its motion."""

import numpy as np

from handloom.arrays import Array
from handloom.motion.kinematics import Chain

LEAD = (0.005, 0.15)
"""A commanded tool is ahead of the measured one by no more than this in free motion: [m], and for every m/s [s]. Arms
lag by 0.04 to 0.08 s."""
ANSWER = 0.3
"""A tool slower than this fraction of its commanded speed is blocked ..."""
PATIENCE = 0.1
"""... if that lasts for so long [s]: an arm needs a moment to begin."""
PUSH = 0.012
"""How far ahead the command stays while the hand pushes on [m]: 10 N on a small arm, 80 N on a large one."""
REST = 0.001
"""How far ahead it is once the hand has come back a little [m]."""
RELIEF = 4.0
"""How much faster than the hand the command comes back from PUSH to REST."""
GIVES_WAY = 0.002
"""What is pushed has given way once the tool has moved this far [m]."""
SMOOTHING = 0.3
"""Fraction of the newest tick in the commanded velocity."""


class Resistance:
    """Watches one arm.

    Args:
        chain: The arm.
    """

    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        self.reset()

    def reset(self) -> None:
        """Forget what was: the hand has let go of the arm."""
        self._last: Array | None = None
        self._velocity = np.zeros(3)
        self._stuck = 0.0
        self.direction: Array | None = None
        """Where it is blocked (3,), in the base of the arm; None in free motion."""
        self._since = np.zeros(3)
        self._peak = -np.inf

    def look(self, commanded: Array, joints: Array, velocity: Array, dt: float) -> None:
        """Take over what happened in a control period [s].

        Args:
            commanded: Commanded tool position (3,) [m].
            joints: Where the joints are (n,).
            velocity: How fast they move (n,).
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
        """Return a target (3,) [m] that goes no further into what is in the way than pushing needs.

        Args:
            target: Where the tool should go (3,) [m].
            hand: Where the hand is (3,), in the same frame [m].
        """
        if self.direction is None:
            return target
        place = float(hand @ self.direction)
        self._peak = max(self._peak, place)
        most = max(REST, PUSH - RELIEF * (self._peak - place))
        beyond = float((target - self._measured) @ self.direction) - most
        return target - max(0.0, beyond) * self.direction
