"""A held object, seen from the hand: where the hand must be for the object to be somewhere."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handloom.arrays import Array
from handloom.skills.arm_controller import CLOSED
from handloom.skills.configs.places import DummyForward
from handloom.skills.joint_ctrl import set_joints
from handloom.skills.joint_line import joint_line
from handloom.skills.skill import Skill
from handloom.spatial import invert_pose, quat_from_matrix, translation
from handloom.values import Check, Command

AXES = {"x": 0, "y": 1, "z": 2}


@dataclass(frozen=True, kw_only=True, eq=False)
class HeldObject:
    """An object in the hand with a reference point on it."""

    name: str
    point: tuple[float, float, float]
    """Reference point in the object frame [m]."""
    T_world_base: Array
    T_world_point: Array
    """Reference point with the object's axes (4, 4), as it is now."""
    T_tool_point: Array

    @classmethod
    def of(cls, skill: Skill, name: str, offsets: Sequence[tuple[str, float]] = ()) -> "HeldObject":
        """Return an object as the arm of a skill holds it; offsets shift its reference point along its own axes [m]."""
        x, y, z = sum((distance * np.eye(3)[AXES[axis]] for axis, distance in offsets), np.zeros(3)).tolist()
        T_world_base = skill.controller.arm.T_world_base
        T_world_point = skill.scene.object_pose(name) @ translation((x, y, z))
        T_tool_point = invert_pose(T_world_base @ skill.controller.tool_pose()) @ T_world_point
        return cls(
            name=name,
            point=(x, y, z),
            T_world_base=T_world_base,
            T_world_point=T_world_point,
            T_tool_point=T_tool_point,
        )

    def hand_poses(self, T_world_point: Array) -> Array:
        """Return T_base_tool (..., 4, 4) that bring the reference point to poses (..., 4, 4)."""
        return invert_pose(self.T_world_base) @ T_world_point @ invert_pose(self.T_tool_point)

    def point_at(self, T_base_tool: Array) -> Array:
        """Return T_world_point (4, 4) with the hand at a pose."""
        return self.T_world_base @ T_base_tool @ self.T_tool_point

    def checks(
        self, skill: Skill, T_world_point: Array, *, distance: float | None, angle: float | None
    ) -> tuple[Check, ...]:
        """Return: the object is in the hand, its reference point at a pose within a distance [m] and an angle [rad].

        The published terms look at the hand; an object that slips in it is judged here too.
        """
        arm, terms = skill.controller.arm, []
        if skill.controller.gripper_state == CLOSED:
            arguments = {"robot": arm.robot_name, "arm": arm.name, "object": self.name}
            terms.append(Check(name="grasped", arguments=arguments))
        if distance is not None:
            at = {"position": T_world_point[:3, 3].tolist(), "point": list(self.point), "distance": distance}
            terms.append(Check(name="point_at", arguments={"object": self.name, **at}))
        if angle is not None:
            quat = quat_from_matrix(T_world_point[:3, :3]).tolist()
            terms.append(Check(name="turned_to", arguments={"object": self.name, "quat": quat, "angle": angle}))
        return tuple(terms)


def joint_moves(skill: Skill, start: Array, dummy: DummyForward) -> tuple[list[Command], Array]:
    """Return one command per frame of the joint move at the end of a skill, and the joints (n,) it ends at.

    Args:
        skill: The skill that asks.
        start: Joints (n,) [rad] that its other moves end at.
        dummy: The joints to set, in how many frames, with which gripper state.
    """
    chain = skill.controller.chain
    goal = np.clip(set_joints(start, dummy.ctrl_list, skill.config.name), chain.lower, chain.upper)
    speed = skill.controller.limits.velocity
    line = joint_line(start, goal, dummy.num_steps, speed, skill.scene.instance.fps)
    return [skill.stay("dummy_forward", arm_action=q, gripper_state=dummy.gripper_state) for q in line], goal
