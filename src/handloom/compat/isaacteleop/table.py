"""Published module of Isaac Teleop > its names > where the object is, or why it is not here.

The names are those of release 1.5. ``so101_page`` is ours: the names of the published SO-101 page as it stands. Its
clutch has the same name as another one of release 1.5; ``retargeters`` has both under that name.
"""

from handloom.compat.published import not_here, same_names

RETARGET = "handloom.retarget"
TRACKED = "handloom.retarget.sources.tracked_types"

HAPTIC = "reduces tactile sensors that the simulation does not have"
CHANNEL = "message channels belong to the OpenXR runtime"
HANDS = "it drives a third-party hand through a third-party library"
PACING = "the graph runs within the step, which takes about a millisecond; there is nothing to pace"
OPENXR = "there is no OpenXR runtime here; a session is given its devices"

# interface
_PARAMETERS = same_names(RETARGET, "ParameterSpec BoolParameter FloatParameter IntParameter VectorParameter")
_GROUP_TYPES = same_names(RETARGET, "TensorGroupType OptionalTensorGroupType OptionalType")
_GROUPS = same_names(RETARGET, "TensorGroup OptionalTensorGroup")
_EVENTS = same_names(RETARGET, "ExecutionEvents ExecutionState")
_CORE = same_names(
    RETARGET, "ComputeContext GraphTime GraphExecutable OutputSelector RetargeterIO RetargeterIOType ExecutionCache"
) | {"BaseExecutable": "handloom.retarget:BaseRetargeter"}
_TENSOR = same_names(RETARGET, "Tensor UNSET_VALUE")
_INTERFACE = {
    "base_retargeter": same_names(RETARGET, "BaseRetargeter"),
    "execution_events": _EVENTS,
    "output_combiner": same_names(RETARGET, "OutputCombiner"),
    "parameter_state": same_names(RETARGET, "ParameterState"),
    "retargeter_core_types": _CORE,
    "retargeter_subgraph": same_names(RETARGET, "RetargeterSubgraph"),
    "tensor": _TENSOR,
    "tensor_group": _GROUPS,
    "tensor_group_type": _GROUP_TYPES,
    "tensor_type": same_names(RETARGET, "TensorType"),
    "tunable_parameter": _PARAMETERS,
    "value_input": same_names(RETARGET, "ValueInput"),
}

# tensor_types
_SCALARS = same_names(RETARGET, "FloatType IntType BoolType")
_ARRAYS = same_names(RETARGET, "NDArrayType DLDataType DLDeviceType")
_STANDARD = same_names(
    RETARGET,
    "HandInput HeadInput ControllerInput FullBodyInput TransformMatrix RobotHandJoints Generic3AxisPedalInput "
    "NUM_HAND_JOINTS NUM_BODY_JOINTS",
) | {"HeadPose": "handloom.retarget.inputs:HeadPose"}
_INDICES = same_names(
    RETARGET,
    "HandInputIndex HeadInputIndex ControllerInputIndex Generic3AxisPedalInputIndex FullBodyInputIndex HandJointIndex "
    "BodyJointIndex",
) | {"HeadPoseIndex": "handloom.retarget.inputs:HeadPoseIndex"}
_TACTILE_TYPES = "handloom.retarget.haptics.haptic_device"
_TACTILE = same_names(
    _TACTILE_TYPES, "TactileVector TactileHeatmap FingerPowerVector ControllerHapticPulse EndEffectorForce"
)
_TACTILE_INDICES = same_names(_TACTILE_TYPES, "FingerIndex ControllerHapticPulseField EndEffectorForceAxis")
_TACTILE_SIZES = same_names(
    _TACTILE_TYPES, "NUM_HAPTIC_FINGERS NUM_CONTROLLER_HAPTIC_FIELDS NUM_END_EFFECTOR_FORCE_AXES"
)
_TENSOR_TYPES = {
    "scalar_types": _SCALARS,
    "ndarray_types": _ARRAYS,
    "standard_types": _STANDARD,
    "indices": _INDICES | _TACTILE_INDICES,
    "tactile_types": _TACTILE | _TACTILE_SIZES,
}

