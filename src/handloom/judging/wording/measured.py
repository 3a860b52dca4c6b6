"""What a success term measures now, in words and units, for the messages about terms that do not hold."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from handloom.arrays import Array
from handloom.judging.bearers import bearers_of
from handloom.judging.checks import grasped
from handloom.judging.depth_inside import how_far_in
from handloom.judging.joint_terms import moved_joints
from handloom.judging.wording.whereabouts import whereabouts
from handloom.judging.wording.words import amount, in_words, part_of
from handloom.scene import Scene
from handloom.scene.measures import share_inside, world_box
from handloom.spatial import invert_pose, pose_error, pose_from_pos_quat, quat_angle, quat_from_matrix
from handloom.values import Check


def unmet(scene: Scene, term: Check) -> str:
    """Return a term that does not hold, with what is measured instead: ``bowl is upright ... (it leans 26 degrees)``.

    Args:
        scene: The scene in the state in which it does not hold.
        term: The term; of one that must have held at some time, the present value says nothing.
    """
    found = "" if term.seconds or term.name not in MEASURED else MEASURED[term.name](scene, dict(term.arguments))
    return f"{in_words(term, scene)} ({found})" if found else in_words(term, scene)


def _lean(scene: Scene, given: dict[str, Any]) -> str:
    direction = scene.object_pose(given["object"])[:3, :3] @ np.asarray(given["axis"], float)
    return f"it leans {_degrees(np.arccos(np.clip(direction[2] / np.linalg.norm(direction), -1.0, 1.0)))}"


def _slope(scene: Scene, given: dict[str, Any]) -> str:
    up = float(np.abs(scene.object_pose(given["object"])[2, :3]).max())
    return f"it leans {_degrees(np.arccos(np.clip(up, -1.0, 1.0)))}"


def _turn(scene: Scene, given: dict[str, Any]) -> str:
    now = quat_from_matrix(scene.object_pose(given["object"])[:3, :3])
    return f"it is {_degrees(quat_angle(now, np.asarray(given['quat'], float)))} off"


def _heading(scene: Scene, given: dict[str, Any]) -> str:
    x = scene.object_pose(given["object"])[:2, :3] @ np.asarray(given.get("axis", (1.0, 0.0, 0.0)), float)
    return f"it is turned to {_degrees(np.arctan2(x[1], x[0]))}"


def _height(scene: Scene, given: dict[str, Any]) -> str:
    return f"it is {_cm(scene.object_pose(given['object'])[2, 3] - given['from_z'])} above it"


def _place(scene: Scene, given: dict[str, Any]) -> str:
    middle = world_box(scene, given["object"]).mean(axis=0)[:2]
    low, high = np.asarray(given["low"], float), np.asarray(given["high"], float)
    return f"it is {_cm(np.linalg.norm(np.clip(middle, low, high) - middle))} outside"


def _moved(scene: Scene, given: dict[str, Any]) -> str:
    T = scene.object_pose(given["object"])
    lean = np.arccos(np.clip(float(T[2, :3] @ np.asarray(given["up"], float)), -1.0, 1.0))
    far = float(np.linalg.norm(T[:3, 3] - np.asarray(given["position"], float)))
    return f"it has moved {_cm(far)}, {_cm(given['distance'])} allowed, and leans {_degrees(lean)} more"


def _in_hand_instead(scene: Scene, given: dict[str, Any]) -> str:
    """Return what the fingers of a hand hold instead of an object: its neighbour, or what it lies in."""
    side = scene.robot(given["robot"]).arm(given["arm"])
    others = [name for name in scene.assets if name != given["object"]]
    held = [name for name in others if grasped(scene, robot=given["robot"], arm=given["arm"], object=name)]
    if held:
        return f"it holds {', '.join(held)}"
    touched = [name for name in others if _touches(scene, side.finger_bodies, name)]
    return f"its fingers touch {', '.join(touched)}" if touched else ""


def _touches(scene: Scene, fingers: Sequence[str], name: str) -> bool:
    return bool(scene.world.touching([*fingers], scene.world.subtree(scene.body_of(name))))


def _moved_container(scene: Scene, given: dict[str, Any]) -> str:
    if given.get("before") is None:
        return ""
    target = given["target"]
    far = np.linalg.norm(scene.object_pose(target)[:3, 3] - given["before"][target][:3, 3])
    return f"it has moved {_cm(far)} since, {_cm(given['distance'])} allowed"


def _distance(scene: Scene, given: dict[str, Any]) -> str:
    offset = scene.object_pose(given["object"])[:3, 3] - scene.object_pose(given["target"])[:3, 3]
    return f"it is {_cm(np.linalg.norm(offset[:2] if given.get('flat') else offset))} away"


def _gap(scene: Scene, given: dict[str, Any]) -> str:
    a, b = world_box(scene, given["object"]), world_box(scene, given["target"])
    gap = float(np.hypot(*np.maximum(np.maximum(a[0, :2] - b[1, :2], b[0, :2] - a[1, :2]), 0.0)))
    return f"the gap is {_cm(gap)}"


def _rise(scene: Scene, given: dict[str, Any]) -> str:
    target = world_box(scene, given["target"], given.get("part"))
    return f"it is {_cm(world_box(scene, given['object'])[0, 2] - target[0, 2])} above"


def _within_box(scene: Scene, given: dict[str, Any]) -> str:
    share = share_inside(scene, given["object"], given["target"], given.get("part"))
    return f"{share:.0%} of it is, {given['share']:.0%} needed"


def _in_base(scene: Scene, given: dict[str, Any]) -> Array:
    T_base_world = invert_pose(scene.robot(given["robot"]).arm(given["arm"]).T_world_base)
    return (T_base_world @ scene.object_pose(given["object"]))[:3, 3]


def _hand(scene: Scene, given: dict[str, Any]) -> str:
    side = scene.robot(given["robot"]).arm(given["arm"])
    now = invert_pose(side.T_world_base) @ scene.world.body_pose(side.tool_body)
    off, turn = pose_error(now, pose_from_pos_quat(given["position"], given["quat"]))
    return f"it is {_cm(float(off))} and {_degrees(float(turn))} off"


def _arm(scene: Scene, given: dict[str, Any]) -> str:
    off = scene.robot(given["robot"]).arm(given["arm"]).joints - np.asarray(given["joints"], float)
    return f"they are {_degrees(np.linalg.norm(off))} off, {_degrees(given['distance'])} allowed"


def _not_in(scene: Scene, given: dict[str, Any]) -> str:
    """Return how much of a long object is inside, and where an object is that is not."""
    far, where = how_far_in(scene, **given), whereabouts(scene, given["object"], given["target"])
    return where if not far or "rests on" in far else f"{far}; {where}"


def _not_on(scene: Scene, given: dict[str, Any]) -> str:
    """Return where an object is that does not rest on its target at all; nothing about one that stands badly on it."""
    if any(bearer.owner == given["target"] for bearer in bearers_of(scene, given["object"])):
        return ""
    return whereabouts(scene, given["object"], given["target"])


def _joint(scene: Scene, given: dict[str, Any]) -> str:
    name, joint = given["object"], given["joint"]
    q = scene.world.joint_position(f"{name}/{joint}")
    if given["mode"] == "zero":
        room = amount(given["threshold"], scene, name, joint)
        return f"it is open by {amount(abs(q), scene, name, joint)}, {room} allowed"
    moved = q - given["start"] if given["mode"] == "normal" else abs(q - given["start"])
    return f"it moved by {amount(moved, scene, name, joint)}"


def _position(scene: Scene, given: dict[str, Any]) -> str:
    name, joint = given["object"], given["joint"]
    return f"it is at {amount(scene.world.joint_position(f'{name}/{joint}'), scene, name, joint)}"


def _others(scene: Scene, given: dict[str, Any]) -> str:
    name = given["object"]
    known = dict(zip(given["joints"], zip(given["start"], given["within"], strict=True), strict=True))
    said = []
    for joint in moved_joints(scene, name, given["joints"], given["start"], given["within"]):
        start, room = known[joint]
        moved = amount(abs(scene.world.joint_position(f"{name}/{joint}") - start), scene, name, joint)
        said.append(f"{part_of(joint)} moved by {moved}, {amount(room, scene, name, joint)} allowed")
    return "; ".join(said)


def _joint_speed(scene: Scene, given: dict[str, Any]) -> str:
    name, joint = given["object"], given["joint"]
    return f"it moves by {amount(abs(scene.world.joint_velocity(f'{name}/{joint}')), scene, name, joint)} a second"


def _poured(scene: Scene, given: dict[str, Any]) -> str:
    if scene.grains is None:
        return ""
    there, left = scene.grains.inside(given["target"]), scene.grains.inside(given["container"])
    lost = float(1.0 - (there | left).mean())
    share, spilled = f"{given['share']:.0%} needed", f"{given['spilled']:.0%} allowed"
    return f"{float(there.mean()):.0%} is in it, {share}, and {lost:.0%} is lost, {spilled}"


def _speed(scene: Scene, given: dict[str, Any]) -> str:
    return f"{given['object']} moves at {_speed_of(scene, given['object'])}"


def _speeds(scene: Scene, given: dict[str, Any]) -> str:
    return ", ".join(f"{name} moves at {_speed_of(scene, name)}" for name in given["objects"])


def _speed_of(scene: Scene, name: str) -> str:
    return f"{100.0 * np.linalg.norm(scene.world.body_velocity(scene.body_of(name))[:3]):.1f} cm/s"


def _cm(length: Any) -> str:
    return f"{100.0 * float(length):.1f} cm"


def _degrees(angle: Any) -> str:
    return f"{np.rad2deg(float(angle)):.0f} degrees"


MEASURED: dict[str, Callable[[Scene, dict[str, Any]], str]] = {
    "ahead": lambda scene, given: f"it is {_cm(_in_base(scene, given)[0])} ahead",
    "apart_along": _gap,
    "calm": _speed,
    "carried_by": _not_on,
    "container_stays": _moved_container,
    "grasped": _in_hand_instead,
    "hand_at": _hand,
    "headed": _heading,
    "in_cavity": _not_in,
    "inserted": _not_in,
    "inside": _within_box,
    "joint_between": _position,
    "joint_state": _joint,
    "joint_still": _joint_speed,
    "joints_at": _arm,
    "level": _slope,
    "lifted": _height,
    "lower_than": lambda scene, given: f"it is at {_cm(_in_base(scene, given)[2])}",
    "lying_still": _speeds,
    "near": _distance,
    "next_to": _gap,
    "other_joints_kept": _others,
    "placed_at": _place,
    "points_up": _lean,
    "poured": _poured,
    "raised_above": _rise,
    "tilted": _lean,
    "turned_to": _turn,
    "unmoved": _moved,
}
"""Name of a term > what it measures, in words; all others only hold or do not."""
