"""Frozen values that cross folders."""

from handloom.values.articulation import ArticulationAction, ArticulationActions, DOFInfo, JointsState
from handloom.values.camera import CameraSpec
from handloom.values.instance import FluidInstance, LightInstance, ObjectInstance, RobotInstance, TaskInstance
from handloom.values.record import MARK, Check, Command, EpisodeRecord, Failure, FunnelStage, SkillSpan

__all__ = [
    "MARK",
    "ArticulationAction",
    "ArticulationActions",
    "CameraSpec",
    "Check",
    "Command",
    "DOFInfo",
    "EpisodeRecord",
    "Failure",
    "FluidInstance",
    "FunnelStage",
    "JointsState",
    "LightInstance",
    "ObjectInstance",
    "RobotInstance",
    "SkillSpan",
    "TaskInstance",
]
