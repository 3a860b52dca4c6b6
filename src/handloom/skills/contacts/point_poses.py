"""Poses of the hand that bring a point of it, or of its held object, to a point of the world along a direction."""

from collections.abc import Sequence

import numpy as np

from handloom.arrays import Array
from handloom.grasping import GripperShape
from handloom.motion.planning import Move, PlanStatus
from handloom.skills.arms.arm_controller import OPEN
from handloom.skills.arms.candidates import Chosen, choose
from handloom.skills.arms.orientations import direction_mask
from handloom.skills.configs.parts import Filters
from handloom.skills.picking.grasp_poses import Preshape, gripper_of
from handloom.skills.skill import Skill
from handloom.spatial import invert_pose, make_pose, matrix_from_rotvec

ROLLS = 12
"""Rotations of the hand about the direction that are tried."""
START_BLOCKED = "start_in_collision"
"""Reason given when a plan cannot begin."""
CLOSING = (0.75, 0.5, 0.25, 0.0)
"""Openings at which it is checked whether closing fingers touch something, as fractions of the whole."""
TILTS, AROUND = 3, 6
"""Tilts of the hand from the direction that are tried besides zero, and the number of tilt directions for each."""


def fingertips(gripper: GripperShape) -> Array:
    """Return the furthest point (3,) of the closed fingers, in the tool frame [m]."""
    _, y, z = gripper.position[0][gripper.pads].mean(axis=0) if len(gripper.pads) else np.zeros(3)
    return gripper.arm.R_ee_graspnet @ np.array([gripper.fingertip(0), y, z])


def pointing(skill: Skill, filters: Filters, p_world: Array, along: Array, tilt: float) -> Array:
    """Return poses T_base_tool (n, 4, 4) with the closed fingertips at a point, the hand along a direction or tilted.

    Args:
        skill: The calling skill.
        filters: Allowed directions of the hand.
        p_world: The point (3,) [m].
        along: The way (3,).
        tilt: Largest tilt of the hand from it [rad].
    """
    arm = skill.controller.arm
    approach, tip = np.asarray(arm.spec.approach, float), fingertips(gripper_of(skill))
    T_base_world = invert_pose(arm.T_world_base)
    way, point = T_base_world[:3, :3] @ along, T_base_world[:3, :3] @ p_world + T_base_world[:3, 3]
    R = facing_along(skill.controller.commanded_pose[:3, :3], approach, way, tilt)
    T = make_pose(R, point - R @ tip)
    T = T[direction_mask(T, filters, approach, arm.up)]
    taken, found = skill.controller.attainable(T, point_tool=tip, axis_tool=approach, angle=max(0.2, 0.3 * tilt))
    return taken[found]


def facing_along(R_start: Array, axis_tool: Array, way: Array, tilt: float) -> Array:
    """Return orientations (n, 3, 3) with an axis of the hand along a direction or tilted, smallest tilt first.

    Among equal tilts, the smallest rotation from the start comes first.

    Args:
        R_start: Initial orientation (3, 3).
        axis_tool: Axis of the hand (3,).
        way: Unit vector (3,) in the base.
        tilt: Largest tilt of the axis [rad].
    """
    now = R_start @ axis_tool
    R = _shortest(now, way) @ R_start
    across = np.linalg.svd(way[None])[2][1:]
    turned = []
    for lean in np.linspace(0.0, tilt, TILTS + 1) if tilt > 0.0 else (0.0,):
        angles = np.arange(AROUND) * 2.0 * np.pi / AROUND if lean > 0.0 else np.zeros(1)
        batch = []
        for angle in angles:
            side = np.cos(angle) * across[0] + np.sin(angle) * across[1]
            leaning = matrix_from_rotvec(lean * side) @ R
            axis = leaning @ axis_tool
            batch += [matrix_from_rotvec(roll * axis) @ leaning for roll in np.arange(ROLLS) * 2.0 * np.pi / ROLLS]
        order = np.argsort([-float(np.sum(one * R_start)) for one in batch], kind="stable")
        turned += [batch[k] for k in order]
    return np.stack(turned)


def _shortest(now: Array, wanted: Array) -> Array:
    """Return the smallest rotation (3, 3) from one unit vector to another."""
    axis = np.cross(now, wanted)
    sine = float(np.linalg.norm(axis))
    if sine < 1e-9:
        if float(now @ wanted) > 0.0:
            return np.eye(3)
        return matrix_from_rotvec(np.pi * np.linalg.svd(now[None])[2][1])
    return matrix_from_rotvec(axis / sine * np.arctan2(sine, float(now @ wanted)))


def choose_closed(skill: Skill, moves: Sequence[Move]) -> tuple[Chosen | None, str]:
    """Return the first candidate that passes with closed fingers, and the gripper state on the first move.

    Fingers that are still around a placed object stay open until the hand has left it.

    Args:
        skill: The calling skill; its failure is set if there is no candidate.
        moves: Poses (n, 4, 4) of each move, see ``choose``.
    """
    controller = skill.controller
    if _would_take_along(skill):
        chosen = choose(skill, moves)
        if chosen is not None:
            return chosen, "open_gripper"
        skill.failure = None
    controller.fingers = Preshape.at(gripper_of(skill), 0.0).joints
    chosen = choose(skill, moves)
    controller.fingers = {}
    if chosen is None and skill.failure is not None and skill.failure.reason == START_BLOCKED:
        skill.failure = None
        return choose(skill, moves), "open_gripper"
    return chosen, "close_gripper"


def _would_take_along(skill: Skill) -> bool:
    """Return whether open fingers would touch something if they closed where they are, such as a pen in its holder.

    Closed, they may be free of it again, and have carried it there.
    """
    controller, gripper = skill.controller, gripper_of(skill)
    if controller.gripper_state != OPEN or controller.held:
        return False
    levels = len(gripper.position) - 1
    try:
        for share in CLOSING:
            controller.fingers = Preshape.at(gripper, share * levels).joints
            controller.refresh()
            start = controller.planner.plan_to_joints(controller.target, controller.target)
            if start.status is PlanStatus.START_IN_COLLISION:
                return True
        return False
    finally:
        controller.fingers = {}
        controller.refresh()
