"""A source of commands that is judged by what the task wants of the world."""

import numpy as np

from handloom.arrays import Array
from handloom.episode.loop import Source
from handloom.judging import Judge
from handloom.judging.lasting import REST, frames_of
from handloom.values import Failure, SkillSpan


class JudgedSource:
    """A source of commands that is judged by the success terms of the task, not by what it says of itself.

    When the source has ended, all targets are held, outside the demonstration, until the task's terms hold, for as
    long as a demonstration rests: an object may still be settling.

    Args:
        source: Who carries the task out. Terms in its own timeline must hold, too.
        judge: Knows what the task wants.
    """

    def __init__(self, source: Source, judge: Judge) -> None:
        self._source = source
        self._judge = judge
        self._missing: Failure | None = None
        self._ended: int | None = None
        self._rest = frames_of(REST, judge.fps)

    @property
    def failure(self) -> Failure | None:
        """Why the task was not done: what the source says, or else which terms of the task do not hold."""
        return self._source.failure or self._missing

    @property
    def timeline(self) -> list[SkillSpan]:
        """What the source says, and then what was achieved of the task."""
        return [*self._source.timeline, *self._judge.timeline]

    @property
    def recording(self) -> bool:
        """Whether the frame asked for last belongs to the demonstration."""
        return self._ended is None and self._source.recording

    def next(self, frame: int) -> Array | None:
        """Return the targets (controls,) of a frame; None when the source has ended and the task was judged."""
        self._judge.look(frame, fully=self._ended is not None)
        if self._ended is None:
            targets = self._source.next(frame)
            if targets is not None or self._source.failure is not None:
                return targets
            self._ended = frame
            self._judge.look(frame)
        self._missing = self._judge.failure(frame)
        if self._missing is None or frame - self._ended >= self._rest:
            return None
        self._missing = None
        return np.full(self._judge.controls, np.nan)
