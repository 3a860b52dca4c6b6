"""Rate limits for pose and joint commands."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from handloom.errors import InputError, suggest
from handloom.retarget.graph.execution import ComputeContext, RetargeterIO, RetargeterIOType
from handloom.retarget.graph.groups import OptionalTensorGroup, OptionalType
from handloom.retarget.graph.retargeter import BaseRetargeter
from handloom.retarget.inputs import EePose, RobotHandJoints
from handloom.retarget.quaternions import (
    FARTHEST,
    Quat,
    Vec3,
    conjugate,
    multiply,
    pose_port,
    rotvec,
    toward,
    usable_quat,
)


@dataclass
class RateLimiterConfig:
    """Settings of ``EePoseRateLimiter`` and ``JointRateLimiter``."""

    max_linear_velocity: float = 0.25
    """Maximum speed of the end effector [m/s]."""
    max_angular_velocity: float = 1.5
    """Maximum rotation speed of the end effector [rad/s]."""
    max_joint_velocity: float = 1.5
    """Maximum joint speed [rad/s or m/s]."""
    joint_velocity_overrides: Mapping[str, float] = field(default_factory=dict)
    """Limits of single joints [rad/s or m/s]."""
    nominal_dt: float = 1.0 / 60.0
    """Frame period assumed when the clock does not advance [s]."""
    max_dt: float = 0.1
    """Upper bound of the estimated frame period [s]."""
    min_dt: float = 1e-4
    """Lower bound of the estimated frame period [s]."""
    reject_linear_velocity: float | None = None
    """Input speed above which a frame is rejected as an anomaly [m/s]; None rejects nothing."""
    reject_angular_velocity: float | None = None
    """The same for rotation [rad/s]."""
    reject_joint_velocity: float | None = None
    """The same for joints [rad/s or m/s]."""
    max_consecutive_rejections: int | None = 30
    """Number of rejected frames after which the input is accepted, still rate-limited; None rejects indefinitely."""

    def __post_init__(self) -> None:
        """Reject limits that are not positive, periods out of order, and rejection below the limit."""
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
        """Return the estimated frame period [s]; nominal without a previous frame or if time does not advance."""
        if previous_ns is None or now_ns <= previous_ns:
            return self.nominal_dt
        return min(max((now_ns - previous_ns) / 1e9, self.min_dt), self.max_dt)

    def gives_up(self, rejections: int) -> bool:
        """Return whether the input counts as real after this many consecutive rejections."""
        return self.max_consecutive_rejections is not None and rejections >= self.max_consecutive_rejections


class EePoseRateLimiter(BaseRetargeter):
    """Passes ``ee_pose`` on, limited to v dt along the line and w dt along the shortest arc per frame.

    The first valid frame passes unchanged and is the start. Absent frames and positions that are not finite re-emit the
    last pose; a zero quaternion keeps the last orientation. With a rejection velocity set, a faster jump counts as a
    tracking glitch and the last pose is repeated; after ``max_consecutive_rejections`` such frames the input is
    accepted. Before the first valid frame the output slot stays unset, and reading it raises. A reset clears the state;
    the frame of the reset passes unchanged.

    Args:
        name: Name of the node.
        config: Limits.
    """

    POSE = "ee_pose"

    def __init__(self, name: str, config: RateLimiterConfig | None = None) -> None:
        self._config = config or RateLimiterConfig()
        self._forget()
        super().__init__(name)

    def _forget(self) -> None:
        self._emitted: tuple[Vec3, Quat] | None = None
        self._accepted: tuple[Vec3, Quat] | None = None
        self._time_ns: int | None = None
        self._rejections = 0

    def input_spec(self) -> RetargeterIOType:
        """Return the pose, optional."""
        return {self.POSE: OptionalType(EePose())}

    def output_spec(self) -> RetargeterIOType:
        """Return the pose (7,); its slot is unset until the first valid frame."""
        return {self.POSE: EePose()}

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        if context.execution_events.reset:
            self._forget()
        position, quat = self._target(inputs[self.POSE])
        now_ns = context.graph_time.real_time_ns
        if position is not None and self._emitted is None and quat is not None:
            self._emitted = self._accepted = (position, quat)
            self._time_ns = now_ns
        elif position is not None and self._emitted is not None and self._accepted is not None:
            dt = self._config.dt(self._time_ns, now_ns)
            # A zero quaternion has no information: the output keeps its orientation, and the input counts as not
            # rotated. The two differ while the output lags behind.
            seen = (position, quat or self._accepted[1])
            if self._is_believed(seen, dt):
                self._emitted = self._limited(self._emitted, (position, quat or self._emitted[1]), dt)
                # After the clock has run backwards, time is counted from its new value.
                self._accepted, self._time_ns = seen, now_ns
        if self._emitted is not None:
            outputs[self.POSE][0] = pose_port(*self._emitted)

    def _target(self, group: OptionalTensorGroup) -> tuple[Vec3 | None, Quat | None]:
        """Return position and orientation of a frame, None for each that is missing."""
        if group.is_none:
            return None, None
        px, py, pz, x, y, z, w = group[0].tolist()
        if not (abs(px) < FARTHEST and abs(py) < FARTHEST and abs(pz) < FARTHEST):
            return None, None
        return (px, py, pz), usable_quat((w, x, y, z))

    def _is_believed(self, target: tuple[Vec3, Quat], dt: float) -> bool:
        config = self._config
        if self._accepted is not None and not config.gives_up(self._rejections):
            linear, angular = _distance(self._accepted, target)
            too_fast = (config.reject_linear_velocity is not None and linear > config.reject_linear_velocity * dt) or (
                config.reject_angular_velocity is not None and angular > config.reject_angular_velocity * dt
            )
            if too_fast:
                self._rejections += 1
                return False
        self._rejections = 0
        return True

    def _limited(self, start: tuple[Vec3, Quat], target: tuple[Vec3, Quat], dt: float) -> tuple[Vec3, Quat]:
        linear, angular = _distance(start, target)
        (ax, ay, az), (bx, by, bz) = start[0], target[0]
        reach, turn = self._config.max_linear_velocity * dt, self._config.max_angular_velocity * dt
        position = target[0]
        if linear > reach:
            f = reach / linear
            position = (ax + f * (bx - ax), ay + f * (by - ay), az + f * (bz - az))
        quat = target[1] if angular <= turn else toward(start[1], target[1], turn / angular)
        return position, quat


def _distance(a: tuple[Vec3, Quat], b: tuple[Vec3, Quat]) -> tuple[float, float]:
    """Return the distance [m] and the angle [rad] between two poses."""
    return math.dist(a[0], b[0]), math.hypot(*rotvec(multiply(conjugate(a[1]), b[1])))


class JointRateLimiter(BaseRetargeter):
    """Passes ``joint_targets`` on, limited to v dt per joint and frame.

    The same rules as ``EePoseRateLimiter``; one joint that is not finite or jumps too fast holds the whole frame.

    Args:
        name: Name of the node.
        joint_names: Names of the joints, in order.
        config: Limits.
    """

    TARGETS = "joint_targets"

    def __init__(self, name: str, joint_names: Sequence[str], config: RateLimiterConfig | None = None) -> None:
        self._config = config or RateLimiterConfig()
        self._joints = tuple(joint_names)
        if not self._joints:
            raise InputError(f"joint limiter {name!r} needs at least one joint name")
        for joint in self._config.joint_velocity_overrides:
            if joint not in self._joints:
                raise InputError(
                    f"joint_velocity_overrides of {name!r}: no joint {joint!r}; {suggest(joint, joint_names)}"
                )
        overrides = self._config.joint_velocity_overrides
        self._limits = [overrides.get(joint, self._config.max_joint_velocity) for joint in self._joints]
        self._forget()
        super().__init__(name)

    def _forget(self) -> None:
        self._emitted: list[float] | None = None
        self._accepted: list[float] | None = None
        self._time_ns: int | None = None
        self._rejections = 0

    def input_spec(self) -> RetargeterIOType:
        """Return one float per joint, optional."""
        return {self.TARGETS: OptionalType(RobotHandJoints(self.TARGETS, self._joints))}

    def output_spec(self) -> RetargeterIOType:
        """Return one float per joint; the slots are unset until the first valid frame."""
        return {self.TARGETS: RobotHandJoints(self.TARGETS, self._joints)}

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        if context.execution_events.reset:
            self._forget()
        group, now_ns = inputs[self.TARGETS], context.graph_time.real_time_ns
        target = None if group.is_none else [group[index] for index in range(len(group))]
        if target is not None and all(map(math.isfinite, target)):
            dt = self._config.dt(self._time_ns, now_ns)
            if self._is_believed(target, dt):
                self._emitted = target if self._emitted is None else self._limited(self._emitted, target, dt)
                self._accepted, self._time_ns = target, now_ns
        if self._emitted is not None:
            for index, value in enumerate(self._emitted):
                outputs[self.TARGETS][index] = value

    def _is_believed(self, target: list[float], dt: float) -> bool:
        reject = self._config.reject_joint_velocity
        if reject is not None and self._accepted is not None and not self._config.gives_up(self._rejections):
            fastest = max(abs(new - old) for new, old in zip(target, self._accepted, strict=True))
            if fastest > reject * dt:
                self._rejections += 1
                return False
        self._rejections = 0
        return True

    def _limited(self, start: list[float], target: list[float], dt: float) -> list[float]:
        return [
            old + min(max(new - old, -limit * dt), limit * dt)
            for old, new, limit in zip(start, target, self._limits, strict=True)
        ]
