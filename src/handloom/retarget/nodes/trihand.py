"""Controls a three-finger hand with trigger and squeeze."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from handloom.errors import InputError, suggest
from handloom.retarget.graph.execution import ComputeContext, RetargeterIO, RetargeterIOType
from handloom.retarget.graph.groups import OptionalTensorGroup, OptionalType
from handloom.retarget.graph.retargeter import BaseRetargeter
from handloom.retarget.inputs import ControllerInput, ControllerInputIndex, RobotHandJoints

SIDES = ("left", "right")
JOINTS = 7
"""Thumb rotation, proximal and distal, index proximal and distal, middle proximal and distal."""


@dataclass
class TriHandMotionControllerConfig:
    """Settings of ``TriHandMotionControllerRetargeter``."""

    hand_joint_names: Sequence[str]
    """The seven joints: thumb rotation, proximal, distal, index proximal, distal, middle proximal, distal."""
    controller_side: str = "left"
    """``left`` or ``right``."""


class TriHandMotionControllerRetargeter(BaseRetargeter):
    """Outputs ``hand_joints`` [rad]: the trigger bends the index, the squeeze the middle finger, both the thumb.

    The thumb turns by half of squeeze minus trigger. Joints of the left hand have the opposite sign, except for the
    thumb rotation. An absent controller opens the hand.

    Args:
        config: Settings.
        name: Name of the node.
    """

    OUTPUT = "hand_joints"
    THUMB_PROXIMAL_SCALE: ClassVar[float] = 0.4
    THUMB_DISTAL_SCALE: ClassVar[float] = 0.7
    THUMB_ROTATION_TRIGGER_SCALE: ClassVar[float] = 0.5
    THUMB_ROTATION_SQUEEZE_SCALE: ClassVar[float] = 0.5
    stateful = False

    def __init__(self, config: TriHandMotionControllerConfig, name: str) -> None:
        if config.controller_side not in SIDES:
            raise InputError(f"controller_side must be 'left' or 'right', got: {config.controller_side}")
        if len(config.hand_joint_names) != JOINTS:
            raise InputError(f"hand {name!r}: the hand has {JOINTS} joints, got {len(config.hand_joint_names)} names")
        self._side, self._joints = config.controller_side, tuple(config.hand_joint_names)
        super().__init__(name)

    def input_spec(self) -> RetargeterIOType:
        """Return the controller of the side, optional."""
        return {f"controller_{self._side}": OptionalType(ControllerInput())}

    def output_spec(self) -> RetargeterIOType:
        """Return one float per joint."""
        return {self.OUTPUT: RobotHandJoints(f"hand_joints_{self._side}", self._joints)}

    def joint_values(self, controller: OptionalTensorGroup) -> dict[str, float]:
        """Return the joints [rad] by name."""
        trigger = squeeze = 0.0
        if not controller.is_none:
            trigger = controller[ControllerInputIndex.TRIGGER_VALUE]
            squeeze = controller[ControllerInputIndex.SQUEEZE_VALUE]
        press = max(trigger, squeeze)
        sign = -1.0 if self._side == "left" else 1.0
        values = (
            squeeze * self.THUMB_ROTATION_SQUEEZE_SCALE - trigger * self.THUMB_ROTATION_TRIGGER_SCALE,
            -sign * press * self.THUMB_PROXIMAL_SCALE,
            -sign * press * self.THUMB_DISTAL_SCALE,
            *(sign * trigger,) * 2,
            *(sign * squeeze,) * 2,
        )
        return dict(zip(self._joints, values, strict=True))

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        values = self.joint_values(inputs[f"controller_{self._side}"])
        for index, joint in enumerate(self._joints):
            outputs[self.OUTPUT][index] = values[joint]


class TriHandBiManualMotionControllerRetargeter(BaseRetargeter):
    """Outputs ``hand_joints`` of both hands in a single order.

    Args:
        left_config: The left hand.
        right_config: The right hand.
        target_joint_names: Joints of the output, each belonging to one of the hands.
        name: Name of the node.
    """

    OUTPUT = "hand_joints"
    LEFT, RIGHT = "controller_left", "controller_right"
    stateful = False

    def __init__(
        self,
        left_config: TriHandMotionControllerConfig,
        right_config: TriHandMotionControllerConfig,
        target_joint_names: Sequence[str],
        name: str,
    ) -> None:
        self._left = TriHandMotionControllerRetargeter(left_config, f"{name}_left")
        self._right = TriHandMotionControllerRetargeter(right_config, f"{name}_right")
        self._joints = tuple(target_joint_names)
        known = [*left_config.hand_joint_names, *right_config.hand_joint_names]
        for joint in self._joints:
            if joint not in known:
                raise InputError(f"hands {name!r}: no hand has a joint {joint!r}; {suggest(joint, known)}")
        super().__init__(name)

    def input_spec(self) -> RetargeterIOType:
        """Return both controllers, optional."""
        return {self.LEFT: OptionalType(ControllerInput()), self.RIGHT: OptionalType(ControllerInput())}

    def output_spec(self) -> RetargeterIOType:
        """Return one float per joint."""
        return {self.OUTPUT: RobotHandJoints("hand_joints_bimanual", self._joints)}

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        values = self._left.joint_values(inputs[self.LEFT]) | self._right.joint_values(inputs[self.RIGHT])
        for index, joint in enumerate(self._joints):
            outputs[self.OUTPUT][index] = values[joint]
