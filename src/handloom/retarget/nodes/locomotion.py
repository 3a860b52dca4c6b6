"""Walking commands from thumbsticks or from pedals and a rudder."""

import math
from dataclasses import dataclass

import numpy as np

from handloom.errors import InputError, suggest
from handloom.retarget.graph.execution import ComputeContext, RetargeterIO, RetargeterIOType
from handloom.retarget.graph.groups import OptionalTensorGroup, OptionalType, TensorGroupType
from handloom.retarget.graph.retargeter import BaseRetargeter
from handloom.retarget.graph.types import NDArrayType
from handloom.retarget.inputs import ControllerInput, ControllerInputIndex, Generic3AxisPedalInput

# Lowest and highest hip height of the published humanoid [m].
LOWEST_HIP, HIGHEST_HIP = 0.4, 1.0
OUTPUT = "root_command"


def root_command_type() -> TensorGroupType:
    """Return the type of a root command (4,): vx, vy [m/s], yaw rate [rad/s], hip height [m]."""
    return TensorGroupType(OUTPUT, [NDArrayType("command", (4,))])


@dataclass
class LocomotionRootCmdRetargeterConfig:
    """Settings of ``LocomotionRootCmdRetargeter``."""

    initial_hip_height: float = 0.72
    """Hip height before any stick input, and after a reset [m]."""
    movement_scale: float = 0.5
    """Speed at full stick [m/s]."""
    rotation_scale: float = 0.35
    """Hip speed at full stick [m/s]; the published name."""
    dt: float = 1.0 / 60.0
    """Frame period used to integrate the hip height [s]."""


class LocomotionRootCmdRetargeter(BaseRetargeter):
    """Outputs ``root_command`` (4,): the left stick walks, the right stick turns and changes the hip height.

    [scale left_y, -scale left_x, -right_x, hip], hip += right_y dt rotation_scale, kept in 0.4..1.0 m. An absent
    controller, or a stick that is not a number, counts as centred.

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


@dataclass
class LocomotionFixedRootCmdRetargeterConfig:
    """Settings of ``LocomotionFixedRootCmdRetargeter``."""

    hip_height: float = 0.72
    """Hip height [m]."""


class LocomotionFixedRootCmdRetargeter(BaseRetargeter):
    """Outputs the ``root_command`` (4,) for standing still: [0, 0, 0, hip].

    Args:
        config: Settings.
        name: Name of the node.
    """

    stateful = False

    def __init__(self, config: LocomotionFixedRootCmdRetargeterConfig, name: str) -> None:
        self._config = config
        super().__init__(name)

    def input_spec(self) -> RetargeterIOType:
        """Return no ports: the command is fixed."""
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


MODES = ("horizontal", "vertical")


@dataclass
class FootPedalRootCmdRetargeterConfig:
    """Settings of ``FootPedalRootCmdRetargeter``; thresholds are fractions of full travel."""

    max_linear_vel_mps: float = 1.0
    """Speed at full pedal [m/s]."""
    max_angular_vel_radps: float = 1.0
    """Yaw rate at full rudder [rad/s]."""
    min_squat_pos: float = 0.4
    """Lowest hip height [m]."""
    max_squat_pos: float = 0.72
    """Standing hip height [m]."""
    deadzone_threshold: float = 0.05
    """Travel below which a pedal or the rudder counts as at rest."""
    yaw_rudder_threshold: float = 0.1
    """Rudder travel above which the robot turns, if no pedal is pressed."""
    strafe_rudder_threshold: float = 0.2
    """Rudder travel above which the robot walks sideways, if a pedal is pressed."""
    strafe_pedal_pressed_threshold: float = 0.1
    """Pedal travel above which a pedal counts as pressed."""
    mode: str = "horizontal"
    """``horizontal`` walks with both pedals; ``vertical`` lowers the hip with the left one and never walks forward."""

    def __post_init__(self) -> None:
        """Reject unknown modes."""
        if self.mode not in MODES:
            raise InputError(f"no pedal mode {self.mode!r}; {suggest(self.mode, MODES)}")


class FootPedalRootCmdRetargeter(BaseRetargeter):
    """Outputs ``root_command`` (4,): pedals walk forward and back or lower the hip, the rudder strafes or turns.

    With a pedal pressed, the rudder commands sideways walking at rudder times pedal, with no forward motion; otherwise
    it turns the robot. In ``vertical`` mode there is no forward walking, but the rudder still commands sideways walking
    with a pedal. An absent pedal, or a value that is not a number, counts as at rest.

    Args:
        config: Settings.
        name: Name of the node.
    """

    PEDALS = "pedals"
    stateful = False

    def __init__(self, config: FootPedalRootCmdRetargeterConfig, name: str) -> None:
        self._config = config
        super().__init__(name)

    def input_spec(self) -> RetargeterIOType:
        """Return the pedals, optional."""
        return {self.PEDALS: OptionalType(Generic3AxisPedalInput())}

    def output_spec(self) -> RetargeterIOType:
        """Return one float32 vector (4,)."""
        return {OUTPUT: root_command_type()}

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        config, group = self._config, inputs[self.PEDALS]
        left, right, rudder = (0.0, 0.0, 0.0) if group.is_none else (self._live(group[i]) for i in range(3))
        walks = config.mode == "horizontal"
        vx, vy, yaw = (min(max(right - left, -1.0), 1.0) if walks else 0.0), 0.0, 0.0
        pedal = max(left, right)
        if pedal > config.strafe_pedal_pressed_threshold:
            if abs(rudder) > config.strafe_rudder_threshold:
                vx, vy = 0.0, min(max(rudder * pedal, -1.0), 1.0)
        elif abs(rudder) > config.yaw_rudder_threshold:
            yaw = min(max(rudder, -1.0), 1.0)
        squat = 0.0 if walks else min(max(left, 0.0), 1.0)
        hip = config.max_squat_pos - squat * (config.max_squat_pos - config.min_squat_pos)
        fast, turn = config.max_linear_vel_mps, config.max_angular_vel_radps
        outputs[OUTPUT][0] = np.array((vx * fast, vy * fast, yaw * turn, hip), np.float32)

    def _live(self, value: float) -> float:
        return value if math.isfinite(value) and abs(value) > self._config.deadzone_threshold else 0.0
