"""Many candidate goals, tested in batches, best first."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.motion.collision import Touch
from handloom.motion.planning.free_ik import FreeIk
from handloom.motion.planning.path_end import BlockedEnd, PathEnd
from handloom.motion.planning.plan_context import PlanContext
from handloom.motion.planning.plan_result import CandidateCounts


@dataclass
class GoalSet:
    """Candidate poses, what was found out about them, and the configurations that reach them."""

    context: PlanContext
    free_ik: FreeIk
    T_base_tool: Array
    """Poses (n, arms, 4, 4)."""
    order: NDArray[np.int64]
    """Indices of candidates, best first."""
    hold_broken: int = 0
    """Candidates left out because they break the hold."""
    unreachable: int = 0
    in_collision: int = 0
    line_failed: int = 0
    not_connected: int = 0
    touches: tuple[Touch, ...] = ()
    """Contacts of the best candidate that collides."""
    ends: dict[int, list[PathEnd]] = field(default_factory=dict)
    """Configurations that can be reached and are free, per candidate."""

    def screen(self, candidates: NDArray[np.int64], seed: Array) -> None:
        """Find free configurations for some candidates."""
        options = self.free_ik.configurations(self.T_base_tool[candidates], seed, self.context.options.seed)
        stacked = np.concatenate([*options, np.empty((0, len(seed)))])
        checker = self.context.scene.spheres(self.context.options.padding)
        roomy = checker.configurations_free(stacked)
        first = np.cumsum([0, *map(len, options)])
        for i, candidate in enumerate(candidates.tolist()):
            if not len(options[i]):
                self.unreachable += 1
                continue
            clear = options[i][roomy[first[i] : first[i + 1]]]
            ends = [PathEnd(q=q, roomy=q) for q in clear] or self._tight(options[i])
            if ends:
                self.ends[candidate] = ends
            else:
                self.in_collision += 1

    def _tight(self, configurations: Array) -> list[PathEnd]:
        """Return the first configuration that is free although too tight for spheres, if there is one."""
        for q in configurations:
            end = self.context.look(q, overlap=0.0)
            if not isinstance(end, BlockedEnd):
                return [end]
            self.touches = self.touches or end.touches or end.near
        return []

    def counts(self, *, chosen: bool) -> CandidateCounts:
        """Return what became of all candidates."""
        given = len(self.order) + self.hold_broken
        known = (
            self.hold_broken
            + self.unreachable
            + self.in_collision
            + self.line_failed
            + self.not_connected
            + int(chosen)
        )
        return CandidateCounts(
            given=given,
            untried=given - known,
            hold_broken=self.hold_broken,
            unreachable=self.unreachable,
            in_collision=self.in_collision,
            line_failed=self.line_failed,
            not_connected=self.not_connected,
            chosen=int(chosen),
        )
