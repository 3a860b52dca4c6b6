"""Geometry of a gripper with one fixed finger and one jaw."""

import math

import numpy as np

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.retarget.so101.position_ik import PositionIk
from handloom.retarget.so101.so101_action_controller import SO101ActionController
from handloom.spatial import invert_pose

ROLL_MARGIN = 0.05
"""Distance a planned roll keeps from the limits of the wrist [rad]."""


def fixed_finger_distance(controller: SO101ActionController) -> float:
    """Return how far the inner face of the fixed finger is behind the tool centre, along the closing direction [m]."""
    arm, world = controller.arm, controller.arm.world
    model, data = world.model, world.data
    jaw_body = model.jnt_bodyid[world.joint_index(arm.prefix + arm.spec.gripper_joint_names[0])]
    T_tool_world = invert_pose(controller.T_world_tool)
    for geom in (world.geom_index(arm.prefix + name) for name in arm.spec.pad_geoms):
        if model.geom_bodyid[geom] == jaw_body:
            continue
        # The tool frame has y along closing; a box reaches as far along it as its turned half sizes add up to.
        centre = T_tool_world[1, :3] @ data.geom_xpos[geom] + T_tool_world[1, 3]
        turned = T_tool_world[1, :3] @ data.geom_xmat[geom].reshape(3, 3)
        return float(-(centre + np.abs(turned) @ model.geom_size[geom]))
    raise InputError(f"robot {arm.robot_name!r} has no finger that stays still, so a one-jaw grasp cannot be planned")


def roll_for_yaw(controller: SO101ActionController, position: Array, yaw: float) -> float | None:
    """Return the wrist roll [rad] at which the jaw closes along ``yaw`` [rad], None if the wrist does not turn so far.

    Args:
        controller: The arm; it is not moved.
        position: Tool centre in the world (3,) [m].
        yaw: Closing direction, as an angle about the world's z axis from its x axis.
    """
    ik = PositionIk(controller.ik.chain, controller.ik.config)
    ik.reset(controller.arm.joints)
    T_base_world = invert_pose(controller.T_world_base)
    target = T_base_world[:3, :3] @ position + T_base_world[:3, 3]
    start = ik.chain.T_base_tool(ik.q, threads=1)[:3, 3]
    for fraction in np.linspace(0.1, 1.0, 10):
        ik.step(start + fraction * (target - start), 0.0)
    roll = 0.0
    # The roll moves the tool centre a little and the shoulder with it; a few rounds settle both.
    for _ in range(4):
        q = ik.step(target, roll)
        closing = controller.T_world_base[:3, :3] @ ik.chain.T_base_tool(q, threads=1)[:3, 1]
        roll += math.remainder(yaw - math.atan2(closing[1], closing[0]), 2.0 * math.pi)
    low, high = ik.chain.lower[-1] + ROLL_MARGIN, ik.chain.upper[-1] - ROLL_MARGIN
    return roll if low <= roll <= high else None
