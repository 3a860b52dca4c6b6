"""Success terms of motions: is the hand, are the joints, is an object where it should be."""

from collections.abc import Sequence

import numpy as np

from handloom.scene import Scene
from handloom.spatial import invert_pose, pose_error, pose_from_pos_quat, quat_angle, quat_from_matrix


def hand_at(
    scene: Scene,
    *,
    robot: str,
    arm: str,
    position: Sequence[float],
    quat: Sequence[float],
    distance: float | None = None,
    angle: float | None = None,
    either: bool = False,
) -> bool:
    """Return whether the hand is at a pose in the arm base.

    Args:
        scene: The scene.
        robot: Name of the robot.
        arm: ``left`` or ``right``.
        position: Wanted place (3,) [m].
        quat: Wanted orientation, wxyz.
        distance: Largest distance [m]; None does not ask.
        angle: Largest turn [rad]; None does not ask.
        either: One of the two is enough, as the published test of free motions has it.
    """
    side = scene.robot(robot).arm(arm)
    T_base_tool = invert_pose(side.T_world_base) @ scene.world.body_pose(side.tool_body)
    off, turn = pose_error(T_base_tool, pose_from_pos_quat(position, quat))
    terms = [float(error) < limit for error, limit in ((off, distance), (turn, angle)) if limit is not None]
    return any(terms) if either else all(terms)


def joints_at(scene: Scene, *, robot: str, arm: str, joints: Sequence[float], distance: float) -> bool:
    """Return whether the joints of an arm are within ``distance`` (norm) [rad] of a configuration."""
    return bool(np.linalg.norm(scene.robot(robot).arm(arm).joints - np.asarray(joints, float)) < distance)


def near(scene: Scene, *, object: str, target: str, distance: float, flat: bool = False) -> bool:
    """Return whether the origins of two objects are closer than ``distance`` [m]; ``flat`` leaves out the height."""
    offset = scene.object_pose(object)[:3, 3] - scene.object_pose(target)[:3, 3]
    return bool(np.linalg.norm(offset[:2] if flat else offset) < distance)


def turned_to(scene: Scene, *, object: str, quat: Sequence[float], angle: float) -> bool:
    """Return whether an object is within ``angle`` [rad] of a world orientation, wxyz."""
    return bool(quat_angle(quat_from_matrix(scene.object_pose(object)[:3, :3]), np.asarray(quat, float)) < angle)


def point_at(scene: Scene, *, object: str, point: Sequence[float], position: Sequence[float], distance: float) -> bool:
    """Return whether a point of an object, in its own frame [m], is within ``distance`` [m] of a place in the world."""
    T = scene.object_pose(object)
    now = T[:3, :3] @ np.asarray(point, float) + T[:3, 3]
    return bool(np.linalg.norm(now - np.asarray(position, float)) < distance)


def points_up(scene: Scene, *, object: str, axis: Sequence[float], angle: float) -> bool:
    """Return whether an axis of an object is within ``angle`` [rad] of up."""
    direction = scene.object_pose(object)[:3, :3] @ np.asarray(axis, float)
    cosine = direction[2] / np.linalg.norm(direction)
    return bool(np.arccos(np.clip(cosine, -1.0, 1.0)) < angle)


def ahead(scene: Scene, *, object: str, robot: str, arm: str, low: float, high: float) -> bool:
    """Return whether an object lies between two distances [m] ahead of the base of an arm."""
    T_base_object = invert_pose(scene.robot(robot).arm(arm).T_world_base) @ scene.object_pose(object)
    return bool(low < T_base_object[0, 3] < high)
