"""Pacing of a pipelined session's worker: steps start immediately, or just in time for the next frame."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from handloom.errors import InputError, suggest


class RetargetingPacingMode(StrEnum):
    """When the worker starts a step."""

    IMMEDIATE = "immediate"
    DEADLINE = "deadline"


@dataclass(frozen=True)
class PacingStartupState:
    """Initial assumptions of the worker, before any measurement."""

    submit_period_s: float = 0.0
    """Time between two frames of the application [s]."""
    compute_duration_s: float = 0.0
    """Cost of one step [s]."""
    compute_sample_window: int = 1
    """Number of costs that are stored."""


class Pacing:
    """Pacing rules of a worker; this base class never waits and keeps no statistics."""

    def startup_state(self) -> PacingStartupState:
        """Return the initial assumptions."""
        return PacingStartupState()

    def update_submit_period_s(self, current_estimate_s: float, observed_period_s: float) -> float:
        """Return the updated frame period [s] after a new sample."""
        del observed_period_s
        return current_estimate_s

    def update_compute_duration_s(self, current_estimate_s: float, observed_duration_s: float) -> float:
        """Return the updated cost of a step [s] after a new sample."""
        del observed_duration_s
        return current_estimate_s

    def compute_delay_s(
        self,
        *,
        submitted_time_s: float,
        now_s: float,
        submission_count: int,
        submit_period_s: float,
        compute_duration_s: float,
        compute_duration_samples: Sequence[float],
    ) -> float:
        """Return the time to wait before a step [s].

        Args:
            submitted_time_s: Time at which the step was requested [s].
            now_s: The time [s].
            submission_count: Number of steps requested so far, including the synchronous first one.
            submit_period_s: Estimated frame period [s].
            compute_duration_s: Estimated cost of a step [s].
            compute_duration_samples: The last costs [s].
        """
        del submitted_time_s, now_s, submission_count, submit_period_s, compute_duration_s, compute_duration_samples
        return 0.0


@dataclass
class ImmediatePacingConfig(Pacing):
    """Start a step as soon as the worker is free."""

    mode: RetargetingPacingMode | str = RetargetingPacingMode.IMMEDIATE

    def __post_init__(self) -> None:
        """Reject another mode."""
        self.mode = pacing_mode(self.mode)
        if self.mode != RetargetingPacingMode.IMMEDIATE:
            raise InputError(f"ImmediatePacingConfig mode must be 'immediate', got {self.mode!r}")


@dataclass
class DeadlinePacingConfig(Pacing):
    """Start a step late, so that devices are read shortly before the next frame needs the result.

    The start is one frame period after the request, minus the expected cost and a margin. The expected cost is the
    larger of a running mean and a percentile of the last costs. ``safety_margin_s`` is the number to tune first.
    """

    mode: RetargetingPacingMode | str = RetargetingPacingMode.DEADLINE
    safety_margin_s: float = 0.015
    """Slack before the next frame [s]."""
    frame_period_adaptation: float = 0.2
    """Weight of a new frame period in its running mean."""
    compute_cost_adaptation: float = 0.25
    """Weight of a new cost in its running mean."""
    spike_guard_window: int = 60
    """Number of costs from which the percentile is computed."""
    spike_guard_percentile: float = 0.90
    """The percentile, 0 to 1."""
    startup_frame_period_s: float = 0.022
    """Initial frame period [s]."""
    startup_compute_cost_s: float = 0.005
    """Initial cost [s]."""

    def __post_init__(self) -> None:
        """Reject numbers without meaning."""
        self.mode = pacing_mode(self.mode)
        if self.mode != RetargetingPacingMode.DEADLINE:
            raise InputError(f"DeadlinePacingConfig mode must be 'deadline', got {self.mode!r}")
        for name in ("frame_period_adaptation", "compute_cost_adaptation", "spike_guard_percentile"):
            if not 0.0 < getattr(self, name) <= 1.0:
                raise InputError(f"{name} must be in (0, 1], got {getattr(self, name)}")
        for name in ("spike_guard_window", "startup_frame_period_s"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name} must be positive, got {getattr(self, name)}")
        for name in ("safety_margin_s", "startup_compute_cost_s"):
            if not getattr(self, name) >= 0:
                raise InputError(f"{name} must be non-negative, got {getattr(self, name)}")

    def startup_state(self) -> PacingStartupState:
        """Return the configured assumptions."""
        return PacingStartupState(self.startup_frame_period_s, self.startup_compute_cost_s, self.spike_guard_window)

    def update_submit_period_s(self, current_estimate_s: float, observed_period_s: float) -> float:
        """Return the running mean of the frame period [s]; a clock that did not advance is ignored."""
        if observed_period_s <= 0.0:
            return current_estimate_s
        return _mean(current_estimate_s, observed_period_s, self.frame_period_adaptation)

    def update_compute_duration_s(self, current_estimate_s: float, observed_duration_s: float) -> float:
        """Return the running mean of the cost [s]."""
        return _mean(current_estimate_s, observed_duration_s, self.compute_cost_adaptation)

    def compute_delay_s(
        self,
        *,
        submitted_time_s: float,
        now_s: float,
        submission_count: int,
        submit_period_s: float,
        compute_duration_s: float,
        compute_duration_samples: Sequence[float],
    ) -> float:
        """Return the time to wait before a step [s]; after a single request there is no period to wait for."""
        if submission_count <= 1:
            return 0.0
        costs = sorted(compute_duration_samples)
        if costs:
            rank = math.ceil(self.spike_guard_percentile * len(costs))
            compute_duration_s = max(compute_duration_s, costs[min(max(rank, 1), len(costs)) - 1])
        start_s = submitted_time_s + submit_period_s - compute_duration_s - self.safety_margin_s
        return max(0.0, start_s - now_s)


def pacing_mode(mode: RetargetingPacingMode | str) -> RetargetingPacingMode:
    """Return a mode by its name.

    Raises:
        InputError: There is no such mode.
    """
    if mode not in tuple(RetargetingPacingMode):
        raise InputError(f"there is no pacing mode {mode!r}; {suggest(str(mode), tuple(RetargetingPacingMode))}")
    return RetargetingPacingMode(mode)


def pacing_of(given: Pacing | RetargetingPacingMode | str) -> Pacing:
    """Return the given rules, or the default ones of a mode."""
    if isinstance(given, Pacing):
        return given
    return DeadlinePacingConfig() if pacing_mode(given) == RetargetingPacingMode.DEADLINE else ImmediatePacingConfig()


def _mean(old: float, new: float, weight: float) -> float:
    return weight * new + (1.0 - weight) * old
