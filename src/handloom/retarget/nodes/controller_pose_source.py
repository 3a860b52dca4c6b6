"""A controller's pose as a pose command, without a clutch."""

from enum import StrEnum

from handloom.retarget.graph.base_retargeter import BaseRetargeter
from handloom.retarget.graph.compute_context import ComputeContext
from handloom.retarget.graph.execution_cache import RetargeterIO
from handloom.retarget.graph.graph_executable import RetargeterIOType
from handloom.retarget.graph.tensor_group_type import OptionalType
from handloom.retarget.inputs.controller_input import ControllerInput
from handloom.retarget.inputs.robot_values import EePose
from handloom.retarget.nodes.controller_pose import checked_pose_name, controller_pose
from handloom.retarget.quaternions import pose_port


class ControllerPose(StrEnum):
    """Which of the two poses of a controller."""

    GRIP = "grip"
    AIM = "aim"


class ControllerPoseSource(BaseRetargeter):
    """Gives ``ee_pose``, the chosen pose of the controller; absent in frames without one.

    Args:
        name: Name of the node.
        pose: Grip or aim.
        input_device: Port of the controller.
    """

    OUTPUT = "ee_pose"
    stateful = False

    def __init__(
        self, name: str, pose: ControllerPose | str = ControllerPose.GRIP, input_device: str = "controller_right"
    ) -> None:
        self._device, self._pose = input_device, checked_pose_name(str(pose))
        super().__init__(name)

    def input_spec(self) -> RetargeterIOType:
        """Return the controller, optional."""
        return {self._device: OptionalType(ControllerInput())}

    def output_spec(self) -> RetargeterIOType:
        """Return the pose (7,), optional."""
        return {self.OUTPUT: OptionalType(EePose())}

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        pose = controller_pose(inputs[self._device], self._pose)
        if pose is not None:
            outputs[self.OUTPUT][0] = pose_port(*pose)
