"""Plans through a chain of goals, best candidate first."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.motion.collision import Touch
from handloom.motion.planning.cartesian_line import CartesianLine, straight_move
from handloom.motion.planning.free_ik import FreeIk
from handloom.motion.planning.moves import Move
from handloom.motion.planning.path_end import BlockedEnd, PathEnd
from handloom.motion.planning.path_search import ROUNDS, Found
from handloom.motion.planning.plan_context import PlanContext
from handloom.motion.planning.plan_result import CandidateCounts, PlanResult, PlanStatus


@dataclass
class GoalSet:
    """Candidate poses, their test results, and the configurations that reach them."""

    context: PlanContext
    free_ik: FreeIk
    T_base_tool: Array
    """Poses (n, arms, 4, 4)."""
    order: NDArray[np.int64]
    """Indices of candidates, best first."""
    hold_broken: int = 0
    """Number of candidates left out because they violate the hold."""
    unreachable: int = 0
    in_collision: int = 0
    line_failed: int = 0
    not_connected: int = 0
    touches: tuple[Touch, ...] = ()
    """Contacts of the best candidate that collides."""
    ends: dict[int, list[PathEnd]] = field(default_factory=dict)
    """Reachable free configurations, per candidate."""

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
        """Return the first configuration that is exactly free but too tight for the spheres, if there is one."""
        for q in configurations:
            end = self.context.look(q, overlap=0.0)
            if not isinstance(end, BlockedEnd):
                return [end]
            self.touches = self.touches or end.touches or end.near
        return []

    def counts(self, *, chosen: bool) -> CandidateCounts:
        """Return the outcome counts of all candidates."""
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


NEARNESS = 0.5
"""Goals whose distances from the start differ by less than this count as equally near [rad or m, norm over the
joints]."""
LONGEST = 2.0
"""A path to the first goal that is longer than this many times the straight line in joint space is a detour, ..."""
SHORT = 0.5
"""... unless it is shorter than this [rad or m]."""
DETOURS = 4
"""Goals that are tried before the shortest detour is taken."""


Viable = tuple[int, PathEnd, list[Array]]
"""A candidate, a configuration that reaches it, and the straight segments that follow."""


class MovePlanner:
    """One request for a chain of goals.

    Cheap tests come first: inverse kinematics and collision of all candidates of a chunk together, then the straight
    stages that follow, and only then the search for a path to the first stage. Within a chunk, goals near the start
    come before far ones; about equally near goals are ordered by score.
    """

    def __init__(
        self,
        context: PlanContext,
        free_ik: FreeIk,
        line: CartesianLine,
        stages: Sequence[Move],
        *,
        ignore: tuple[str, ...],
    ) -> None:
        self._context, self._free_ik, self._line = context, free_ik, line
        self._stages = list(stages)
        self._poses = [stage.poses(len(line.arms)) for stage in stages]
        self._ignore = ignore
        self._count = max(len(T) for T in self._poses)
        if any(len(T) not in {1, self._count} for T in self._poses):
            raise InputError(f"stages have {[len(T) for T in self._poses]} candidates; they must agree, or be 1")
        self._straight_after = next((k for k in range(1, len(stages)) if not stages[k].straight), len(stages))
        self._line_failure: PlanResult | None = None
        self._refused: Found | None = None

    def plan(
        self, q_start: ArrayLike, scores: ArrayLike | None, *, only: NDArray[np.bool_] | None = None
    ) -> PlanResult:
        """Return a path through all stages for the best candidate that allows one.

        Args:
            q_start: Present configuration (n,).
            scores: Higher is better, one per candidate; None keeps the given order.
            only: Candidates that keep the hold, if there is one.
        """
        context = self._context
        problem = self._invalid()
        if problem is not None:
            return context.fail(PlanStatus.INVALID_REQUEST, problem)
        start = context.start(q_start)
        if isinstance(start, PlanResult):
            return start
        order = self._order(scores)
        kept = order if only is None else order[only[order]]
        goals = GoalSet(context, self._free_ik, self._repeat(self._poses[0]), kept, len(order) - len(kept))
        waiting: list[Viable] = []
        for begin in range(0, len(kept), context.options.chunk):
            chunk = goals.order[begin : begin + context.options.chunk]
            goals.screen(chunk, start.q)
            result = self._plan_to_nearest(goals, chunk, start, waiting)
            if result is not None:
                return result
        if waiting:
            goals.not_connected -= 1
            result = self._finish(goals, start, waiting, context.options.iterations)
            if result is not None:
                return result
            goals.not_connected += 1
        return self._failure(goals)

    def _plan_to_nearest(
        self, goals: GoalSet, chunk: NDArray[np.int64], start: PathEnd, waiting: list[Viable]
    ) -> PlanResult | None:
        """Return a path to the nearest candidate of a chunk, or the shortest of a few detours.

        Args:
            goals: Test results of the candidates.
            chunk: Candidates that were screened.
            start: Present configuration.
            waiting: Receives the goals to which no path was found within the samples per goal.
        """
        left = {candidate: len(goals.ends.get(candidate, ())) for candidate in chunk.tolist()}
        detours: list[PlanResult] = []
        for candidate, end in self._nearest(goals, chunk, start.q):
            viable = self._viable(candidate, end)
            left[candidate] -= 1
            if viable is None:
                goals.line_failed += left[candidate] == 0
                continue
            left[candidate] = -1  # Its lines are possible from at least one configuration.
            result = self._finish(goals, start, [viable], self._context.options.goal_iterations, rounds=1)
            if result is None:
                waiting.append(viable)
                goals.not_connected = len({candidate for candidate, _, _ in waiting})
            elif not _is_detour(result.segments[0]):
                return result
            else:
                detours.append(result)
                if len(detours) == DETOURS:
                    break
        return min(detours, key=lambda result: _travel(result.segments[0]), default=None)

    def _nearest(self, goals: GoalSet, chunk: NDArray[np.int64], q_start: Array) -> list[tuple[int, PathEnd]]:
        """Return candidates of a chunk, each with a configuration: near ones first, equally near ones by score."""
        pairs = [(c, end) for c in chunk.tolist() for end in goals.ends.get(c, [])]
        distances = np.array([np.linalg.norm(end.q - q_start) for _, end in pairs])
        farther = (distances - distances.min(initial=np.inf)) // NEARNESS
        return [pairs[k] for k in np.argsort(farther, kind="stable")]

    def _invalid(self) -> str | None:
        if self._count == 0 or any(len(T) == 0 for T in self._poses):
            return "there is no goal pose at all"
        for k, T in enumerate(self._poses):
            bad = np.flatnonzero(~np.isfinite(T).all(axis=(1, 2, 3)))
            if len(bad):
                return f"goal pose {bad[0]} of stage {k} is not finite"
        return None

    def _order(self, scores: ArrayLike | None) -> NDArray[np.int64]:
        if scores is None:
            return np.arange(self._count)
        values = np.asarray(scores, float)
        if values.shape != (self._count,):
            raise InputError(f"there are {self._count} candidates but scores of shape {values.shape}")
        return np.argsort(-values, kind="stable")

    def _repeat(self, T: Array) -> Array:
        return np.broadcast_to(T, (self._count, *T.shape[1:]))

    def _viable(self, candidate: int, end: PathEnd) -> Viable | None:
        """Return a candidate with the straight stages that follow from a configuration, if they are possible."""
        tail = self._straight(candidate, end.q)
        self._context.scene.select((*self._ignore, *self._stages[0].ignore))
        if isinstance(tail, PlanResult):
            self._line_failure = self._line_failure or tail
            return None
        return candidate, end, tail

    def _straight(self, candidate: int, q: Array) -> list[Array] | PlanResult:
        """Follow the straight stages right after the first from a configuration."""
        segments = []
        for k in range(1, self._straight_after):
            segment = self._straight_stage(k, candidate, q)
            if isinstance(segment, PlanResult):
                return segment
            segments.append(segment)
            q = segment[-1]
        return segments

    def _straight_stage(self, k: int, candidate: int, q: Array) -> Array | PlanResult:
        stage = self._stages[k]
        self._context.scene.select((*self._ignore, *stage.ignore), released=stage.released)
        T = self._repeat(self._poses[k])[candidate]
        return straight_move(self._context, self._line, q, T, together=stage.together)

    def _finish(
        self,
        goals: GoalSet,
        start: PathEnd,
        viable: list[Viable],
        iterations: int,
        *,
        rounds: int = len(ROUNDS),
    ) -> PlanResult | None:
        """Search for a path to the first stage, then plan the stages after the straight ones."""
        context = self._context
        context.scene.select((*self._ignore, *self._stages[0].ignore))
        ends = [end for _, end, _ in viable]
        found = context.find(start, ends, iterations=iterations, rounds=rounds)
        if found.path is None:
            self._refused = found if found.refused is not None else self._refused
            return None
        candidate, _, tail = viable[found.goal]
        segments = [found.path, *tail]
        for k in range(self._straight_after, len(self._stages)):
            segment = self._later_stage(k, candidate, segments[-1][-1])
            if isinstance(segment, PlanResult):
                self._line_failure = self._line_failure or segment
                return None
            segments.append(segment)
        return context.succeed(*segments, goal=candidate, counts=goals.counts(chosen=True))

    def _later_stage(self, k: int, candidate: int, q: Array) -> Array | PlanResult:
        """Plan one of the stages after the straight ones."""
        context = self._context
        if self._stages[k].straight:
            return self._straight_stage(k, candidate, q)
        context.scene.select((*self._ignore, *self._stages[k].ignore))
        start = context.start(q)
        if isinstance(start, PlanResult):
            return start
        goals = GoalSet(context, self._free_ik, self._repeat(self._poses[k])[[candidate]], np.arange(1))
        goals.screen(goals.order, q)
        if 0 not in goals.ends:
            return self._goal_failure(goals)
        found = context.find(start, goals.ends[0])
        return context.no_path(found.refused) if found.path is None else found.path

    def _failure(self, goals: GoalSet) -> PlanResult:
        """Return why no candidate succeeded; the furthest progress of any candidate decides."""
        counts = goals.counts(chosen=False)
        if goals.not_connected:
            if self._refused is not None:
                return self._context.no_path(self._refused.refused, counts=counts)
            return self._context.no_path(None, counts=counts)
        if goals.line_failed and self._line_failure is not None:
            failure = self._line_failure
            return self._context.fail(
                failure.status,
                f"{failure.reason} ({counts})",
                touches=failure.touches,
                fraction=failure.fraction,
                counts=counts,
            )
        return self._goal_failure(goals)

    def _goal_failure(self, goals: GoalSet) -> PlanResult:
        counts = goals.counts(chosen=False)
        if goals.hold_broken and not len(goals.order):
            return self._context.fail(
                PlanStatus.HOLD_BROKEN, f"every goal violates the hold of the start ({counts})", counts=counts
            )
        if goals.in_collision:
            why = f": {goals.touches[0]}" if goals.touches else ""
            return self._context.fail(
                PlanStatus.GOAL_IN_COLLISION,
                f"every reachable goal collides{why} ({counts})",
                touches=goals.touches,
                counts=counts,
            )
        return self._context.fail(
            PlanStatus.GOAL_UNREACHABLE, f"no configuration within limits reaches any goal ({counts})", counts=counts
        )


def _is_detour(path: Array) -> bool:
    return _travel(path) > max(LONGEST * float(np.linalg.norm(path[-1] - path[0])), SHORT)


def _travel(path: Array) -> float:
    """Return the length of a path (m, n) in joint space."""
    return float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())
