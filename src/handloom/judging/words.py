"""Success terms in plain words."""

from typing import Any

import numpy as np

from handloom.values import Check

WORDS = {
    "apart_along": "{object} is on the required side of {target}, {low_cm} to {high_cm} cm away",
    "between": "{object} is between {first} and {second}",
    "carried_by": "{object} rests on {target}{of_part}",
    "filled": "enough is in {container}",
    "headed": "{object} is turned to {yaw_deg} degrees",
    "in_cavity": "{object} is in {target}{of_part}",
    "in_hand": "{object} is in a hand",
    "in_one_hand": "{object} is in exactly one hand",
    "in_view": "{scanner} has seen {object}",
    "inserted": "{object} is in {target}{of_part} with its {point}",
    "inside": "{object} is inside {target}{of_part}",
    "joint_between": "{object}: {joint} is between {low_short} and {high_short}",
    "lasting_after": "{listed} still at rest a second later",
    "leans_on": "{object} leans on {target}",
    "let_go": "{object} is released",
    "level": "{object} is level to within {angle_deg} degrees",
    "lifted": "{object} is {by_cm} cm above its initial place",
    "lying_still": "{listed} at rest",
    "next_to": "{object} is beside {target}{on_side}",
    "over_box": "{object} is over {target}",
    "placed_at": "{object} is at its place",
    "points_up": "{object} is upright to within {angle_deg} degrees",
    "poured": "{container} has been poured into {target}",
    "held_by_both": "{object} is in both hands",
    "pressed_at": "{object} has been pressed at its {point}",
    "swings": "{object} has been shaken (stroke {stroke})",
    "used_on": "{object} has touched {target}{with_point}",
    "pushed_down": "{object} has been pressed",
    "touches": "{object} touches {target}",
    "unmoved": "{object} is where it was",
    "wipes": "{target} has been wiped with {object}{of_part}",
}
"""Name of a term > sentence; other terms are shown by name."""


def in_words(term: Check) -> str:
    """Return a term in words: ``lemon is in cabinet (drawer_1)``."""
    given = dict(term.arguments)
    if term.name == "joint_state":
        return _joint(given)
    if term.name not in WORDS:
        return said(term)
    facts = {
        **given,
        "of_part": f" ({given['part']})" if given.get("part") else "",
        "on_side": f", on its {given['side']} side" if given.get("side") else "",
        "with_point": f" with its {given['point']}" if given.get("point") else "",
        "angle_deg": _degrees(given.get("angle")),
        "yaw_deg": _degrees(given.get("yaw")),
        "by_cm": f"{100.0 * float(given.get('by') or 0.0):g}",
        "low_cm": _cm(given.get("low")),
        "high_cm": _cm(given.get("high")),
        "low_short": short(given.get("low")),
        "high_short": short(given.get("high")),
        "listed": " and ".join(given.get("objects") or ()),
    }
    return WORDS[term.name].format(**facts)


def _joint(given: dict[str, Any]) -> str:
    name, joint = given["object"], given["joint"]
    if given["mode"] == "zero":
        return f"{name}: {joint} is closed"
    return f"{name}: {joint} has moved by {short(abs(given['threshold']))}"


def _cm(length: Any) -> str:
    return f"{100.0 * max(length, 0.0):.3g}" if isinstance(length, float) else ""


def _degrees(angle: float | None) -> str:
    return "" if angle is None else f"{np.rad2deg(angle):.0f}"


def said(term: Check) -> str:
    """Return a term by its name and figures: ``near(object=cup, target=plate, distance=0.1)``."""
    given = ", ".join(f"{key}={short(value)}" for key, value in term.arguments.items() if value is not None)
    return f"{term.name}({given})"


def short(value: object) -> str:
    """Return a value with a readable number of digits."""
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(short(item) for item in value) + "]"
    return str(value)
