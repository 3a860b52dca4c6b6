"""Pedals and a rudder as walking commands."""

import math
from dataclasses import dataclass

import numpy as np

from handloom.errors import InputError, suggest
from handloom.retarget.graph.base_retargeter import BaseRetargeter
from handloom.retarget.graph.compute_context import ComputeContext
from handloom.retarget.graph.execution_cache import RetargeterIO
from handloom.retarget.graph.graph_executable import RetargeterIOType
from handloom.retarget.graph.tensor_group_type import OptionalType
from handloom.retarget.inputs.robot_values import Generic3AxisPedalInput
from handloom.retarget.nodes.locomotion_retargeter import LOWEST_HIP, OUTPUT, root_command_type

MODES = ("horizontal", "vertical")


@dataclass(frozen=True, kw_only=True)
class FootPedalRootCmdRetargeterConfig:
    """Settings of ``FootPedalRootCmdRetargeter``; thresholds are fractions of full travel."""

    mode: str = "horizontal"
    """``horizontal`` walks, ``vertical`` squats with the left pedal."""
    hip_height: float = 0.72
    """Standing hip height [m]."""
    dead_zone: float = 0.05
    """Travel that counts as rest."""
    strafe_rudder: float = 0.2
    """Rudder beyond this while a pedal is down walks sideways."""
    strafe_pedal: float = 0.1
    """Pedal beyond this counts as down."""
    turn_rudder: float = 0.1
    """Rudder beyond this without a pedal turns."""

    def __post_init__(self) -> None:
        """Refuse unknown modes."""
        if self.mode not in MODES:
            raise InputError(f"no pedal mode {self.mode!r}; {suggest(self.mode, MODES)}")


class FootPedalRootCmdRetargeter(BaseRetargeter):
    """Gives ``root_command`` (4,): pedals walk forward and back, the rudder strafes or turns.

    An absent pedal, or a value that is not a number, counts as rest.

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
        hip = config.hip_height
        if config.mode == "vertical":
            hip -= min(max(left, 0.0), 1.0) * (config.hip_height - LOWEST_HIP)
            left = 0.0
        vx, vy, yaw = min(max(right - left, -1.0), 1.0), 0.0, 0.0
        pedal = max(left, right)
        if pedal > config.strafe_pedal and abs(rudder) > config.strafe_rudder:
            vx, vy = 0.0, rudder * pedal
        elif pedal <= config.strafe_pedal and abs(rudder) > config.turn_rudder:
            yaw = rudder
        outputs[OUTPUT][0] = np.array((vx, vy, yaw, hip), np.float32)

    def _live(self, value: float) -> float:
        return value if math.isfinite(value) and abs(value) > self._config.dead_zone else 0.0
