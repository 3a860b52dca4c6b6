"""Published module of Isaac Teleop > its names > location of the object, or why it is missing.

The names are those of release 1.5. ``so101_page`` is ours: the names of the published SO-101 page. Its clutch has the
same name as a different one in release 1.5; ``retargeters`` has both under that name.
"""

from handloom.compat.published import not_here, same_names

RETARGET = "handloom.retarget"
TRACKED = "handloom.retarget.sources.tracked_types"

CHANNELS = "handloom.retarget.sources.message_channel"
HAPTICS = "handloom.retarget.haptics.haptic_device"
RUNTIME = "handloom.retarget.runtime"
SAMPLES = "handloom.compat.isaacteleop.samples"
SESSION = "handloom.compat.isaacteleop.session"
TRACKERS = "handloom.retarget.sources.trackers"

HANDS = "it drives a third-party hand through a third-party library"
TWIN = "it draws the robot in an OpenXR headset; the teleoperation page shows the scene itself"
CAMERA = "it reads a third-party camera"

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
_TACTILE = same_names(HAPTICS, "TactileVector TactileHeatmap FingerPowerVector ControllerHapticPulse EndEffectorForce")
_TACTILE_INDICES = same_names(HAPTICS, "FingerIndex ControllerHapticPulseField EndEffectorForceAxis")
_TACTILE_SIZES = same_names(HAPTICS, "NUM_HAPTIC_FINGERS NUM_CONTROLLER_HAPTIC_FIELDS NUM_END_EFFECTOR_FORCE_AXES")
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
) | same_names(
    CHANNELS,
    "MessageChannelMessagesTrackedType MessageChannelConnectionStatus MessageChannelStatusType "
    "DeviceIOMessageChannelMessagesTracked MessageChannelMessagesTrackedGroup MessageChannelStatusGroup",
)
_SOURCES = {
    "interface": {"IDeviceIOSource": "handloom.retarget.sources.device_sources:TrackerSource"},
    "head_source": same_names(RETARGET, "HeadSource"),
    "hands_source": same_names(RETARGET, "HandsSource"),
    "controllers_source": same_names(RETARGET, "ControllersSource"),
    "pedals_source": same_names(RETARGET, "Generic3AxisPedalSource"),
    "joint_state_source": same_names(RETARGET, "JointStateSource"),
    "full_body_source": same_names(RETARGET, "FullBodySource"),
    "deviceio_tensor_types": _TRACKED,
    "haptic_sink": same_names("handloom.retarget.haptics.haptic_sink", "HapticSink"),
    "sink_interface": {"IDeviceIOSink": "handloom.retarget.haptics.haptic_sink:DeviceSink"},
    "message_channel_config": same_names(CHANNELS, "MessageChannelConfig message_channel_config")
    | {"messageChannelConfig": f"{CHANNELS}:message_channel_config"},
    "message_channel_sink": same_names(CHANNELS, "MessageChannelSink"),
    "message_channel_source": same_names(CHANNELS, "MessageChannelSource"),
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
def watched(names: str) -> dict[str, str]:
    """Return the rows of nodes that expose their state under private published names."""
    return {name: f"handloom.compat.isaacteleop.watched_nodes:Watched{name}" for name in names.split()}


_SO101_GRIPPER = same_names(RETARGET, "SO101GripperRetargeter")
_RETARGETERS = {
    "G1.trihand_motion_controller": same_names(
        RETARGET,
        "TriHandMotionControllerConfig TriHandMotionControllerRetargeter TriHandBiManualMotionControllerRetargeter",
    ),
    "SO101.clutch_retargeter": {
        "SO101ClutchRetargeter": "handloom.compat.isaacteleop.so101_clutch:SO101ClutchRetargeter"
    },
    "SO101.gripper_retargeter": _SO101_GRIPPER,
    "controller_pose": {
        "HandPose": "handloom.retarget:ControllerPose",
        "ControllerPoseSource": "handloom.retarget:ControllerPoseSource",
    },
    "foot_pedal_retargeter": same_names(RETARGET, "FootPedalRootCmdRetargeterConfig FootPedalRootCmdRetargeter"),
    "gripper_retargeter": same_names(RETARGET, "GripperRetargeterConfig") | watched("GripperRetargeter"),
    "joint_space.joint_state_retargeter": same_names(RETARGET, "JointStateRetargeterConfig JointStateRetargeter"),
    "locomotion_retargeter": same_names(
        RETARGET,
        "LocomotionFixedRootCmdRetargeterConfig LocomotionFixedRootCmdRetargeter LocomotionRootCmdRetargeterConfig",
    )
    | watched("LocomotionRootCmdRetargeter"),
    "rate_limiter": same_names(RETARGET, "RateLimiterConfig EePoseRateLimiter JointRateLimiter"),
    "se3_retargeter": same_names(RETARGET, "Se3RetargeterConfig") | watched("Se3AbsRetargeter Se3RelRetargeter"),
    "tensor_reorderer": same_names(RETARGET, "TensorReorderer"),
    "tactile_retargeters": same_names(
        "handloom.retarget.haptics.forces", "Vector3FrameTransform WorldForceAccumulator MagnitudeReducer"
    )
    | same_names(
        "handloom.retarget.haptics.tactile",
        "TactileVectorToFingerPower TactileHeatmapToFingerPower TactileHeatmapToWristPulse "
        "TactileVectorToControllerPulse TactileHeatmapToControllerPulse FingerPowerToControllerPulse",
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
        RETARGET, "SessionMode RetargetingExecutionMode RetargetingExecutionConfig TeleopSessionConfig PluginConfig"
    )
    | same_names(
        f"{RUNTIME}.pacing",
        "RetargetingPacingMode PacingStartupState ImmediatePacingConfig DeadlinePacingConfig",
    )
    | not_here("TwinRenderConfig", TWIN),
    "teleop_session": same_names(RETARGET, "RetargetingStepInfo")
    | {"TeleopSession": f"{SESSION}:PublishedTeleopSession"},
    "async_retarget_runner": same_names(
        f"{RUNTIME}.step_worker",
        "AsyncRetargetWorkerError AsyncRetargetRunnerStopped AsyncRetargetRunner RetargetFrame StepRequest "
        "snapshot_compute_context snapshot_pipeline_inputs snapshot_retargeter_io",
    ),
    "helpers": same_names(
        SESSION,
        "get_required_oxr_extensions_from_pipeline create_standard_inputs build_vendor_config_from_sources",
    ),
}

# devices
_SCHEMA = (
    {
        "MessageChannelMessages": f"{CHANNELS}:Message",
        "MessageChannelMessagesTracked": f"{CHANNELS}:MessageBatch",
        "HapticCommand": f"{HAPTICS}:HapticCommand",
        "HandJoint": f"{RETARGET}:HandJointIndex",
        "BodyJoint": f"{RETARGET}:BodyJointIndex",
        "HandJointPose": f"{SAMPLES}:SchemaJointPose",
        "BodyJointPose": f"{SAMPLES}:SchemaJointPose",
        "Generic3AxisPedalOutput": f"{SAMPLES}:SchemaPedals",
        # Names of earlier revisions.
        "HeadPoseT": f"{SAMPLES}:SchemaHeadPose",
        "HandPoseT": f"{SAMPLES}:SchemaHandPose",
        "FullBodyPoseT": f"{SAMPLES}:SchemaFullBodyPose",
        "FullBodyPosePicoT": f"{SAMPLES}:SchemaFullBodyPose",
        "BodyJointPico": f"{RETARGET}:BodyJointIndex",
        "BodyJointsPico": f"{SAMPLES}:SchemaBodyJoints",
        "MessageChannelMessagesTrackedT": f"{CHANNELS}:MessageBatch",
    }
    | {
        f"{name}TrackedT": f"{SAMPLES}:SchemaTrackedT"
        for name in same_names(
            SAMPLES,
            "HeadPose HandPose ControllerSnapshot Generic3AxisPedalOutput JointStateOutput FullBodyPose "
            "FullBodyPosePico",
        )
    }
    | {
        name: f"{SAMPLES}:Schema{name}"
        for name in same_names(
            SAMPLES,
            "Point Quaternion Pose HeadPose HandJoints HandPose ControllerInputState ControllerPose ControllerSnapshot "
            "JointState JointStateOutput BodyJoints FullBodyPose",
        )
    }
)
_TRACKERS = (
    same_names(
        TRACKERS,
        "HeadTracker HandTracker ControllerTracker FullBodyTracker Generic3AxisPedalTracker JointStateTracker "
        "MessageChannelTracker HapticCommandPushTracker",
    )
    | {
        "ITracker": f"{TRACKERS}:Tracker",
        "ITrackerSession": f"{RUNTIME}.device_io:DeviceIOSession",
        "MessageChannelStatus": f"{CHANNELS}:MessageChannelConnectionStatus",
        "NUM_JOINTS": f"{RETARGET}:NUM_HAND_JOINTS",
    }
    | not_here("FrameMetadataTrackerOak", CAMERA)
)
_OXR = same_names(f"{RUNTIME}.device_io", "OpenXRSession OpenXRSessionHandles")
_DEVICE_SESSION = same_names(
    f"{RUNTIME}.device_io",
    "DeviceIOSession ReplaySession McapRecordingConfig McapReplayConfig TrackerVendor VendorConfig",
)
_DEVICES = {
    "schema": _SCHEMA,
    "oxr": _OXR,
    "deviceio_trackers": _TRACKERS,
    "deviceio_session": _DEVICE_SESSION,
    "deviceio": _TRACKERS
    | _DEVICE_SESSION
    | {"OpenXRSessionHandles": _OXR["OpenXRSessionHandles"]}
    | {
        name: _SCHEMA[name]
        for name in ("ControllerInputState", "ControllerPose", "ControllerSnapshot", "Generic3AxisPedalOutput")
    },
    "plugin_manager": same_names(f"{RUNTIME}.plugins", "Plugin PluginCrashException PluginManager"),
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
    "haptic_devices.controller": same_names(HAPTICS, "ControllerHapticDevice"),
    "haptic_devices.push_tensor": same_names(HAPTICS, "PushTensorHapticDevice"),
    "haptic_devices.glove": same_names(HAPTICS, "haptic_glove_device"),
    **_DEVICES,
}
"""Path below ``isaacteleop`` > published name > ``"module:object"``, or the reason why it is missing."""

for _package, _modules in _PACKAGES.items():
    MODULES[_package] = {name: row for rows in _modules.values() for name, row in rows.items()}
    MODULES |= {f"{_package}.{module}": rows for module, rows in _modules.items()}
SMALL = "handloom.compat.isaacteleop.small_names"
_KEYS = "GRIPPER_COMMAND_KEY GRIPPER_ELEMENT_LABEL"
_SMALL_NAMES = {
    "deviceio": "JOINT_PALM JOINT_WRIST JOINT_THUMB_TIP JOINT_INDEX_TIP",
    "deviceio_trackers": "JOINT_PALM JOINT_WRIST JOINT_THUMB_TIP JOINT_INDEX_TIP",
    "retargeters.SO101.clutch_retargeter": "_MATRIX_INDEX _MIN_QUAT_NORM _ROTATION_ATOL _normalize_quat:normalized "
    "_quat_mul:product _quat_inv:inverse _mat_to_quat_xyzw:quat_of_matrix",
    "retargeters.SO101.gripper_retargeter": f"{_KEYS} _TRIGGER_DEADZONE _OPEN_CLOSEDNESS _trigger_to_closedness",
    "retargeters.foot_pedal_retargeter": "DEFAULT_MAX_LINEAR_VEL_MPS DEFAULT_MAX_ANGULAR_VEL_RADPS "
    "DEFAULT_MIN_SQUAT_POS DEFAULT_MAX_SQUAT_POS DEFAULT_DEADZONE_THRESHOLD DEFAULT_YAW_RUDDER_THRESHOLD "
    "DEFAULT_STRAFE_RUDDER_THRESHOLD DEFAULT_STRAFE_PEDAL_PRESSED_THRESHOLD",
    "retargeters.joint_space.joint_state_retargeter": f"{_KEYS} JOINT_TARGETS_KEY EE_POSE_KEY _MATRIX_INDEX",
    "retargeters.rate_limiter": "EE_POSE_KEY JOINT_TARGETS_KEY _MIN_QUAT_NORM _MIN_ANGLE_RAD "
    "_quat_normalize:normalized_or_none _quat_mul:product _quat_conjugate:conjugated "
    "_quat_geodesic_angle:angle_between _clamped_dt _clamp_position_step:clamped_position "
    "_clamp_orientation_step:clamped_orientation",
    "retargeting_engine.deviceio_source_nodes.pedals_source": "DEFAULT_PEDAL_COLLECTION_ID",
    "retargeting_engine.utilities.transform_utils": "_rotation_matrix_to_quat_xyzw:quat_of_matrix_f32 "
    "_quat_multiply_xyzw:product_f32 _quat_multiply_batch_xyzw:products",
}
"""Module > its constants and functions, as ``published`` or ``published:ours``."""
for _module, _names in _SMALL_NAMES.items():
    for _name, _, _ours in (row.partition(":") for row in _names.split()):
        MODULES[_module][_name] = f"{SMALL}:{_ours or _name.removeprefix('_')}"
MODULES["retargeting_engine.interface.base_retargeter"]["_make_output_group"] = (
    "handloom.retarget.graph.groups:new_group"
)
MODULES["teleop_session_manager.helpers"] |= {
    "_get_trackers_from_pipeline": f"{SESSION}:trackers_of",
    "_get_sources_from_pipeline": f"{SESSION}:sources_of",
}
MODULES["retargeters"] |= same_names(RETARGET, "SO101PositionClutchRetargeter SO101WristRetargeter SO101RollRetargeter")

DIFFERENT = {
    "BaseRetargeter": "an unknown port name is reported when connecting; binding a stateful node twice gives a warning",
    "OptionalTensorGroup": "a refused write leaves the group absent",
    "NDArrayType": "unsigned types are distinguished from signed ones",
    "ParameterState": "either all updates of one call are applied or none",
    "FloatParameter": "a default out of bounds is refused; a bool is not a number",
    "IntParameter": "a default out of bounds is refused",
    "VectorParameter": "a default out of bounds and empty element names are refused",
    "BaseExecutable": "the same class as BaseRetargeter",
    "DeviceIOSession": "reads the devices of the config, or those that handloom.retarget.offer_devices offers",
    "OpenXRSession": "finds the devices that handloom.retarget.offer_devices offers; there is no OpenXR runtime",
    "OpenXRSessionHandles": "carries devices as link; the numbers have no meaning",
    "McapRecordingConfig": "the file contains JSON lines, not MCAP",
    "McapReplayConfig": "takes files recorded by our sessions; MCAP files are refused",
    "VendorConfig": "has no effect: devices give samples regardless of their vendor",
    "PluginManager": "if a plugin ends by itself, its exit code is reported",
    "ControllersSource": "raw samples may also be ControllerSnapshot; silent devices may be absent",
    "HandsSource": "raw samples may also be HandSnapshot; silent devices may be absent",
    "HeadSource": "raw samples may also be HeadSnapshot; silent devices may be absent",
    "Generic3AxisPedalSource": "raw samples may also be PedalSnapshot; silent devices may be absent",
    "FullBodySource": "raw samples may also be FullBodySnapshot; the vendor has no effect",
    "JointStateSource": "raw samples may also be joint positions by name",
    "ControllerTransform": "the matrix must be rigid within 1e-3",
    "HandTransform": "the matrix must be rigid within 1e-3",
    "HeadTransform": "the matrix must be rigid within 1e-3",
    "SO101ClutchRetargeter": "positions beyond 1 km count as lost; without home_base_T_ee it is the clutch of the "
    "SO-101 page",
    "SO101PositionClutchRetargeter": "ours: the clutch of the SO-101 page; a lost frame re-arms instead of jumping",
    "SO101RollRetargeter": "ours: the roll of the SO-101 page, with unwrapping",
    "SO101WristRetargeter": "of one revision after the page: pitch and roll; a lost frame re-arms",
    "TriHandMotionControllerRetargeter": "a wrong number of joint names is refused",
    "TriHandBiManualMotionControllerRetargeter": "an unknown joint is refused instead of left unset",
    "GripperRetargeter": "a value that is not a number holds the last command",
    "FootPedalRootCmdRetargeter": "a value that is not a number counts as rest",
    "LocomotionRootCmdRetargeter": "a value that is not a number counts as a stick at rest",
    "Se3AbsRetargeter": "joints flagged invalid, NaN and zero quaternions hold the last pose",
    "Se3RelRetargeter": "joints flagged invalid are not used; a lost frame forgets the running mean",
    "JointStateRetargeter": "a target without an input is refused instead of 0; re-engaging continues from the last "
    "command",
    "JointStateRetargeterConfig": "forward_kinematics may replace urdf_path and ee_link",
    "TensorReorderer": "an unknown name is refused instead of 0",
    "TeleopSession": "a recording ends explicitly (ended); steps outside the block are refused",
    "TeleopSessionConfig": "devices and record_to are ours; joint_publisher must be left out",
    "TactileVectorToControllerPulse": "an empty set of taxels is refused",
    "TactileHeatmapToControllerPulse": "pads of zero size are refused",
    "ControllerHapticDevice": "a non-finite pulse counts as none",
    "TwoButtonTeleopStateManager": "the same class as DefaultTeleopStateManager",
    "DefaultTeleopStateManager": "a reset button that is down when the device returns does not count as a press",
    "HeadPose": "deprecated alias of HeadInput with a warning",
    "HeadPoseIndex": "deprecated alias of HeadInputIndex with a warning",
    "HandPose": "called ControllerPose in handloom.retarget",
}
"""Published name > how ours differs; every other name in the table is the same."""
