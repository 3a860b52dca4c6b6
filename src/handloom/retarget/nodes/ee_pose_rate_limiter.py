"""Keeps an end-effector pose command from moving faster than the robot should."""

import math

from handloom.retarget.graph.base_retargeter import BaseRetargeter
from handloom.retarget.graph.compute_context import ComputeContext
from handloom.retarget.graph.execution_cache import RetargeterIO
from handloom.retarget.graph.graph_executable import RetargeterIOType
from handloom.retarget.graph.tensor_group import OptionalTensorGroup
from handloom.retarget.graph.tensor_group_type import OptionalType
from handloom.retarget.inputs.robot_values import EePose
from handloom.retarget.nodes.rate_limiter_config import RateLimiterConfig
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


class EePoseRateLimiter(BaseRetargeter):
    """Passes ``ee_pose`` on, at most v dt along the line and w dt along the shortest arc per frame.

    The first valid frame passes and is the start. Absent frames and positions that are not finite re-emit the
    last pose; a zero quaternion keeps the last orientation. With a rejection velocity set, input that jumped
    faster than that since the last accepted input is held, until so many frames agree that it is real. Before
    the first valid frame the output slot stays unset, and reading it raises. A reset forgets everything; the
    same frame passes.

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
        target = self._target(inputs[self.POSE])
        now_ns = context.graph_time.real_time_ns
        if target is not None:
            dt = self._config.dt(self._time_ns, now_ns)
            if self._is_believed(target, dt):
                self._emitted = target if self._emitted is None else self._limited(self._emitted, target, dt)
                # A clock that ran backwards starts over from its new time.
                self._accepted, self._time_ns = target, now_ns
        if self._emitted is not None:
            outputs[self.POSE][0] = pose_port(*self._emitted)

    def _target(self, group: OptionalTensorGroup) -> tuple[Vec3, Quat] | None:
        if group.is_none:
            return None
        px, py, pz, x, y, z, w = group[0].tolist()
        if not (abs(px) < FARTHEST and abs(py) < FARTHEST and abs(pz) < FARTHEST):
            return None
        quat = usable_quat((w, x, y, z))
        if quat is None:
            if self._emitted is None:
                return None
            quat = self._emitted[1]
        return (px, py, pz), quat

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
