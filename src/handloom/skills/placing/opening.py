"""How far fingers open for a release: opened fully inside a container, they may press its walls apart and lift it."""

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.scene import Scene
from handloom.scene.scene import SceneArm
from handloom.skills.configs.places import PlaceConfig
from handloom.skills.picking.grasp_poses import Preshape, gripper_of
from handloom.skills.placing.place_in import Entry
from handloom.skills.skill import Skill

ROOM = 0.003
"""Minimum gap between the open fingers and the container [m]."""
SAMPLES = 6
"""Number of places along a way out at which open fingers are checked."""


def release(
    skill: Skill[PlaceConfig], entry: Entry | None, down: Array | None, *away: Array | None
) -> dict[str, Array]:
    """Return how far the fingers open: fully, but little at a rim, and as little as needed if that is enough.

    That is so with a single jaw, and in a container that another hand holds or that is too narrow: wide-open fingers
    would push its walls apart, or hook them on the way out.

    Args:
        skill: The place.
        entry: How the object enters a cavity; None if it does not.
        down: Joints (n, m) on the way to the place; None if unknown.
        away: Joints on the ways out.
    """
    gripper, arm, config = gripper_of(skill), skill.controller.arm, skill.config
    if config.rim or skill.controller.by_rim:
        return {"drive": Preshape.for_rims(gripper).drive}
    enough = Preshape.to_let_go(gripper, arm.gripper_positions)
    if not gripper.symmetric or config.target_held or skill.controller.by_ring:
        return {"drive": enough.drive}
    if down is None or entry is None or not entry.from_above:
        return {}
    wide = Preshape.at(gripper, len(gripper.position) - 1)
    ways = [path[np.linspace(0, len(path) - 1, SAMPLES).astype(int)] for path in away if path is not None]
    places = np.concatenate([down[-1:], *ways])
    narrow = any(opens_into(skill.scene, arm, config.objects[1], q, wide.joints) for q in places)
    return {"drive": enough.drive} if narrow else {}


def opens_into(scene: Scene, arm: SceneArm, target: str, q: Array, joints: dict[str, float]) -> bool:
    """Return whether the hand of an arm touches a target when its fingers open.

    Args:
        scene: The scene; its state is preserved.
        arm: The arm.
        target: The container.
        q: Joints of the arm (m,) at the release [rad].
        joints: Joint positions of the open hand [m or rad], by name in the robot's model.
    """
    world, model = scene.world, scene.world.model
    data = mujoco.MjData(model)
    data.qpos[:] = world.data.qpos
    data.qpos[arm.qpos_index] = q
    for name, value in joints.items():
        data.qpos[world.qpos_index(arm.prefix + name)] = value
    mujoco.mj_kinematics(model, data)
    solid = (model.geom_contype | model.geom_conaffinity) != 0

    def geoms(bodies: tuple[str, ...] | list[str]) -> list[int]:
        wanted = [world.body_index(body) for body in bodies]
        return np.flatnonzero(solid & np.isin(model.geom_bodyid, wanted)).tolist()

    walls = geoms(list(world.subtree(scene.body_of(target))))
    fingers = geoms([part for body in arm.finger_bodies for part in world.subtree(body)])
    pairs = ((finger, wall) for finger in fingers for wall in walls)
    return any(mujoco.mj_geomDistance(model, data, *pair, ROOM, None) < ROOM for pair in pairs)
