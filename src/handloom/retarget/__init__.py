"""Retargeting: a typed graph of nodes that turns what an operator's devices say into commands for a robot.

Quaternions in the groups of this folder are xyzw, the published layout; inside the nodes they are wxyz as everywhere
else. The parts that need a simulated robot are in ``handloom.retarget.so101``.
"""

from handloom.retarget.graph.execution import (
    ComputeContext,
    ExecutionCache,
    ExecutionEvents,
    ExecutionState,
    GraphExecutable,
    GraphTime,
    OutputSelector,
    RetargeterIO,
    RetargeterIOType,
)
from handloom.retarget.graph.groups import (
    UNSET_VALUE,
    OptionalTensorGroup,
    OptionalTensorGroupType,
    OptionalType,
    Tensor,
    TensorGroup,
    TensorGroupType,
    group_of,
)
from handloom.retarget.graph.parameter_spec import (
    BoolParameter,
    FloatParameter,
    IntParameter,
    ParameterSpec,
    VectorParameter,
)
from handloom.retarget.graph.parameter_state import ParameterState
from handloom.retarget.graph.retargeter import BaseRetargeter, ValueInput
from handloom.retarget.graph.types import (
    BoolType,
    DLDataType,
    DLDeviceType,
    FloatType,
    IntType,
    NDArrayType,
    SlotIndexError,
    StatefulNodeWarning,
    TensorType,
    TensorTypeError,
    UnknownParameterError,
)
from handloom.retarget.graph.wiring import OutputCombiner, RetargeterSubgraph
from handloom.retarget.inputs import (
    NUM_HAND_JOINTS,
    ControllerInput,
    ControllerInputIndex,
    EePose,
    Generic3AxisPedalInput,
    Generic3AxisPedalInputIndex,
    HandInput,
    HandInputIndex,
    HandJointIndex,
    HeadInput,
    HeadInputIndex,
    RobotHandJoints,
    TransformMatrix,
    bool_signal,
    float_signal,
)
from handloom.retarget.nodes.controller_pose import ControllerPose, ControllerPoseSource
from handloom.retarget.nodes.gripper import GripperRetargeter, GripperRetargeterConfig, SO101GripperRetargeter
from handloom.retarget.nodes.joint_state import JointStateRetargeter, JointStateRetargeterConfig
from handloom.retarget.nodes.locomotion import (
    FootPedalRootCmdRetargeter,
    FootPedalRootCmdRetargeterConfig,
    LocomotionFixedRootCmdRetargeter,
    LocomotionFixedRootCmdRetargeterConfig,
    LocomotionRootCmdRetargeter,
    LocomotionRootCmdRetargeterConfig,
)
from handloom.retarget.nodes.rate_limiters import EePoseRateLimiter, JointRateLimiter, RateLimiterConfig
from handloom.retarget.nodes.se3 import Se3AbsRetargeter, Se3RelRetargeter, Se3RetargeterConfig
from handloom.retarget.nodes.so101_clutch import SO101ClutchRetargeter, SO101PoseClutchRetargeter
from handloom.retarget.nodes.so101_roll import SO101RollRetargeter
from handloom.retarget.nodes.teleop_state import DefaultTeleopStateManager, create_bool_selector, execution_events
from handloom.retarget.nodes.tensor_reorderer import TensorReorderer
from handloom.retarget.recording import DeviceRecorder, DeviceRecording
from handloom.retarget.sources.device_frame import DeviceFrame
from handloom.retarget.sources.device_sources import (
    ControllersSource,
    DeviceSource,
    HandsSource,
    HeadSource,
    JointStateSource,
    device_inputs,
)
from handloom.retarget.sources.snapshots import ControllerSnapshot, HandSnapshot, HeadSnapshot
from handloom.retarget.transforms import ControllerTransform, HandTransform, HeadTransform

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
