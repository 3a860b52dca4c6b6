"""The pose of the hand as the pose of the end effector."""

import math
from typing import Any

from handloom.retarget.graph.base_retargeter import BaseRetargeter
from handloom.retarget.graph.compute_context import ComputeContext
from handloom.retarget.graph.execution_cache import RetargeterIO
from handloom.retarget.graph.graph_executable import RetargeterIOType
from handloom.retarget.graph.tensor_group_type import OptionalType
from handloom.retarget.inputs.robot_values import EePose
from handloom.retarget.nodes.se3_config import Se3RetargeterConfig, device_pose, quat_from_intrinsic_xyz_deg
from handloom.retarget.parameters.parameter_state import ParameterState
from handloom.retarget.parameters.tunable_parameter import BoolParameter, VectorParameter
from handloom.retarget.quaternions import IDENTITY, Quat, Vec3, multiply, pose_port, rotate, rotation_about, rotation_of

HALF_TURN_X = rotation_about((1.0, 0.0, 0.0), math.pi)


class Se3AbsRetargeter(BaseRetargeter):
    """Gives ``ee_pose``: the hand's pose with an offset, (7,) position [m] and quaternion xyzw.

    With ``zero_out_xy_rotation`` only the rotation about z is kept (the z angle of the intrinsic zyx
    decomposition) and turned by Rx(pi), so that a tool points down. A frame without a pose holds the last one;
    before the first, and after a reset, it is the origin. Engaging teleports the arm to the hand; use a clutch
    where that matters.

    Args:
        config: Settings.
        name: Name of the node.
    """

    OUTPUT = "ee_pose"

    def __init__(self, config: Se3RetargeterConfig, name: str) -> None:
        self._config = config
        self._position: Vec3 = (0.0, 0.0, 0.0)
        self._quat: Quat = IDENTITY
        self._flags = {
            "zero_out_xy_rotation": config.zero_out_xy_rotation,
            "use_wrist_rotation": config.use_wrist_rotation,
            "use_wrist_position": config.use_wrist_position,
        }
        self._offset_rpy: Vec3 = (math.nan, math.nan, math.nan)
        super().__init__(name, self._tunable(name))

    def _tunable(self, name: str) -> ParameterState:
        config = self._config
        rpy = (config.target_offset_roll, config.target_offset_pitch, config.target_offset_yaw)
        xyz = (config.target_offset_x, config.target_offset_y, config.target_offset_z)
        flags = [
            BoolParameter(flag, default_value=value, sync_fn=lambda on, flag=flag: self._flags.update({flag: on}))
            for flag, value in self._flags.items()
        ]
        vectors = [
            VectorParameter(
                "rotation_offset_rpy", "[deg]", ("roll", "pitch", "yaw"), rpy, -180.0, 180.0, 1.0, sync_fn=self._set_rpy
            ),
            VectorParameter("position_offset_xyz", "[m]", ("x", "y", "z"), xyz, -1.0, 1.0, sync_fn=self._set_xyz),
        ]
        return ParameterState(name, [*vectors, *flags], config.parameter_config_path)

    def _set_rpy(self, angles: Any) -> None:
        roll, pitch, yaw = angles.tolist()
        if (roll, pitch, yaw) != self._offset_rpy:
            self._offset_rpy = (roll, pitch, yaw)
            self._offset_quat = quat_from_intrinsic_xyz_deg(self._offset_rpy)

    def _set_xyz(self, offset: Any) -> None:
        self._offset_xyz: Vec3 = tuple(offset.tolist())

    def input_spec(self) -> RetargeterIOType:
        """Return the device, optional."""
        return {self._config.input_device: OptionalType(self._config.device_type)}

    def output_spec(self) -> RetargeterIOType:
        """Return one float32 pose (7,): position [m], quaternion xyzw."""
        return {self.OUTPUT: EePose()}

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        if context.execution_events.reset:
            self._position, self._quat = (0.0, 0.0, 0.0), IDENTITY
        pose = device_pose(
            inputs[self._config.input_device],
            wrist_rotation=self._flags["use_wrist_rotation"],
            wrist_position=self._flags["use_wrist_position"],
        )
        if pose is not None:
            self._position, self._quat = self._retargeted(*pose)
        outputs[self.OUTPUT][0] = pose_port(self._position, self._quat)

    def _retargeted(self, position: Vec3, quat: Quat) -> tuple[Vec3, Quat]:
        dx, dy, dz = rotate(quat, self._offset_xyz)
        final = multiply(quat, self._offset_quat)
        if self._flags["zero_out_xy_rotation"]:
            R = rotation_of(final)
            final = multiply(rotation_about((0.0, 0.0, 1.0), math.atan2(R[1, 0], R[0, 0])), HALF_TURN_X)
        return (position[0] + dx, position[1] + dy, position[2] + dz), final