# deviceio_source_nodes
_TRACKED = same_names(
    TRACKED,
    "HeadPoseTrackedType HandPoseTrackedType ControllerSnapshotTrackedType Generic3AxisPedalOutputTrackedType "
    "JointStateOutputTrackedType FullBodyPoseTrackedType DeviceIOHeadPoseTracked DeviceIOHandPoseTracked "
    "DeviceIOControllerSnapshotTracked DeviceIOGeneric3AxisPedalOutputTracked DeviceIOJointStateOutputTracked "
    "DeviceIOFullBodyPoseTracked",
) | not_here(
    "MessageChannelMessagesTrackedType MessageChannelConnectionStatus MessageChannelStatusType "
    "DeviceIOMessageChannelMessagesTracked MessageChannelMessagesTrackedGroup MessageChannelStatusGroup",
    CHANNEL,
)
_SOURCES = {
    "interface": {"IDeviceIOSource": "handloom.retarget:DeviceSource"},
    "head_source": same_names(RETARGET, "HeadSource"),
    "hands_source": same_names(RETARGET, "HandsSource"),
    "controllers_source": same_names(RETARGET, "ControllersSource"),
    "pedals_source": same_names(RETARGET, "Generic3AxisPedalSource"),
    "joint_state_source": same_names(RETARGET, "JointStateSource"),
    "full_body_source": same_names(RETARGET, "FullBodySource"),
    "deviceio_tensor_types": _TRACKED,
    "haptic_sink": same_names("handloom.retarget.haptics.haptic_device", "HapticSink"),
    "sink_interface": {"IDeviceIOSink": "handloom.retarget.haptics.haptic_device:DeviceSink"},
    "message_channel_config": not_here("MessageChannelConfig message_channel_config messageChannelConfig", CHANNEL),
    "message_channel_sink": not_here("MessageChannelSink", CHANNEL),
    "message_channel_source": not_here("MessageChannelSource", CHANNEL),
}

# utilities
_UTILITIES = {
    "controller_transform": same_names(RETARGET, "ControllerTransform"),
    "hand_transform": same_names(RETARGET, "HandTransform"),
    "head_transform": same_names(RETARGET, "HeadTransform"),
    "transform_utils": same_names(
        RETARGET,
        "validate_transform_matrix decompose_transform transform_position transform_positions_batch "
        "transform_orientation transform_orientations_batch",
    ),
}

# retargeters
_SO101_GRIPPER = same_names(RETARGET, "SO101GripperRetargeter")
_RETARGETERS = {
    "G1.trihand_motion_controller": same_names(
        RETARGET,
        "TriHandMotionControllerConfig TriHandMotionControllerRetargeter TriHandBiManualMotionControllerRetargeter",
    ),
    "SO101.clutch_retargeter": {"SO101ClutchRetargeter": "handloom.compat.isaacteleop.shims:SO101ClutchRetargeter"},
    "SO101.gripper_retargeter": _SO101_GRIPPER,
    "controller_pose": {
        "HandPose": "handloom.retarget:ControllerPose",
        "ControllerPoseSource": "handloom.retarget:ControllerPoseSource",
    },
    "foot_pedal_retargeter": same_names(RETARGET, "FootPedalRootCmdRetargeterConfig FootPedalRootCmdRetargeter"),
    "gripper_retargeter": same_names(RETARGET, "GripperRetargeterConfig GripperRetargeter"),
    "joint_space.joint_state_retargeter": same_names(RETARGET, "JointStateRetargeterConfig JointStateRetargeter"),
    "locomotion_retargeter": same_names(
        RETARGET,
        "LocomotionFixedRootCmdRetargeterConfig LocomotionFixedRootCmdRetargeter LocomotionRootCmdRetargeterConfig "
        "LocomotionRootCmdRetargeter",
    ),
    "rate_limiter": same_names(RETARGET, "RateLimiterConfig EePoseRateLimiter JointRateLimiter"),
    "se3_retargeter": same_names(RETARGET, "Se3RetargeterConfig Se3AbsRetargeter Se3RelRetargeter"),
    "tensor_reorderer": same_names(RETARGET, "TensorReorderer"),
    "tactile_retargeters": not_here(
        "Vector3FrameTransform WorldForceAccumulator MagnitudeReducer TactileVectorToFingerPower "
        "TactileHeatmapToFingerPower TactileHeatmapToWristPulse TactileVectorToControllerPulse "
        "TactileHeatmapToControllerPulse FingerPowerToControllerPulse",
        HAPTIC,
    ),
    "dex_hand_retargeter": not_here("DexHandRetargeter DexBiManualRetargeter DexHandRetargeterConfig", HANDS),
    "sharpa_hand_retargeter": not_here(
        "SharpaHandRetargeter SharpaBiManualRetargeter SharpaHandRetargeterConfig", HANDS
    ),
    "wuji_hand_retargeter": not_here("WujiHandRetargeter WujiHandRetargeterConfig", HANDS),
}

