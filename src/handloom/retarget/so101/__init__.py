"""The SO-101, a five-joint arm with one jaw, driven by the graph: inverse kinematics, stacking scene, operator."""

from handloom.retarget.so101.hand_motion import (
    STACK_CUBE_ANCHOR,
    HandConfig,
    Keyframe,
    ToolPath,
    anchor_transform,
    hand_recording,
)
from handloom.retarget.so101.position_ik import PositionIk, PositionIkConfig
from handloom.retarget.so101.scripted_operator import OperatorConfig, ScriptedOperator
from handloom.retarget.so101.so101_action import (
    ACTION,
    PUBLISHED_JAW,
    JawMap,
    SO101ActionController,
    so101_action_graph,
)
from handloom.retarget.so101.stack_cube import (
    CUBES,
    ROBOT,
    StackCubeConfig,
    fallen_cubes,
    stack_cube_checks,
    stack_cube_instance,
    stack_cube_observations,
    stack_cube_subtasks,
)
from handloom.retarget.so101.teleop_source import TeleopSource

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
