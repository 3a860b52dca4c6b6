"""Room for the fingers of a hand to open and close beside objects that they have let go of."""

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.grasping import GripperShape
from handloom.scene import Scene, SceneArm
from handloom.skills.arms.arm_controller import OPEN
from handloom.skills.arms.arm_motion import planned_state
from handloom.skills.arms.traffic import solid_geoms_of
from handloom.skills.picking.grasp_poses import Preshape
from handloom.skills.skill import Skill
from handloom.spatial import pos_quat_from_pose

GAP = 0.003
"""Distance that fingers keep from a released object however they move [m]; hands follow within a few millimetres."""
OPENINGS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Openings of the fingers that are checked, as fractions of the whole: the next skill may close or open them."""


class FingerRoom:
    """Distances between the fingers of a hand, at any opening, and objects that it has released."""

    def __init__(self, scene: Scene, arm: SceneArm, names: Sequence[str]) -> None:
        """Find the solids.

        Args:
            scene: The scene.
            arm: The arm whose hand has released the objects.
            names: The objects.
        """
        gripper = GripperShape.of(scene.robot(arm.robot_name).description, arm.spec)
        self._scene, self._arm = scene, arm
        levels = len(gripper.position) - 1
        self._openings = [Preshape.at(gripper, share * levels).joints for share in OPENINGS]
        self._hand = _geoms(scene, [*arm.finger_bodies, *scene.world.subtree(arm.tool_body)])
        self._solids = _geoms(scene, [body for name in names for body in scene.world.subtree(scene.body_of(name))])

    def is_clear(self, q: Array, moved: tuple[str, Array] | None = None) -> bool:
        """Return whether the fingers may open and close freely at joints (n,).

        Args:
            q: Joints of the arm [rad].
            moved: An object and its pose T_world_object (4, 4), if it is elsewhere than now.
        """
        return all(self._is_clear(q, fingers, moved) for fingers in self._openings)

    def _is_clear(self, q: Array, fingers: dict[str, float], moved: tuple[str, Array] | None) -> bool:
        model, arm = self._scene.world.model, self._arm
        joints = dict(zip(arm.joint_names, q.tolist(), strict=True))
        data = planned_state(self._scene, joints | {arm.prefix + name: value for name, value in fingers.items()})
        if moved is not None:
            _move(self._scene, data, *moved)
        gaps = np.linalg.norm(data.geom_xpos[self._hand, None] - data.geom_xpos[None, self._solids], axis=2)
        reach = model.geom_rbound[self._hand, None] + model.geom_rbound[None, self._solids] + GAP
        near = np.argwhere(gaps < reach)
        pairs = ((int(self._hand[a]), int(self._solids[b])) for a, b in near)
        return all(mujoco.mj_geomDistance(model, data, *pair, 2.0 * GAP, None) >= GAP for pair in pairs)


def has_between_fingers(skill: Skill[Any]) -> bool:
    """Return whether an empty, open hand would touch a loose object if its fingers closed or opened where they are."""
    controller, scene = skill.controller, skill.scene
    if controller.gripper_state != OPEN or controller.held or controller.arm.spec.suction is not None:
        return False
    loose = [o.name for o in scene.instance.objects if not o.fixed and o.solid]
    return not FingerRoom(scene, controller.arm, loose).is_clear(controller.target)


def _geoms(scene: Scene, bodies: Sequence[str]) -> NDArray[np.intp]:
    return np.array(solid_geoms_of(scene, bodies), dtype=np.intp)


def _move(scene: Scene, data: mujoco.MjData, name: str, T_world_object: Array) -> None:
    """Put an object at a pose (4, 4) in a state."""
    model = scene.world.model
    start = int(model.jnt_qposadr[model.body_jntadr[scene.world.body_index(scene.body_of(name))]])
    data.qpos[start : start + 7] = np.concatenate(pos_quat_from_pose(T_world_object))
    mujoco.mj_kinematics(model, data)
