"""Shared state of the steps of a planning request: checkers, notes, timings, and the result."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.motion.collision import PathCollision
from handloom.motion.planning.path_end import BlockedEnd, OpenEnd, PathEnd, look_at_end
from handloom.motion.planning.path_search import ROUNDS, Found, Search
from handloom.motion.planning.plan_result import PlanResult, PlanStatus
from handloom.motion.planning.planner_options import PlannerOptions
from handloom.motion.planning.scene_check import SceneCheck


class PlanContext:
    """A request in progress."""

    def __init__(self, scene: SceneCheck, open_end: OpenEnd, search: Search, options: PlannerOptions) -> None:
        self.scene, self.open_end, self.options = scene, open_end, options
        self.tree = scene.robot.tree
        self.notes: list[str] = []
        self.iterations = 0
        self.use(search)

    def use(self, search: Search) -> None:
        """Use this search from now on."""
        self.search = search
        search.reset()

    def fail(self, status: PlanStatus, reason: str, **details: Any) -> PlanResult:
        """End the request without a path."""
        return self._result(status, np.empty((0, self.tree.dof)), reason=reason, **details)

    def succeed(self, *segments: Array, **details: Any) -> PlanResult:
        """End the request with the path of each stage."""
        path = np.concatenate([segments[0], *(segment[1:] for segment in segments[1:])])
        return self._result(PlanStatus.SUCCESS, path, segments=segments, **details)

    def _result(self, status: PlanStatus, path: Array, **details: Any) -> PlanResult:
        return PlanResult(
            status=status,
            path=path,
            notes=tuple(self.notes),
            iterations=self.iterations,
            timings=dict(self.search.timings),
            **details,
        )

    def within_limits(self, q: ArrayLike, what: str, status: PlanStatus) -> Array | PlanResult:
        """Return a configuration moved into the limits, or the failure if it is too far outside."""
        given = np.array(q, float)
        tree = self.tree
        if given.shape != (tree.dof,):
            raise InputError(f"a {what} configuration must have {tree.dof} values here, got shape {given.shape}")
        if not np.all(np.isfinite(given)):
            bad = tree.joint_names[int(np.argmin(np.isfinite(given)))]
            return self.fail(PlanStatus.INVALID_REQUEST, f"the {what} value of joint {bad} is not finite", joint=bad)
        clipped = np.clip(given, tree.lower, tree.upper)
        excess = np.abs(given - clipped)
        worst = int(np.argmax(excess))
        if excess[worst] > self.options.limit_tolerance:
            name, side = tree.joint_names[worst], "above" if given[worst] > tree.upper[worst] else "below"
            return self.fail(
                status,
                f"joint {name} of the {what} is at {given[worst]:.4f}, {excess[worst]:.4f} {side} its range "
                f"[{tree.lower[worst]:.4f}, {tree.upper[worst]:.4f}]",
                joint=name,
                excess=float(excess[worst]),
            )
        if excess[worst] > 0.0:
            moved = ", ".join(f"{tree.joint_names[k]} by {excess[k]:.2g}" for k in np.flatnonzero(excess))
            self.notes.append(f"the {what} was moved into the joint limits: {moved}")
        return clipped

    def look(self, q: Array, *, overlap: float) -> PathEnd | BlockedEnd:
        """Decide whether a path can start or end at a configuration."""
        options = self.options
        return look_at_end(
            self.scene, self.open_end, q, padding=options.padding, step=options.exact_step, overlap=overlap
        )

    def start(self, q: ArrayLike) -> PathEnd | PlanResult:
        """Return the start of a path, or the failure."""
        inside = self.within_limits(q, "start", PlanStatus.START_OUT_OF_LIMITS)
        if isinstance(inside, PlanResult):
            return inside
        end = self.look(inside, overlap=self.options.contact_tolerance)
        if isinstance(end, BlockedEnd):
            reason = f"the start collides: {end}" if end.touches else f"the start is enclosed: {end}"
            return self.fail(PlanStatus.START_IN_COLLISION, reason, touches=end.touches or end.near)
        if end.tolerated:
            self.notes.append(f"the start is in contact, which was tolerated: {end.tolerated[0]}")
        return end

    def find(
        self, start: PathEnd, goals: Sequence[PathEnd], *, iterations: int | None = None, rounds: int = len(ROUNDS)
    ) -> Found:
        """Search for a path; count the samples and note if it had to come closer to obstacles than requested."""
        wanted, budget = self.options.padding, self.options.iterations if iterations is None else iterations
        found = self.search.run(self.scene, start, goals, iterations=budget, rounds=rounds)
        self.iterations += found.iterations
        if found.path is not None and found.padding < wanted:
            self.notes.append(narrow_passage(wanted, found.padding))
        return found

    def no_path(self, refused: PathCollision | None, **details: Any) -> PlanResult:
        """End the request after the searches."""
        if refused is not None:
            return self.fail(
                PlanStatus.VERIFICATION_FAILED,
                f"exact verification rejected every path found; the last one: {refused.touch}",
                touches=(refused.touch,),
                **details,
            )
        return self.fail(
            PlanStatus.NO_PATH,
            nothing_found(self.iterations),
            **details,
        )


def narrow_passage(wanted: float, padding: float) -> str:
    """Return the note that a path keeps less distance from obstacles than the requested one [m]."""
    return (
        f"a passage was too narrow for the padding of {1000 * wanted:.0f} mm; "
        f"the path was searched with {1000 * padding:.0f} mm and is exactly free"
    )


def nothing_found(samples: int) -> str:
    """Return the reason why there is no path after this many samples."""
    return f"no path was found in {samples} samples; there may be none, or more iterations are needed"
