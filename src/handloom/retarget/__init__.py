"""Retargeting: a typed graph of nodes that turns what an operator's devices say into commands for a robot.

Quaternions in the groups of this folder are xyzw, the published layout; inside the nodes they are wxyz as everywhere
else. The parts that need a simulated robot are in ``handloom.retarget.so101``.
"""

from handloom.retarget.graph.base_retargeter import BaseRetargeter
from handloom.retarget.graph.compute_context import ComputeContext, ExecutionEvents, ExecutionState, GraphTime
from handloom.retarget.graph.errors import SlotIndexError, StatefulNodeWarning, TensorTypeError, UnknownParameterError
from handloom.retarget.graph.execution_cache import ExecutionCache, RetargeterIO
from handloom.retarget.graph.graph_executable import GraphExecutable, OutputSelector, RetargeterIOType
from handloom.retarget.graph.ndarray_type import DLDataType, DLDeviceType, NDArrayType
from handloom.retarget.graph.output_combiner import OutputCombiner
from handloom.retarget.graph.retargeter_subgraph import RetargeterSubgraph
from handloom.retarget.graph.scalar_types import BoolType, FloatType, IntType
from handloom.retarget.graph.tensor import UNSET_VALUE, Tensor
from handloom.retarget.graph.tensor_group import OptionalTensorGroup, TensorGroup, group_of
from handloom.retarget.graph.tensor_group_type import OptionalTensorGroupType, OptionalType, TensorGroupType
from handloom.retarget.graph.tensor_type import TensorType
from handloom.retarget.graph.value_input import ValueInput
from handloom.retarget.inputs.controller_input import ControllerInput, ControllerInputIndex
from handloom.retarget.inputs.hand_input import NUM_HAND_JOINTS, HandInput, HandInputIndex, HandJointIndex
from handloom.retarget.inputs.head_input import HeadInput, HeadInputIndex
from handloom.retarget.inputs.robot_values import (
    EePose,
    Generic3AxisPedalInput,
    Generic3AxisPedalInputIndex,
    RobotHandJoints,
    TransformMatrix,
    bool_signal,
    float_signal,
)
from handloom.retarget.nodes.bool_selector import create_bool_selector
from handloom.retarget.nodes.controller_pose_source import ControllerPose, ControllerPoseSource
from handloom.retarget.nodes.ee_pose_rate_limiter import EePoseRateLimiter
from handloom.retarget.nodes.foot_pedal_retargeter import FootPedalRootCmdRetargeter, FootPedalRootCmdRetargeterConfig
from handloom.retarget.nodes.gripper_retargeter import GripperRetargeter, GripperRetargeterConfig
from handloom.retarget.nodes.joint_rate_limiter import JointRateLimiter
from handloom.retarget.nodes.joint_state_retargeter import JointStateRetargeter, JointStateRetargeterConfig
from handloom.retarget.nodes.locomotion_retargeter import (
    LocomotionFixedRootCmdRetargeter,
    LocomotionFixedRootCmdRetargeterConfig,
    LocomotionRootCmdRetargeter,
    LocomotionRootCmdRetargeterConfig,
)
from handloom.retarget.nodes.rate_limiter_config import RateLimiterConfig
from handloom.retarget.nodes.se3_abs_retargeter import Se3AbsRetargeter
from handloom.retarget.nodes.se3_config import Se3RetargeterConfig
from handloom.retarget.nodes.se3_rel_retargeter import Se3RelRetargeter
from handloom.retarget.nodes.so101_clutch_retargeter import SO101ClutchRetargeter
from handloom.retarget.nodes.so101_gripper_retargeter import SO101GripperRetargeter
from handloom.retarget.nodes.so101_pose_clutch_retargeter import SO101PoseClutchRetargeter
from handloom.retarget.nodes.so101_roll_retargeter import SO101RollRetargeter
from handloom.retarget.nodes.teleop_state_manager import DefaultTeleopStateManager, execution_events
from handloom.retarget.nodes.tensor_reorderer import TensorReorderer
from handloom.retarget.parameters.parameter_state import ParameterState
from handloom.retarget.parameters.tunable_parameter import (
    BoolParameter,
    FloatParameter,
    IntParameter,
    ParameterSpec,
    VectorParameter,
)
from handloom.retarget.recording.device_recorder import DeviceRecorder
from handloom.retarget.recording.device_recording import DeviceRecording
from handloom.retarget.sources.controller_snapshot import ControllerSnapshot
from handloom.retarget.sources.controllers_source import ControllersSource
from handloom.retarget.sources.device_frame import DeviceFrame
from handloom.retarget.sources.device_source import DeviceSource, device_inputs
from handloom.retarget.sources.hand_snapshot import HandSnapshot
from handloom.retarget.sources.hands_source import HandsSource
from handloom.retarget.sources.head_snapshot import HeadSnapshot
from handloom.retarget.sources.head_source import HeadSource
from handloom.retarget.sources.joint_state_source import JointStateSource
from handloom.retarget.sources.pose_transform import ControllerTransform, HandTransform, HeadTransform

