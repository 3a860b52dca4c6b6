"""The way of an empty hand out of a container that it has put something into from above."""

from typing import NamedTuple

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.objects.geometry import vertices_of
from handloom.robots import Arm
from handloom.scene import Scene, SceneArm
from handloom.scene.measures import local_box
from handloom.skills.arms.arm_motion import planned_state
from handloom.skills.arms.traffic import solid_geoms_of
from handloom.skills.configs.places import PlaceConfig
from handloom.skills.picking.grasp_poses import Preshape, gripper_of
from handloom.skills.placing.place_in import Entry
from handloom.skills.skill import Skill
from handloom.spatial import translation

ABOVE = 0.01
"""Clearance of the fingers above the opening, from where the next motion may begin [m]."""
WALL = 0.02
"""Distance from a cavity within which fingers can hook its wall [m]."""


class WayOut(NamedTuple):
    """The last part of a retreat."""

    T_base_tool: Array
    """Where it ends (4, 4)."""
    path: Array
    """Joints (m, n) on the way."""


def way_out(skill: Skill[PlaceConfig], entry: Entry | None, away: Array | None) -> WayOut | None:
    """Return the way straight up out of a cavity; None if the hand is clear of it already, or cannot leave that way.

    The next motion may turn the hand anywhere and opens the fingers fully: fingers still between the walls would lift
    the container.

    Args:
        skill: The place.
        entry: How the object entered the cavity.
        away: Joints (m, n) on the retreat from the object; None if unknown.
    """
    if entry is None or not entry.from_above or away is None or skill.config.target_held:
        return None
    controller, gripper = skill.controller, gripper_of(skill)
    left, q = controller.obstacles_of(skill.config.objects[0]), away[-1]
    wide = Preshape.at(gripper, len(gripper.position) - 1)
    rise = _depth_in(skill.scene, controller.arm, entry.box, q, wide.joints)
    T = translation(rise * controller.arm.T_world_base[2, :3]) @ controller.chain.T_base_tool(q)
    for opened in (wide, Preshape.to_let_go(gripper, controller.arm.gripper_positions)) if rise > 0.0 else ():
        controller.fingers = opened.joints
        controller.refresh()
        found = controller.planner.plan_straight(q, T, ignore=controller.ignored, released=left)
        controller.fingers = {}
        if found.ok:
            return WayOut(T, found.path)
    return None


def _depth_in(scene: Scene, arm: SceneArm, box: Array, q: Array, fingers: dict[str, float]) -> float:
    """Return how far a hand at joints (n,) must rise until its fingers are above a cavity [m]; at most 0 if they are.

    Args:
        scene: The scene.
        arm: The arm.
        box: Box of the cavity in the world (2, 3) [m].
        q: Joints of the arm (n,) [rad].
        fingers: Joints of the fingers [m or rad], by name in the robot's model.
    """
    joints = {arm.prefix + name: value for name, value in fingers.items()}
    data = planned_state(scene, joints | dict(zip(arm.joint_names, q.tolist(), strict=True)))
    mujoco.mj_kinematics(scene.world.model, data)
    rise = 0.0
    for geom in solid_geoms_of(scene, [*arm.finger_bodies, *scene.world.subtree(arm.tool_body)]):
        points = vertices_of(scene.world.model, data, geom)
        low, high = points.min(axis=0), points.max(axis=0)
        if np.all(low[:2] < box[1, :2] + WALL) and np.all(high[:2] > box[0, :2] - WALL):
            rise = max(rise, float(box[1, 2] + ABOVE - low[2]))
    return rise


def covered(scene: Scene, name: str, spec: Arm, T_tool_object: Array) -> float:
    """Return how far the fingers reach over a held object along their approach [m].

    Args:
        scene: The scene.
        name: The object.
        spec: The arm.
        T_tool_object: How the object is held (4, 4).
    """
    (low, high), _ = local_box(scene, name)
    ends = np.array([[(low, high)[i][0], (low, high)[j][1], (low, high)[k][2]] for i, j, k in np.ndindex(2, 2, 2)])
    seen = ends @ T_tool_object[:3, :3].T + T_tool_object[:3, 3]
    return float(-((seen - spec.T_tool_tcp[:3, 3]) @ spec.approach).min())
