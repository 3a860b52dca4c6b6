"""The motion of the hand between frames as a motion of the end effector."""

import math

import numpy as np

from handloom.retarget.graph.base_retargeter import BaseRetargeter
from handloom.retarget.graph.compute_context import ComputeContext
from handloom.retarget.graph.execution_cache import RetargeterIO
from handloom.retarget.graph.graph_executable import RetargeterIOType
from handloom.retarget.graph.ndarray_type import NDArrayType
from handloom.retarget.graph.tensor_group_type import OptionalType, TensorGroupType
from handloom.retarget.nodes.se3_config import Se3RetargeterConfig, device_pose
from handloom.retarget.quaternions import Quat, Vec3, conjugate, multiply, rotvec

# Tremor below these norms is not motion [m], [rad]; the published thresholds.
STILL_POSITION, STILL_ROTATION = 0.001, 0.01
ZERO: Vec3 = (0.0, 0.0, 0.0)


class Se3RelRetargeter(BaseRetargeter):
    """Gives ``ee_delta`` (6,): scaled position delta [m] and rotation vector [rad] of the hand since the last frame.

    The deltas are a running mean; one shorter than 1 mm or 0.01 rad counts as standing still. The first frame,
    and the first after a reset or after frames without a pose, emits zeros and becomes the new baseline.

    Args:
        config: Settings.
        name: Name of the node.
    """

    OUTPUT = "ee_delta"

    def __init__(self, config: Se3RetargeterConfig, name: str) -> None:
        self._config = config
        self._forget()
        super().__init__(name)

    def _forget(self) -> None:
        self._last: tuple[Vec3, Quat] | None = None
        self._shift: Vec3 = ZERO
        self._turn: Vec3 = ZERO

    def input_spec(self) -> RetargeterIOType:
        """Return the device, optional."""
        return {self._config.input_device: OptionalType(self._config.device_type)}

    def output_spec(self) -> RetargeterIOType:
        """Return one float32 vector (6,)."""
        return {self.OUTPUT: TensorGroupType(self.OUTPUT, [NDArrayType("delta", (6,))])}

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        config = self._config
        pose = device_pose(
            inputs[config.input_device],
            wrist_rotation=config.use_wrist_rotation,
            wrist_position=config.use_wrist_position,
        )
        if context.execution_events.reset or pose is None:
            self._forget()
        delta = np.zeros(6, np.float32)
        if pose is not None and self._last is not None:
            self._smooth(self._last, pose)
            delta[:3] = _scaled(self._shift, STILL_POSITION, config.delta_pos_scale_factor)
            delta[3:] = _scaled(self._turn, STILL_ROTATION, config.delta_rot_scale_factor)
        if pose is not None:
            self._last = pose
        outputs[self.OUTPUT][0] = delta

    def _smooth(self, last: tuple[Vec3, Quat], pose: tuple[Vec3, Quat]) -> None:
        shift = (pose[0][0] - last[0][0], pose[0][1] - last[0][1], pose[0][2] - last[0][2])
        turn = rotvec(multiply(pose[1], conjugate(last[1])))
        if self._config.zero_out_xy_rotation:
            turn = (0.0, 0.0, turn[2])
        self._shift = _mean(self._shift, shift, self._config.alpha_pos)
        self._turn = _mean(self._turn, turn, self._config.alpha_rot)


def _mean(old: Vec3, new: Vec3, alpha: float) -> Vec3:
    keep = 1.0 - alpha
    return alpha * new[0] + keep * old[0], alpha * new[1] + keep * old[1], alpha * new[2] + keep * old[2]


def _scaled(vector: Vec3, still: float, factor: float) -> Vec3:
    if math.sqrt(vector[0] ** 2 + vector[1] ** 2 + vector[2] ** 2) < still:
        return ZERO
    return vector[0] * factor, vector[1] * factor, vector[2] * factor
