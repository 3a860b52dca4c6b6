"""The SO-101, a five-joint arm with one jaw, under the graph: inverse kinematics, the stacking scene, an operator."""

from handloom.retarget.so101.anchor import STACK_CUBE_ANCHOR, anchor_transform
from handloom.retarget.so101.hand_motion import HandConfig, hand_recording
from handloom.retarget.so101.position_ik import PositionIk, PositionIkConfig
from handloom.retarget.so101.scripted_operator import OperatorConfig, ScriptedOperator
from handloom.retarget.so101.so101_action_controller import ACTION, PUBLISHED_JAW, JawMap, SO101ActionController
from handloom.retarget.so101.so101_action_graph import so101_action_graph
from handloom.retarget.so101.stack_cube_scene import CUBES, ROBOT, StackCubeConfig, stack_cube_instance
from handloom.retarget.so101.stack_cube_terms import (
    fallen_cubes,
    stack_cube_checks,
    stack_cube_observations,
    stack_cube_subtasks,
)
from handloom.retarget.so101.teleop_source import TeleopSource
from handloom.retarget.so101.tool_path import Keyframe, ToolPath

__all__ = [
    "ACTION",
    "CUBES",
    "PUBLISHED_JAW",
    "ROBOT",
    "STACK_CUBE_ANCHOR",
    "HandConfig",
    "JawMap",
    "Keyframe",
    "OperatorConfig",
    "PositionIk",
    "PositionIkConfig",
    "SO101ActionController",
    "ScriptedOperator",
    "StackCubeConfig",
    "TeleopSource",
    "ToolPath",
    "anchor_transform",
    "fallen_cubes",
    "hand_recording",
    "so101_action_graph",
    "stack_cube_checks",
    "stack_cube_instance",
    "stack_cube_observations",
    "stack_cube_subtasks",
]
