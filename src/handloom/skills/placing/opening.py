"""Check of whether fingers can open fully inside a container: if not, they press its walls apart and lift it."""

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.scene import Scene
from handloom.scene.scene import SceneArm

ROOM = 0.003
"""Minimum gap between the open fingers and the container [m]."""


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
