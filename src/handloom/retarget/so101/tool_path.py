"""Where a tool should be when: keyframes joined by minimum-jerk curves."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

FASTEST_ROLL = 1.5
"""Mean speed at which an operator turns a wrist [rad/s]."""
SHORTEST_MOVE = 0.25
"""No move takes less time [s]."""


@dataclass(frozen=True, kw_only=True)
class Keyframe:
    """Where the tool should be at one moment."""

    seconds: float
    """Time since the start [s]."""
    position: tuple[float, float, float]
    """Tool centre in the world [m]."""
    roll: float
    """Wrist roll [rad]."""
    jaw: float
    """Jaw joint [rad]."""


class ToolPath:
    """A growing list of keyframes.

    Args:
        start: Where the tool is at first.
    """

    def __init__(self, start: Keyframe) -> None:
        self._keys = [start]

    @property
    def last(self) -> Keyframe:
        """The end of the path so far."""
        return self._keys[-1]

    def move(self, position: ArrayLike, *, speed: float, roll: float | None = None) -> None:
        """Go on to a position (3,) [m] at a mean speed [m/s], turning the wrist on the way."""
        x, y, z = np.asarray(position, float).tolist()
        last = self.last
        turn = last.roll if roll is None else roll
        way = math.dist((x, y, z), last.position)
        seconds = max(way / speed, abs(turn - last.roll) / FASTEST_ROLL, SHORTEST_MOVE)
        self._keys.append(replace(last, seconds=last.seconds + seconds, position=(x, y, z), roll=turn))

    def wait(self, seconds: float, *, jaw: float | None = None) -> None:
        """Stay for some time [s], moving the jaw meanwhile [rad]."""
        last = self.last
        self._keys.append(replace(last, seconds=last.seconds + seconds, jaw=last.jaw if jaw is None else jaw))

    def at(self, seconds: float) -> Keyframe:
        """Return the path at a time [s]; its ends go on for ever."""
        after = next((i for i, key in enumerate(self._keys) if key.seconds > seconds), None)
        if after is None or after == 0:
            return replace(self._keys[0 if after == 0 else -1], seconds=seconds)
        a, b = self._keys[after - 1], self._keys[after]
        u = (seconds - a.seconds) / (b.seconds - a.seconds)
        s = u**3 * (10.0 - 15.0 * u + 6.0 * u * u)
        x, y, z = (p + s * (q - p) for p, q in zip(a.position, b.position, strict=True))
        return Keyframe(
            seconds=seconds, position=(x, y, z), roll=a.roll + s * (b.roll - a.roll), jaw=a.jaw + s * (b.jaw - a.jaw)
        )