# teleop_session_manager
_SESSION = {
    "teleop_state_manager_retargeter": same_names(RETARGET, "TeleopStateManager DefaultTeleopStateManager")
    | {"TwoButtonTeleopStateManager": "handloom.retarget:DefaultTeleopStateManager"},
    "teleop_state_manager_types": same_names(
        RETARGET, "bool_signal teleop_state_channel reset_event_channel teleop_state_manager_output_spec"
    )
    | {"teleop_control_states": "handloom.retarget.nodes.teleop_state:teleop_control_states"},
    "input_selector": same_names(RETARGET, "create_bool_selector"),
    "config": same_names(
        RETARGET, "SessionMode RetargetingExecutionMode RetargetingExecutionConfig TeleopSessionConfig"
    )
    | not_here("RetargetingPacingMode PacingStartupState ImmediatePacingConfig DeadlinePacingConfig", PACING)
    | not_here("PluginConfig TwinRenderConfig", OPENXR),
    "teleop_session": same_names(RETARGET, "RetargetingStepInfo TeleopSession"),
    "async_retarget_runner": not_here(
        "AsyncRetargetWorkerError AsyncRetargetRunnerStopped AsyncRetargetRunner RetargetFrame StepRequest "
        "snapshot_compute_context snapshot_pipeline_inputs snapshot_retargeter_io",
        PACING,
    ),
    "helpers": not_here(
        "get_required_oxr_extensions_from_pipeline create_standard_inputs build_vendor_config_from_sources", OPENXR
    ),
}

PAGE = same_names(RETARGET, "SO101RollRetargeter SO101WristRetargeter SO101GripperRetargeter TensorReorderer") | {
    "SO101ClutchRetargeter": "handloom.retarget:SO101PositionClutchRetargeter",
    "SO101PositionClutchRetargeter": "handloom.retarget:SO101PositionClutchRetargeter",
}

_PACKAGES = {
    "retargeting_engine.interface": _INTERFACE,
    "retargeting_engine.tensor_types": _TENSOR_TYPES,
    "retargeting_engine.deviceio_source_nodes": _SOURCES,
    "retargeting_engine.utilities": _UTILITIES,
    "retargeters": _RETARGETERS,
    "teleop_session_manager": _SESSION,
}

_HAPTIC_DEVICES = {
    "Endpoint": "handloom.retarget.haptics.haptic_device:Endpoint",
    "IHapticDevice": "handloom.retarget.haptics.haptic_device:HapticDevice",
}

MODULES: dict[str, dict[str, str]] = {
    "so101_page": PAGE,
    "haptic_devices": _HAPTIC_DEVICES,
    "haptic_devices.interface": _HAPTIC_DEVICES,
    "haptic_devices.controller": same_names("handloom.retarget.haptics.haptic_device", "ControllerHapticDevice"),
}
"""Path below ``isaacteleop`` > published name > ``"module:object"``, or the reason why it is not here."""

for _package, _modules in _PACKAGES.items():
    # A name that is also a module of the package is that module.
    MODULES[_package] = {n: row for rows in _modules.values() for n, row in rows.items() if n not in _modules}
    MODULES |= {f"{_package}.{module}": rows for module, rows in _modules.items()}
