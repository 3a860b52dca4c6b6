"""Retargeters by their published names."""

from handloom.compat.published import published

NAMES = {
    "TensorReorderer": "handloom.retarget:TensorReorderer",
    "SO101ClutchRetargeter": "handloom.retarget:SO101ClutchRetargeter",
    "SO101PoseClutchRetargeter": "handloom.retarget:SO101PoseClutchRetargeter",
    "SO101RollRetargeter": "handloom.retarget:SO101RollRetargeter",
    "SO101GripperRetargeter": "handloom.retarget:SO101GripperRetargeter",
    "Se3AbsRetargeter": "handloom.retarget:Se3AbsRetargeter",
    "Se3RelRetargeter": "handloom.retarget:Se3RelRetargeter",
    "Se3RetargeterConfig": "handloom.retarget:Se3RetargeterConfig",
    "GripperRetargeter": "handloom.retarget:GripperRetargeter",
    "GripperRetargeterConfig": "handloom.retarget:GripperRetargeterConfig",
    "EePoseRateLimiter": "handloom.retarget:EePoseRateLimiter",
    "JointRateLimiter": "handloom.retarget:JointRateLimiter",
    "RateLimiterConfig": "handloom.retarget:RateLimiterConfig",
    "JointStateRetargeter": "handloom.retarget:JointStateRetargeter",
    "JointStateRetargeterConfig": "handloom.retarget:JointStateRetargeterConfig",
    "ControllerPoseSource": "handloom.retarget:ControllerPoseSource",
    "LocomotionRootCmdRetargeter": "handloom.retarget:LocomotionRootCmdRetargeter",
    "LocomotionRootCmdRetargeterConfig": "handloom.retarget:LocomotionRootCmdRetargeterConfig",
    "LocomotionFixedRootCmdRetargeter": "handloom.retarget:LocomotionFixedRootCmdRetargeter",
    "LocomotionFixedRootCmdRetargeterConfig": "handloom.retarget:LocomotionFixedRootCmdRetargeterConfig",
    "FootPedalRootCmdRetargeter": "handloom.retarget:FootPedalRootCmdRetargeter",
    "FootPedalRootCmdRetargeterConfig": "handloom.retarget:FootPedalRootCmdRetargeterConfig",
}

__getattr__, __dir__ = published(__name__, NAMES)
