"""Keeps joint commands from moving faster than the joints should."""

import math
from collections.abc import Sequence

from handloom.errors import InputError, suggest
from handloom.retarget.graph.base_retargeter import BaseRetargeter
from handloom.retarget.graph.compute_context import ComputeContext
from handloom.retarget.graph.execution_cache import RetargeterIO
from handloom.retarget.graph.graph_executable import RetargeterIOType
from handloom.retarget.graph.tensor_group_type import OptionalType
from handloom.retarget.inputs.robot_values import RobotHandJoints
from handloom.retarget.nodes.rate_limiter_config import RateLimiterConfig


class JointRateLimiter(BaseRetargeter):
    """Passes ``joint_targets`` on, each joint at most v dt per frame.

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