for _name, _ours in {
    "_clamped_dt": "clamped_dt",
    "_clamp_position_step": "clamped_position",
    "_clamp_orientation_step": "clamped_orientation",
}.items():
    # Private names that the published tests call.
    MODULES["retargeters.rate_limiter"][_name] = f"handloom.compat.isaacteleop.shims:{_ours}"
MODULES["retargeters"] |= same_names(RETARGET, "SO101PositionClutchRetargeter SO101WristRetargeter SO101RollRetargeter")

DIFFERENT = {
    "BaseRetargeter": "a port name that does not exist is found when connecting; a stateful node bound twice warns",
    "OptionalTensorGroup": "a write that is refused leaves the group absent",
    "NDArrayType": "unsigned types are told apart from signed ones",
    "ParameterState": "either all updates of one call are applied or none",
    "FloatParameter": "a default out of bounds is refused; a bool is not a number",
    "IntParameter": "a default out of bounds is refused",
    "VectorParameter": "a default out of bounds and empty element names are refused",
    "BaseExecutable": "the same class as BaseRetargeter",
    "IDeviceIOSource": "poll_tracker takes a DeviceFrame, or an object that has one as frame; there are no trackers",
    "ControllersSource": "raw samples may be ControllerSnapshot, too; silent devices may be absent",
    "HandsSource": "raw samples may be HandSnapshot, too; silent devices may be absent",
    "HeadSource": "raw samples may be HeadSnapshot, too; silent devices may be absent",
    "Generic3AxisPedalSource": "raw samples may be PedalSnapshot, too; silent devices may be absent",
    "FullBodySource": "raw samples may be FullBodySnapshot, too; no choice of a vendor",
    "JointStateSource": "raw samples may be joint positions by name, too",
    "ControllerTransform": "the matrix must be rigid within 1e-3",
    "HandTransform": "the matrix must be rigid within 1e-3",
    "HeadTransform": "the matrix must be rigid within 1e-3",
    "SO101ClutchRetargeter": "positions farther than 1 km count as lost; without home_base_T_ee it is that of the "
    "SO-101 page",
    "SO101PositionClutchRetargeter": "ours: the clutch of the SO-101 page; a lost frame re-arms instead of jumping",
    "SO101RollRetargeter": "ours: the roll of the SO-101 page, with unwrapping",
    "SO101WristRetargeter": "of one revision after the page: pitch and roll; a lost frame re-arms",
    "TriHandMotionControllerRetargeter": "a wrong number of joint names is refused",
    "TriHandBiManualMotionControllerRetargeter": "a joint that no hand has is refused instead of left unset",
    "GripperRetargeter": "a value that is not a number holds the last command",
    "FootPedalRootCmdRetargeter": "a value that is not a number counts as rest",
    "LocomotionRootCmdRetargeter": "a value that is not a number counts as a stick at rest",
    "Se3AbsRetargeter": "joints flagged invalid, NaN and zero quaternions hold the last pose",
    "Se3RelRetargeter": "joints flagged invalid are not used; a lost frame forgets the running mean",
    "JointStateRetargeter": "a target that nothing drives is refused instead of 0; re-engaging goes on from the last "
    "command",
    "JointStateRetargeterConfig": "forward_kinematics may stand for urdf_path and ee_link",
    "TensorReorderer": "a name that no input has is refused instead of 0",
    "TeleopSession": "devices are given to it instead of opened by it; a recording ends explicitly (ended)",
    "TeleopSessionConfig": "devices and record_to are ours; what belongs to OpenXR must be left out",
    "RetargetingExecutionConfig": "mode sync only",
    "RetargetingStepInfo": "the graph runs within the step: ages are 0",
    "ControllerHapticDevice": "a pulse that is not finite counts as none",
    "TwoButtonTeleopStateManager": "the same class as DefaultTeleopStateManager",
    "DefaultTeleopStateManager": "a reset button that is down when it comes back is not a press",
    "HeadPose": "deprecated: warns, and is HeadInput",
    "HeadPoseIndex": "deprecated: warns, and is HeadInputIndex",
    "HandPose": "called ControllerPose in handloom.retarget",
}
"""Published name > how ours differs; every other name that is here is the same."""
