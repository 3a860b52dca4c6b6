"""Settings of the rate limiters, and the clock they share."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from handloom.errors import InputError


@dataclass(frozen=True, kw_only=True)
class RateLimiterConfig:
    """Settings of ``EePoseRateLimiter`` and ``JointRateLimiter``."""

    max_linear_velocity: float = 0.25
    """Fastest motion of the end effector [m/s]."""
    max_angular_velocity: float = 1.5
    """Fastest rotation of the end effector [rad/s]."""
    max_joint_velocity: float = 1.5
    """Fastest joint [rad/s or m/s]."""
    joint_velocity_overrides: Mapping[str, float] = field(default_factory=dict)
    """Limits of single joints [rad/s or m/s]."""
    nominal_dt: float = 1.0 / 60.0
    """Frame period assumed when the clock does not advance [s]."""
    max_dt: float = 0.1
    """Longest frame period believed [s]."""
    min_dt: float = 1e-4
    """Shortest frame period believed [s]."""
    reject_linear_velocity: float | None = None
    """Input faster than this is an anomaly and held [m/s]; None rejects nothing."""
    reject_angular_velocity: float | None = None
    """The same for rotation [rad/s]."""
    reject_joint_velocity: float | None = None
    """The same for joints [rad/s or m/s]."""
    max_consecutive_rejections: int | None = 30
    """After so many rejected frames the input is believed, still limited; None holds for ever."""

    def __post_init__(self) -> None:
        """Refuse limits that are not positive, periods out of order, and rejection below the limit."""
        numbers = {
            name: getattr(self, name)
            for name in (
                "max_linear_velocity",
                "max_angular_velocity",
                "max_joint_velocity",
                "nominal_dt",
                "max_dt",
                "min_dt",
                "reject_linear_velocity",
                "reject_angular_velocity",
                "reject_joint_velocity",
                "max_consecutive_rejections",
            )
        }
        numbers |= {f"joint_velocity_overrides[{joint!r}]": v for joint, v in self.joint_velocity_overrides.items()}
        for name, value in numbers.items():
            if value is not None and not 0.0 < value < math.inf:
                raise InputError(f"{name} must be finite and > 0, got {value}")
        if not self.min_dt <= self.nominal_dt <= self.max_dt:
            raise InputError(
                f"min_dt <= nominal_dt <= max_dt must hold, got {self.min_dt}, {self.nominal_dt}, {self.max_dt}"
            )
        self._check_rejection("linear", (self.max_linear_velocity,))
        self._check_rejection("angular", (self.max_angular_velocity,))
        self._check_rejection("joint", (self.max_joint_velocity, *self.joint_velocity_overrides.values()))

    def _check_rejection(self, kind: str, limits: tuple[float, ...]) -> None:
        reject = getattr(self, f"reject_{kind}_velocity")
        if reject is not None and reject < max(limits):
            raise InputError(
                f"reject_{kind}_velocity must not be below the limit {max(limits)}, got {reject}: "
                "motion within the limit would be rejected"
            )

    def dt(self, previous_ns: int | None, now_ns: int) -> float:
        """Return the believed frame period [s]; nominal without a previous frame or when time does not advance."""
        if previous_ns is None or now_ns <= previous_ns:
            return self.nominal_dt
        return min(max((now_ns - previous_ns) / 1e9, self.min_dt), self.max_dt)

    def gives_up(self, rejections: int) -> bool:
        """Say whether so many rejections in a row mean that the input is real after all."""
        return self.max_consecutive_rejections is not None and rejections >= self.max_consecutive_rejections
