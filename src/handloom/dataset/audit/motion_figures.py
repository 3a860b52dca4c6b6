"""Figures of motion: idle frames, jerk, jumps, clipped actions, duplicates, starts."""

import hashlib
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

IDLE = 1e-3
"""Motion per frame below which nothing moves, as a share of a channel's range."""
JUMP = 0.25
"""Step of an action from frame to frame that is a jump, as a share of the range."""
NARROW = 1e-6
"""Range below which a channel is constant and says nothing."""
BINS = 10
"""Places of a start that are told apart along a channel's range."""


@dataclass(kw_only=True)
class MotionFigures:
    """Sums over episodes; episodes are looked at one after the other."""

    low: Numbers
    """Smallest action of every channel (n,)."""
    high: Numbers
    fps: int
    frames: int = 0
    idle: int = 0
    jumps: int = 0
    clipped: int = 0
    longest_idle: int = 0
    jerks: list[float] = field(default_factory=list)
    """Of every episode: root mean square of the third difference of its actions, in ranges per second cubed."""
    starts: list[Numbers] = field(default_factory=list)
    """First state of every episode as shares of the range."""
    hashes: Counter[str] = field(default_factory=Counter)
    """Episodes with the same actions."""

    def add(self, actions: NDArray[np.floating], states: NDArray[np.floating]) -> None:
        """Take in an episode: actions and states (k, n)."""
        wide = self.high - self.low > NARROW
        shares = (actions.astype(np.float64) - self.low)[:, wide] / (self.high - self.low)[wide]
        self.frames += len(shares)
        steps = np.abs(np.diff(shares, axis=0))
        if len(steps) and steps.shape[1]:
            still = steps.max(axis=1) < IDLE
            self.idle += int(still.sum())
            self.longest_idle = max(self.longest_idle, _longest(still))
            self.jumps += int((steps > JUMP).any(axis=1).sum())
        if len(shares) > 3 and shares.shape[1]:
            self.jerks.append(float(np.sqrt(np.mean(np.diff(shares, n=3, axis=0) ** 2)) * self.fps**3))
        self.clipped += int(((shares <= 0.0) | (shares >= 1.0)).any(axis=1).sum()) if shares.shape[1] else 0
        self.starts.append(states[0].astype(np.float64))
        self.hashes[hashlib.sha256(np.ascontiguousarray(np.round(actions, 6)).tobytes()).hexdigest()] += 1

    @property
    def duplicates(self) -> int:
        """Episodes whose actions are those of another one before."""
        return sum(count - 1 for count in self.hashes.values())

    def start_concentration(self) -> float:
        """Return the largest share of episodes that start in one tenth of the range of the channel that varies most.

        A dataset whose starts are spread evenly has 0.1 to 0.3, one that always starts at the same place 1.
        """
        starts = np.array(self.starts)
        if len(starts) < 2:
            return float("nan")
        spread = np.ptp(starts, axis=0)
        channel = int(np.argmax(spread))
        if spread[channel] < NARROW:
            return 1.0
        counts, _ = np.histogram(starts[:, channel], bins=BINS)
        return float(counts.max() / len(starts))


def _longest(still: NDArray[np.bool_]) -> int:
    """Return the length of the longest run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], still.astype(np.int8), [0]])))
    return int((edges[1::2] - edges[::2]).max()) if len(edges) else 0
