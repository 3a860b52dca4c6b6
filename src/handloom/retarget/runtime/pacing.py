"""When the worker of a pipelined session starts a step: immediately, or just in time for the next frame."""

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
    """What the worker assumes before it has measured anything."""

    submit_period_s: float = 0.0
    """Time between two frames of the application [s]."""
    compute_duration_s: float = 0.0
    """Cost of one step [s]."""
    compute_sample_window: int = 1
    """How many costs are remembered."""


class Pacing:
    """Pacing rules of a worker; this base class never waits and keeps no statistics."""

    def startup_state(self) -> PacingStartupState:
        """Return the assumptions to begin with."""
        return PacingStartupState()

    def update_submit_period_s(self, current_estimate_s: float, observed_period_s: float) -> float:
        """Return the frame period [s] after one more was seen."""
        del observed_period_s
        return current_estimate_s

    def update_compute_duration_s(self, current_estimate_s: float, observed_duration_s: float) -> float:
        """Return the cost of a step [s] after one more was seen."""
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
        """Return how long to wait before a step [s].

        Args:
            submitted_time_s: When the step was asked for [s].
            now_s: The time [s].
            submission_count: Steps asked for so far, the synchronous first one included.
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
        """Refuse another mode."""
        self.mode = pacing_mode(self.mode)
        if self.mode != RetargetingPacingMode.IMMEDIATE:
            raise InputError(f"ImmediatePacingConfig mode must be 'immediate', got {self.mode!r}")


@dataclass
class DeadlinePacingConfig(Pacing):
    """Start a step late, so that devices are read shortly before the next frame needs the outcome.

    The start is one frame period after the request, less the expected cost and a margin. The cost is the greater of a
    running mean and a percentile of the last costs. ``safety_margin_s`` is the number to tune first.
    """

    mode: RetargetingPacingMode | str = RetargetingPacingMode.DEADLINE
    safety_margin_s: float = 0.015
    """Slack before the next frame [s]."""
    frame_period_adaptation: float = 0.2
    """Weight of a new frame period in its running mean."""
    compute_cost_adaptation: float = 0.25
    """Weight of a new cost in its running mean."""
    spike_guard_window: int = 60
    """How many costs the percentile is taken over."""
    spike_guard_percentile: float = 0.90
    """Which percentile of them, 0 to 1."""
    startup_frame_period_s: float = 0.022
    """Frame period assumed at first [s]."""
    startup_compute_cost_s: float = 0.005
    """Cost assumed at first [s]."""

    def __post_init__(self) -> None:
        """Refuse numbers without meaning."""
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
        """Return how long to wait before a step [s]; a single request has no period to wait for."""
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