__all__ = [
    "NUM_HAND_JOINTS",
    "UNSET_VALUE",
    "BaseRetargeter",
    "BoolParameter",
    "BoolType",
    "ComputeContext",
    "ControllerInput",
    "ControllerInputIndex",
    "ControllerPose",
    "ControllerPoseSource",
    "ControllerSnapshot",
    "ControllerTransform",
    "ControllersSource",
    "DLDataType",
    "DLDeviceType",
    "DefaultTeleopStateManager",
    "DeviceFrame",
    "DeviceRecorder",
    "DeviceRecording",
    "DeviceSource",
    "EePose",
    "EePoseRateLimiter",
    "ExecutionCache",
    "ExecutionEvents",
    "ExecutionState",
    "FloatParameter",
    "FloatType",
    "FootPedalRootCmdRetargeter",
    "FootPedalRootCmdRetargeterConfig",
    "Generic3AxisPedalInput",
    "Generic3AxisPedalInputIndex",
    "GraphExecutable",
    "GraphTime",
    "GripperRetargeter",
    "GripperRetargeterConfig",
    "HandInput",
    "HandInputIndex",
    "HandJointIndex",
    "HandSnapshot",
    "HandTransform",
    "HandsSource",
    "HeadInput",
    "HeadInputIndex",
    "HeadSnapshot",
    "HeadSource",
    "HeadTransform",
    "IntParameter",
    "IntType",
    "JointRateLimiter",
    "JointStateRetargeter",
    "JointStateRetargeterConfig",
    "JointStateSource",
    "LocomotionFixedRootCmdRetargeter",
    "LocomotionFixedRootCmdRetargeterConfig",
    "LocomotionRootCmdRetargeter",
    "LocomotionRootCmdRetargeterConfig",
    "NDArrayType",
    "OptionalTensorGroup",
    "OptionalTensorGroupType",
    "OptionalType",
    "OutputCombiner",
    "OutputSelector",
    "ParameterSpec",
    "ParameterState",
    "RateLimiterConfig",
    "RetargeterIO",
    "RetargeterIOType",
    "RetargeterSubgraph",
    "RobotHandJoints",
    "SO101ClutchRetargeter",
    "SO101GripperRetargeter",
    "SO101PoseClutchRetargeter",
    "SO101RollRetargeter",
    "Se3AbsRetargeter",
    "Se3RelRetargeter",
    "Se3RetargeterConfig",
    "SlotIndexError",
    "StatefulNodeWarning",
    "Tensor",
    "TensorGroup",
    "TensorGroupType",
    "TensorReorderer",
    "TensorType",
    "TensorTypeError",
    "TransformMatrix",
    "UnknownParameterError",
    "ValueInput",
    "VectorParameter",
    "bool_signal",
    "create_bool_selector",
    "device_inputs",
    "execution_events",
    "float_signal",
    "group_of",
]
