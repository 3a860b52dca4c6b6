"""Thumbsticks as walking commands."""

import math
from dataclasses import dataclass

import numpy as np

from handloom.retarget.graph.base_retargeter import BaseRetargeter
from handloom.retarget.graph.compute_context import ComputeContext
from handloom.retarget.graph.execution_cache import RetargeterIO
from handloom.retarget.graph.graph_executable import RetargeterIOType
from handloom.retarget.graph.ndarray_type import NDArrayType
from handloom.retarget.graph.tensor_group import OptionalTensorGroup
from handloom.retarget.graph.tensor_group_type import OptionalType, TensorGroupType
from handloom.retarget.inputs.controller_input import ControllerInput, ControllerInputIndex

# The hip of the published humanoid may squat to and stretch to these heights [m].
LOWEST_HIP, HIGHEST_HIP = 0.4, 1.0
OUTPUT = "root_command"


def root_command_type() -> TensorGroupType:
    """Return the type of a root command (4,): vx, vy [m/s], yaw rate [rad/s], hip height [m]."""
    return TensorGroupType(OUTPUT, [NDArrayType("command", (4,))])


@dataclass(frozen=True, kw_only=True)
class LocomotionRootCmdRetargeterConfig:
    """Settings of ``LocomotionRootCmdRetargeter``."""

    initial_hip_height: float = 0.72
    """Hip height before any stick moved, and after a reset [m]."""
    movement_scale: float = 0.5
    """Speed at full stick [m/s]."""
    rotation_scale: float = 0.35
    """Hip speed at full stick [m/s]; the published name."""
    dt: float = 1.0 / 60.0
    """Frame period over which the hip moves [s]."""


class LocomotionRootCmdRetargeter(BaseRetargeter):
    """Gives ``root_command`` (4,): left stick walks, right stick turns and lifts the hip.

    [scale left_y, -scale left_x, -right_x, hip], hip += right_y dt rotation_scale, kept in 0.4..1.0 m. An absent
    controller, or a stick that is not a number, counts as a stick at rest.

    Args:
        config: Settings.
        name: Name of the node.
    """

    LEFT, RIGHT = "controller_left", "controller_right"

    def __init__(self, config: LocomotionRootCmdRetargeterConfig, name: str) -> None:
        self._config = config
        self._hip = config.initial_hip_height
        super().__init__(name)

    def input_spec(self) -> RetargeterIOType:
        """Return both controllers, optional."""
        return {self.LEFT: OptionalType(ControllerInput()), self.RIGHT: OptionalType(ControllerInput())}

    def output_spec(self) -> RetargeterIOType:
        """Return one float32 vector (4,)."""
        return {OUTPUT: root_command_type()}

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        config = self._config
        if context.execution_events.reset:
            self._hip = config.initial_hip_height
        left_x, left_y = _stick(inputs[self.LEFT])
        right_x, right_y = _stick(inputs[self.RIGHT])
        self._hip = min(max(self._hip + right_y * config.dt * config.rotation_scale, LOWEST_HIP), HIGHEST_HIP)
        command = (config.movement_scale * left_y, -config.movement_scale * left_x, -right_x, self._hip)
        outputs[OUTPUT][0] = np.array(command, np.float32)


@dataclass(frozen=True, kw_only=True)
class LocomotionFixedRootCmdRetargeterConfig:
    """Settings of ``LocomotionFixedRootCmdRetargeter``."""

    hip_height: float = 0.72
    """Hip height [m]."""


class LocomotionFixedRootCmdRetargeter(BaseRetargeter):
    """Gives ``root_command`` (4,) of standing still: [0, 0, 0, hip].

    Args:
        config: Settings.
        name: Name of the node.
    """

    stateful = False

    def __init__(self, config: LocomotionFixedRootCmdRetargeterConfig, name: str) -> None:
        self._config = config
        super().__init__(name)

    def input_spec(self) -> RetargeterIOType:
        """Return nothing: the command is fixed."""
        return {}

    def output_spec(self) -> RetargeterIOType:
        """Return one float32 vector (4,)."""
        return {OUTPUT: root_command_type()}

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        outputs[OUTPUT][0] = np.array((0.0, 0.0, 0.0, self._config.hip_height), np.float32)


def _stick(group: OptionalTensorGroup) -> tuple[float, float]:
    if group.is_none:
        return 0.0, 0.0
    x, y = group[ControllerInputIndex.THUMBSTICK_X], group[ControllerInputIndex.THUMBSTICK_Y]
    return (x if math.isfinite(x) else 0.0), (y if math.isfinite(y) else 0.0)
