"""Frozen value types shared between folders."""

from handloom.values.articulation import ArticulationAction, ArticulationActions, DOFInfo, JointsState
from handloom.values.camera import CameraSpec
from handloom.values.instance import (
    ROLLING_RESISTANCE,
    EndPose,
    FluidInstance,
    LightInstance,
    ObjectInstance,
    RetoldFrom,
    RobotInstance,
    TaskInstance,
    pair_id,
)
from handloom.values.record import MARK, Check, Command, EpisodeRecord, Failure, FunnelStage, SkillSpan

__all__ = [
    "MARK",
    "ROLLING_RESISTANCE",
    "ArticulationAction",
    "ArticulationActions",
    "CameraSpec",
    "Check",
    "Command",
    "DOFInfo",
    "EndPose",
    "EpisodeRecord",
    "Failure",
    "FluidInstance",
    "FunnelStage",
    "JointsState",
    "LightInstance",
    "ObjectInstance",
    "RetoldFrom",
    "RobotInstance",
    "SkillSpan",
    "TaskInstance",
    "pair_id",
]
