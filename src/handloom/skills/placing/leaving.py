"""The way of an empty hand away from what it has put down: out of a container, until nothing is between its fingers."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.motion.planning import Move
from handloom.objects.geometry import vertices_of
from handloom.robots import Arm
from handloom.scene import Scene, SceneArm
from handloom.scene.measures import local_box
from handloom.skills.arms.arm_controller import OPEN
from handloom.skills.arms.arm_motion import planned_state
from handloom.skills.arms.traffic import solid_geoms_of
from handloom.skills.configs.places import PlaceConfig
from handloom.skills.picking.finger_room import FingerRoom
from handloom.skills.picking.grasp_poses import Preshape, gripper_of
from handloom.skills.placing.place_in import Entry
from handloom.skills.skill import ConfigT, Skill, command_at
from handloom.spatial import translation
from handloom.values import Command

ABOVE = 0.01
"""Clearance of the fingers above the opening, from where the next motion may begin [m]."""
WALL = 0.02
"""Distance from a cavity within which fingers can hook its wall [m]."""
STEP, FURTHEST = 0.02, 0.2
"""Step and largest length of a further retreat [m]."""
ALOFT = 0.5
"""Rise of a slanted retreat, relative to its length back."""
WAYS = 3
"""Directions of a further retreat: back, back and up, up."""
JOINT_STEP = 0.05
"""Joint motion between two checks along a path to the home position [rad]."""


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


class Releases(Skill[ConfigT]):
    """A skill that puts something down: at its end, the hand is clear of it, wherever it has rolled or tilted."""

    _left: bool = False
    """Whether it was checked that the hand is clear."""

    def released(self) -> Sequence[str]:
        """Return the objects that must not be between the fingers when the skill ends."""
        return self.config.objects[:1]

    def is_done(self) -> bool:
        """Return whether no command is left; a hand that has not drawn back far enough goes on, once."""
        if not super().is_done():
            return False
        if not self._left and self.failure is None:
            self._left = True
            self.manip_list = draw_clear(self, self.released())
        return not self.manip_list


def further_retreat(
    skill: Skill[Any], paths: Sequence[Array | None], T_world_object: Array, given: Array
) -> tuple[Array, Array] | None:
    """Return a longer retreat, in the hand's frame (3,) [m], and its path; None if the given one is enough, or none is.

    Args:
        skill: The skill, whose first object is about to be released.
        paths: Joints (m, n) on the way to the place and on the given retreat [rad].
        T_world_object: Pose of the object at its place (4, 4).
        given: The retreat (3,) [m].
    """
    controller, name = skill.controller, skill.config.objects[0]
    down, away = paths
    if down is None or away is None or controller.arm.spec.suction is not None:
        return None
    room, at = FingerRoom(skill.scene, controller.arm, [name]), (name, T_world_object)
    if room.is_clear(away[-1], at):
        return None
    left, length = controller.obstacles_of(name), float(np.linalg.norm(given))
    start, T_base_tool = down[-1], controller.chain.T_base_tool(down[-1])
    for further in np.arange(length + STEP, FURTHEST + 1e-9, STEP).tolist():
        back = further / length * given
        found = controller.planner.plan_straight(
            start, T_base_tool @ translation(back), ignore=controller.ignored, released=left
        )
        if not found.ok:
            return None
        if room.is_clear(found.path[-1], at):
            return back, found.path
    return None


def draw_clear(skill: Skill[Any], names: Sequence[str]) -> list[Command]:
    """Return the commands that move an open hand away from what it has released; none if it is clear already.

    The object may have moved or tilted on release, so the hand looks where it is now: first straight back, then
    upwards. Published retreats are of fixed length, which can leave a handle or a wall between the fingers.

    Args:
        skill: The skill, which has no command left.
        names: The objects.
    """
    controller = skill.controller
    if not names or controller.gripper_state != OPEN or controller.held or controller.arm.spec.suction is not None:
        return []
    room, q = FingerRoom(skill.scene, controller.arm, names), controller.target
    if room.is_clear(q):
        return []
    controller.refresh()
    solids = tuple(solid for name in names for solid in controller.obstacles_of(name))
    others = tuple(text for text in controller.ignored if text not in solids)
    ways = [*_ways(controller.arm, controller.commanded_pose)]
    back = ways[::WAYS]
    # An object that is tilted into the way, or touches the fingers, leaves only the way back along the approach.
    for ignore, goals in ((others, ways), ((*others, *solids), back)):
        for T in goals:
            found = controller.planner.plan_straight(q, T, ignore=ignore)
            if found.ok and room.is_clear(found.path[-1]):
                return [_along(skill, found.path, straight=True)]
    path = _around(skill, room, ways, others)
    return [] if path is None else [_along(skill, path)]


def _around(skill: Skill[Any], room: FingerRoom, goals: Sequence[Array], ignore: tuple[str, ...]) -> Array | None:
    """Return a free path (m, n) away from what was released, for an arm that its own body hinders on a straight one."""
    controller = skill.controller
    q, planner = controller.target, controller.planner
    found = planner.plan_chain(q, [Move(T_base_tool=np.stack(goals))], ignore=ignore)
    if found.ok and room.is_clear(found.path[-1]):
        return found.path
    found = planner.plan_to_joints(q, controller.arm.spec.home, ignore=ignore)
    if not found.ok:
        return None
    steps = np.maximum(np.ceil(np.abs(np.diff(found.path, axis=0)).max(axis=1) / JOINT_STEP), 1).astype(int)
    for k, count in enumerate(steps):
        for share in np.arange(1, count + 1) / count:
            at = found.path[k] + share * (found.path[k + 1] - found.path[k])
            if room.is_clear(at):
                return np.concatenate([found.path[: k + 1], at[None]])
    return None


def _along(skill: Skill[Any], path: Array, *, straight: bool = False) -> Command:
    """Return the command that moves the open hand along a path (m, n)."""
    controller = skill.controller
    T = controller.chain.T_base_tool(path[-1])
    return command_at(
        T, "open_gripper", path=path, **({"straight": True} if straight else {}), **controller.partly_open
    )


def _ways(arm: SceneArm, T_base_tool: Array) -> Iterator[Array]:
    """Yield poses of the hand (4, 4) further back, back and up, and up, nearest first."""
    back, up = T_base_tool[:3, :3] @ -arm.spec.approach, arm.T_world_base[2, :3]
    slant = back + ALOFT * up
    for length in _lengths():
        for way in (back, slant / max(float(np.linalg.norm(slant)), 1e-9), up):
            yield translation(length * way) @ T_base_tool


def _lengths() -> list[float]:
    return np.arange(STEP, FURTHEST + 1e-9, STEP).tolist()
