"""A controller's pose: reading it, and the nodes that pass it on, either always or while it is squeezed."""

from enum import StrEnum

from handloom.errors import InputError, suggest
from handloom.retarget.graph.execution import ComputeContext, RetargeterIO, RetargeterIOType
from handloom.retarget.graph.groups import OptionalTensorGroup, OptionalType
from handloom.retarget.graph.retargeter import BaseRetargeter
from handloom.retarget.inputs import ControllerInput, ControllerInputIndex, EePose
from handloom.retarget.quaternions import Quat, Vec3, pose_port, usable_pose

# (position, orientation, is_valid) in ControllerInput.
POSE_SLOTS = {"grip": (0, 1, 2), "aim": (3, 4, 5)}


def checked_pose_name(pose: str) -> str:
    """Return ``grip`` or ``aim``, or reject anything else."""
    if pose not in POSE_SLOTS:
        raise InputError(f"a controller has no pose {pose!r}; {suggest(pose, POSE_SLOTS)}")
    return pose


def controller_pose(group: OptionalTensorGroup, pose: str = "grip") -> tuple[Vec3, Quat] | None:
    """Return position [m] and unit quaternion (w, x, y, z), or None if this frame carries no pose.

    A frame has no pose if the controller is absent, its pose is flagged invalid, the position is not finite
    or the quaternion is shorter than 1e-6.
    """
    position, orientation, is_valid = POSE_SLOTS[pose]
    if group.is_none or not group[is_valid]:
        return None
    return usable_pose(group[position], group[orientation])


class ControllerPose(StrEnum):
    """One of the two poses of a controller."""

    GRIP = "grip"
    AIM = "aim"


class ControllerPoseSource(BaseRetargeter):
    """Outputs ``ee_pose``, the selected pose of the controller; absent in frames without one.

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

    @property
    def pose(self) -> ControllerPose:
        """The pose that is passed on."""
        return ControllerPose(self._pose)

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


class SqueezeGate(BaseRetargeter):
    """Passes a controller on while it is squeezed; otherwise it is absent, so that downstream nodes hold and re-arm.

    Args:
        name: Name of the node.
        input_device: Name of the controller port, both input and output.
        squeeze_threshold: Squeeze above which the controller passes, in [0, 1).
    """

    stateful = False

    def __init__(self, name: str, input_device: str = "controller_right", *, squeeze_threshold: float = 0.5) -> None:
        self._device, self._threshold = input_device, float(squeeze_threshold)
        super().__init__(name)

    def input_spec(self) -> RetargeterIOType:
        """Return the controller, optional."""
        return {self._device: OptionalType(ControllerInput())}

    def output_spec(self) -> RetargeterIOType:
        """Return the controller, optional."""
        return {self._device: OptionalType(ControllerInput())}

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        given = inputs[self._device]
        if not given.is_none and given[ControllerInputIndex.SQUEEZE_VALUE] > self._threshold:
            for index in range(len(given)):
                outputs[self._device][index] = given[index]
