"""Slot types and standard groups by their published names."""

from handloom.compat.published import published

NAMES = {
    "FloatType": "handloom.retarget:FloatType",
    "IntType": "handloom.retarget:IntType",
    "BoolType": "handloom.retarget:BoolType",
    "NDArrayType": "handloom.retarget:NDArrayType",
    "DLDeviceType": "handloom.retarget:DLDeviceType",
    "DLDataType": "handloom.retarget:DLDataType",
    "HandInput": "handloom.retarget:HandInput",
    "HandInputIndex": "handloom.retarget:HandInputIndex",
    "HandJointIndex": "handloom.retarget:HandJointIndex",
    "NUM_HAND_JOINTS": "handloom.retarget:NUM_HAND_JOINTS",
    "HeadInput": "handloom.retarget:HeadInput",
    "HeadInputIndex": "handloom.retarget:HeadInputIndex",
    "HeadPose": "handloom.retarget.inputs.head_input:HeadPose",
    "HeadPoseIndex": "handloom.retarget:HeadInputIndex",
    "ControllerInput": "handloom.retarget:ControllerInput",
    "ControllerInputIndex": "handloom.retarget:ControllerInputIndex",
    "TransformMatrix": "handloom.retarget:TransformMatrix",
    "Generic3AxisPedalInput": "handloom.retarget:Generic3AxisPedalInput",
    "Generic3AxisPedalInputIndex": "handloom.retarget:Generic3AxisPedalInputIndex",
    "RobotHandJoints": "handloom.retarget:RobotHandJoints",
}

__getattr__, __dir__ = published(__name__, NAMES)
