"""Success terms in plain words."""

from collections.abc import Callable
from typing import Any

import numpy as np

from handloom.scene import Scene
from handloom.values import Check

WORDS = {
    "above_bottom": "{object} is not below the lowest point of {target}{of_part}",
    "ahead": "{object} is {low_cm} to {high_cm} cm ahead of the base of {hand}",
    "apart_along": "{object} is on the required side of {target}, {low_cm} to {high_cm} cm away",
    "base_at": "{robot} stands within {distance_cm} cm and {angle_deg} degrees of its goal",
    "base_clear": "{robot} touches only what it holds",
    "between": "{object} is between {first} and {second}",
    "calm": "{object} and the robot are at rest",
    "carried_by": "{object} rests on {target}{of_part}",
    "container_stays": "{target} stays where {object} was put into it",
    "filled": "enough is in {container}",
    "fingers_only": "{hand} touches {object} with its fingers only",
    "grasped": "{hand} holds {object}",
    "grasped_moving": "{hand} holds {object}, which moves",
    "gripper_open": "the gripper of {hand} is open",
    "hand_at": "{hand} has its hand at the goal{within}",
    "headed": "{object} is turned to {yaw_deg} degrees",
    "held_by_both": "{object} is in both hands",
    "held_up": "{object} is held in the air",
    "in_cavity": "{object} is in {target}{of_part}",
    "in_hand": "{object} is in a hand",
    "in_one_hand": "{object} is in exactly one hand",
    "in_view": "{scanner} has seen {object}",
    "inserted": "{object} is in {target}{of_part} with its {point}",
    "inside": "{object} is inside {target}{of_part}",
    "joint_still": "{object}: {part_name} is at rest",
    "joints_at": "the joints of {hand} are at their goal",
    "lasting_after": "{listed} still at rest a second later",
    "leans_on": "{object} leans on {target}",
    "left_of": "{object} is more than {distance_cm} cm left of {target}{of_part}",
    "let_go": "{object} is released",
    "level": "{object} is level to within {angle_deg} degrees",
    "lifted": "{object} is {by_cm} cm above its initial place",
    "lower_than": "{object} is lower than {height_cm} cm above the base of {hand}",
    "lying_still": "{listed} at rest",
    "near": "{object} is within {distance_cm} cm of {target}",
    "next_to": "{object} is beside {target}{on_side}",
    "other_joints_kept": "no other part of {object} has moved: {parts}",
    "over_box": "{object} is over {target}",
    "overlapping": "{object} overlaps {target}{of_part}",
    "placed_at": "{object} is at its place",
    "point_at": "the point of {object} is within {distance_cm} cm of its goal",
    "points_up": "{object} is upright to within {angle_deg} degrees",
    "poured": "{container} has been poured into {target}",
    "pressed_at": "{object} has been pressed at its {point}",
    "pushed_down": "{object} has been pressed",
    "raised_above": "{object} is {by_cm} cm above the lowest point of {target}",
    "released": "{hand} has released {object}",
    "right_of": "{object} is more than {distance_cm} cm right of {target}{of_part}",
    "stacked": "{upper} stands on {lower}",
    "swings": "{object} has been shaken (stroke {stroke})",
    "tilted": "{object} is tilted by {low_deg} to {high_deg} degrees",
    "touches": "{object} touches {target}",
    "turned_to": "{object} is turned to its goal to within {angle_deg} degrees",
    "unmoved": "{object} is where it was",
    "used_on": "{object} has touched {target}{with_point}",
    "wipes": "{target} has been wiped with {object}{of_part}",
}
"""Name of a term > sentence; terms of a user's own are shown by name."""


def in_words(term: Check, scene: Scene | None = None) -> str:
    """Return a term in words: ``lemon is in cabinet (drawer_1)``.

    Args:
        term: The term.
        scene: Its scene, which tells the units of joints; without one they are not known.
    """
    given = dict(term.arguments)
    if term.name in _JOINT_WORDS:
        return _JOINT_WORDS[term.name](given, scene)
    if term.name not in WORDS:
        return said(term)
    facts = {
        **given,
        "of_part": f" ({given['part']})" if given.get("part") else "",
        "on_side": f", on its {given['side']} side" if given.get("side") else "",
        "with_point": f" with its {given['point']}" if given.get("point") else "",
        "hand": "/".join(str(given[key]) for key in ("robot", "arm") if given.get(key)),
        "within": _within(given),
        "part_name": part_of(given.get("joint") or ""),
        "parts": ", ".join(part_of(joint) for joint in given.get("joints") or () if isinstance(joint, str)),
        **{f"{key}_deg": _degrees(given.get(key)) for key in ("angle", "yaw", "low", "high")},
        **{f"{key}_cm": _cm(given.get(key)) for key in ("by", "low", "high", "distance", "height")},
        "listed": " and ".join(given.get("objects") or ()),
    }
    return WORDS[term.name].format(**facts)


def part_of(joint: str) -> str:
    """Return the name of the part that a joint moves: ``knob_3`` for ``knob_3_joint``."""
    return joint.removesuffix("_joint")


def amount(value: float, scene: Scene | None, name: str, joint: str) -> str:
    """Return a motion of an object's joint [m or rad] with its unit: ``51 degrees``, ``12 mm``."""
    if scene is None or name not in scene.assets:
        return f"{short(float(value))} rad or m"
    link = next((link for link in scene.assets[name].joints if link.joint == joint), None)
    if link is not None and link.kind == "slide":
        return f"{1000.0 * value:.0f} mm"
    return f"{np.rad2deg(value):.0f} degrees"


def _state_words(given: dict[str, Any], scene: Scene | None) -> str:
    name, joint = given["object"], given["joint"]
    if given["mode"] == "zero":
        return f"{name}: {joint} is closed"
    most = given.get("most")
    above = "" if most is None else f" and at most {amount(most, scene, name, joint)}"
    return f"{name}: {joint} has moved by {amount(abs(given['threshold']), scene, name, joint)}{above}"


def _between_words(given: dict[str, Any], scene: Scene | None) -> str:
    name, joint = given["object"], given["joint"]
    low, high = (amount(given[key], scene, name, joint) for key in ("low", "high"))
    return f"{name}: {joint} is between {low} and {high}"


_JOINT_WORDS: dict[str, Callable[[dict[str, Any], Scene | None], str]] = {
    "joint_state": _state_words,
    "joint_between": _between_words,
}


def _within(given: dict[str, Any]) -> str:
    limits = [f"{_cm(given['distance'])} cm"] if isinstance(given.get("distance"), float) else []
    limits += [f"{_degrees(given['angle'])} degrees"] if isinstance(given.get("angle"), float) else []
    return f", to within {(' or ' if given.get('either') else ' and ').join(limits)}" if limits else ""


def _cm(length: Any) -> str:
    return f"{100.0 * max(length, 0.0):.3g}" if isinstance(length, int | float) else ""


def _degrees(angle: Any) -> str:
    return f"{np.rad2deg(angle):.0f}" if isinstance(angle, int | float) else ""


def said(term: Check) -> str:
    """Return a term by its name and figures: ``near with object cup, target plate, distance 0.1``."""
    given = ", ".join(f"{key} {short(value)}" for key, value in term.arguments.items() if value is not None)
    return f"{term.name} with {given}" if given else term.name


def short(value: object) -> str:
    """Return a value with a readable number of digits."""
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(short(item) for item in value) + "]"
    return str(value)
