"""The published SO-101 pipeline: controller to ``[x, y, z, roll, closedness]``."""

from handloom.retarget.graph.output_combiner import OutputCombiner
from handloom.retarget.graph.value_input import ValueInput
from handloom.retarget.inputs.robot_values import TransformMatrix
from handloom.retarget.nodes.ee_pose_rate_limiter import EePoseRateLimiter
from handloom.retarget.nodes.rate_limiter_config import RateLimiterConfig
from handloom.retarget.nodes.so101_clutch_retargeter import SO101ClutchRetargeter
from handloom.retarget.nodes.so101_gripper_retargeter import SO101GripperRetargeter
from handloom.retarget.nodes.so101_roll_retargeter import SO101RollRetargeter
from handloom.retarget.nodes.tensor_reorderer import TensorReorderer
from handloom.retarget.sources.controllers_source import ControllersSource

ANCHOR_INPUT = "world_T_anchor"
"""Leaf of the pose of the device's frame in the world."""
ACTION_OUTPUT = "action"
"""Output with the five numbers, float32."""
POSE_ELEMENTS = ("pos_x", "pos_y", "pos_z", "quat_x", "quat_y", "quat_z", "quat_w")


def so101_action_graph(
    *,
    device: str = ControllersSource.RIGHT,
    position_scale: float = 1.0,
    roll_axis: str = "world_z",
    limits: RateLimiterConfig | None = None,
) -> OutputCombiner:
    """Wire one controller to an SO-101.

    Leaves: ``controllers``, ``world_T_anchor``, ``robot_ee_pos`` (``world_T_ee``) and ``robot_base_pos``
    (``world_T_base``). Output ``action`` (5,): tool centre in the base [m], wrist roll [rad], jaw closedness.

    Args:
        device: Which controller.
        position_scale: Metres of the robot per metre of the hand.
        roll_axis: ``"world_z"`` for the absolute roll, ``"local_z"`` for the roll since engaging.
        limits: How fast the position may move; None, as published, passes on whatever the hand does.
    """
    value = ValueInput.VALUE
    anchor = ValueInput(ANCHOR_INPUT, TransformMatrix())
    live = {
        port: ValueInput(port, TransformMatrix()).output(value)
        for port in (SO101ClutchRetargeter.ROBOT_EE_POS_INPUT, SO101ClutchRetargeter.ROBOT_BASE_POS_INPUT)
    }
    hand = ControllersSource("controllers").transformed(anchor.output(value)).output(device)
    clutch = SO101ClutchRetargeter("ee_pose", device, position_scale=position_scale)
    pose = clutch.connect({device: hand, **live}).output("ee_pose")
    if limits is not None:
        pose = EePoseRateLimiter("limited", limits).connect({"ee_pose": pose}).output("ee_pose")
    roll = SO101RollRetargeter("roll", device, axis=roll_axis, unwrap=True)
    jaw = SO101GripperRetargeter("gripper", device)
    flat = TensorReorderer(
        {"ee_pose": POSE_ELEMENTS, "roll_command": ["roll"], "gripper_command": ["gripper"]},
        ["pos_x", "pos_y", "pos_z", "roll", "gripper"],
        "action",
        {"ee_pose": "array"},
    ).connect(
        {
            "ee_pose": pose,
            "roll_command": roll.connect({device: hand}).output("roll_command"),
            "gripper_command": jaw.connect({device: hand}).output("gripper_command"),
        }
    )
    return OutputCombiner({ACTION_OUTPUT: flat.output(TensorReorderer.OUTPUT)})
