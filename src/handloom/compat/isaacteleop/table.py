"""Published module of Isaac Teleop > its names > where the object is."""

from handloom.compat.published import same_names

RETARGET = "handloom.retarget"

_PARAMETERS = same_names(RETARGET, "ParameterSpec BoolParameter FloatParameter IntParameter VectorParameter")
_GROUP_TYPES = same_names(RETARGET, "TensorGroupType OptionalTensorGroupType OptionalType")
_GROUPS = same_names(RETARGET, "TensorGroup OptionalTensorGroup")
_EVENTS = same_names(RETARGET, "ExecutionEvents ExecutionState")
_CORE = same_names(
    RETARGET, "ComputeContext GraphTime GraphExecutable OutputSelector RetargeterIO RetargeterIOType ExecutionCache"
)

INTERFACE = (
    _PARAMETERS
    | _GROUP_TYPES
    | _GROUPS
    | _EVENTS
    | _CORE
    | same_names(
        RETARGET,
        "TensorType Tensor UNSET_VALUE BaseRetargeter RetargeterSubgraph OutputCombiner ValueInput ParameterState",
    )
)

TENSOR_TYPES = same_names(
    RETARGET,
    "FloatType IntType BoolType NDArrayType DLDeviceType DLDataType HandInput HandInputIndex HandJointIndex "
    "NUM_HAND_JOINTS HeadInput HeadInputIndex ControllerInput ControllerInputIndex TransformMatrix "
    "Generic3AxisPedalInput Generic3AxisPedalInputIndex RobotHandJoints",
) | {
    "HeadPose": "handloom.retarget.inputs:HeadPose",
    "HeadPoseIndex": "handloom.retarget:HeadInputIndex",
}

RETARGETERS = same_names(
    RETARGET,
    "TensorReorderer SO101ClutchRetargeter SO101PoseClutchRetargeter SO101RollRetargeter SO101GripperRetargeter "
    "Se3AbsRetargeter Se3RelRetargeter Se3RetargeterConfig GripperRetargeter GripperRetargeterConfig "
    "EePoseRateLimiter JointRateLimiter RateLimiterConfig JointStateRetargeter JointStateRetargeterConfig "
    "ControllerPoseSource LocomotionRootCmdRetargeter LocomotionRootCmdRetargeterConfig "
    "LocomotionFixedRootCmdRetargeter LocomotionFixedRootCmdRetargeterConfig "
    "FootPedalRootCmdRetargeter FootPedalRootCmdRetargeterConfig",
)

MODULES = {
    "retargeters": RETARGETERS,
    "retargeting_engine.deviceio_source_nodes": {
        "IDeviceIOSource": "handloom.retarget:DeviceSource",
        **same_names(RETARGET, "ControllersSource HandsSource HeadSource JointStateSource"),
    },
    "retargeting_engine.interface": INTERFACE,
    "retargeting_engine.interface.base_retargeter": same_names(RETARGET, "BaseRetargeter"),
    "retargeting_engine.interface.execution_events": _EVENTS,
    "retargeting_engine.interface.output_combiner": same_names(RETARGET, "OutputCombiner"),
    "retargeting_engine.interface.parameter_state": same_names(RETARGET, "ParameterState"),
    "retargeting_engine.interface.retargeter_core_types": _CORE,
    "retargeting_engine.interface.tensor_group": _GROUPS,
    "retargeting_engine.interface.tensor_group_type": _GROUP_TYPES,
    "retargeting_engine.interface.tunable_parameter": _PARAMETERS,
    "retargeting_engine.interface.value_input": same_names(RETARGET, "ValueInput"),
    "retargeting_engine.tensor_types": TENSOR_TYPES,
    "retargeting_engine.utilities": {
        "validate_transform_matrix": "handloom.retarget.transforms:validate_transform_matrix",
        **same_names(RETARGET, "ControllerTransform HandTransform HeadTransform"),
    },
    "teleop_session_manager": same_names(RETARGET, "DefaultTeleopStateManager create_bool_selector bool_signal"),
}
"""Path below ``isaacteleop`` > published name > ``"module:object"``."""
