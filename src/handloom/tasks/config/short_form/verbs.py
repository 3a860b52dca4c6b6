"""Short forms for doors, drawers, lids, knobs and buttons, and for handovers.

``{open: cabinet}``, ``{close: {cabinet: drawer_2}}``, ``{turn: knob, by: 90}``, ``{push: drawer}``, ``{press: pedal}``,
``{handover: stick, from: left, to: right}``.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from handloom.errors import ConfigError, HandloomError, suggest
from handloom.objects import ObjectAsset, make_object
from handloom.objects.registry import CATEGORIES
from handloom.tasks.config.arm_words import NEAREST, OTHER

Asset = Callable[[str], ObjectAsset | None]
"""Name of an object > one such object of the library; None for objects of files, whose joints are not known yet."""

OPEN: dict[str, Any] = {"amount": 0.75, "least_amount": 0.5}
"""Opens as far as the arm can, which differs between robots and places."""
CLOSE: dict[str, Any] = {"collision_valid": False}
"""Fingers that shut a lid by its lip also touch the box, which does not matter."""
TURN: dict[str, Any] = {"collision_valid": False}
"""Fingers around a low handle also touch its support, which does not matter."""
PRESS: dict[str, Any] = {"grasp": False, "amount": 0.8, "momentary": True, "collision_valid": False}
"""Presses far down with closed fingers; the part springs back, and is often so near to others that fingers touch
them."""
ON_JOINTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "open": ("open", "Open", OPEN),
    "close": ("close", "Close", CLOSE),
    "turn": ("rotate", "Turn", TURN),
    "push": ("close", "Push", {"grasp": False, **CLOSE}),
    "press": ("rotate", "Press", PRESS),
}
"""Verb > published skill, first word of its sentence, its keys."""
HANDOVER: dict[str, Any] = {
    "position": [0.33, 0.0, 0.2],
    "between_arms": True,
    "spread": [0.1, 0.06, 0.1],
    "room_behind": 0.06,
    "position_constraint": "object",
    "align_obj_tol": 20,
    "approach": ["any", 180],
    "gripper_state": -1,
}
"""Handover position: ahead of the midpoint between the arms, above their bases."""
ENDS = ([0.0, 0.25], [0.6, 1.0])
"""Fractions of a long object's length at which the first and the second hand grasp it."""
SAGS = 0.01
"""Least lift of the middle of an object that is held by one end, where it sags between the fingers [m]."""
LONG = 1.8
"""An object this many times as long as wide is grasped at its two ends."""


def library_asset(entry: Mapping[str, Any]) -> ObjectAsset | None:
    """Return the object that an entry of a task describes, in one variant; None if the library has none."""
    category = str(entry.get("category", ""))
    if entry.get("path") or category not in CATEGORIES:
        return None
    given = entry.get("parameters")
    try:
        return make_object(
            category, rng=np.random.default_rng(0), parameters=given if isinstance(given, dict) else None
        )
    except HandloomError:  # The check of objects reports wrong parameters.
        return None


def on_joint(verb: str, given: dict[str, Any], asset: Asset, what: str) -> dict[str, Any]:
    """Return the published skill of a verb that moves a joint.

    Args:
        verb: One of ``ON_JOINTS``.
        given: The short form; ``{open: cabinet}``, ``{open: {cabinet: drawer_2}}`` and further keys of the skill.
        asset: The objects of the task.
        what: Start of error messages: file, line and key.

    Raises:
        ConfigError: It names no object, one without joints, or a joint that the object does not have.
    """
    named = given.pop(verb)
    joint = given.pop("joint", None)
    if isinstance(named, dict) and len(named) == 1 and joint is None:
        named, joint = next(iter(named.items()))
    if not isinstance(named, str) or not isinstance(joint, str | None):
        raise ConfigError(
            f"{what}: {verb}: write an object, {{{verb}: cabinet}}, or a part of one, "
            f"{{{verb}: {{cabinet: drawer_1}}}}; got {named!r}"
        )
    found = asset(named)
    if found is not None:
        joints = [link.name for link in found.joints]
        if not joints:
            other = f"; to move it, write {{pick: {named}}} and {{place: {named}, on: ...}}"
            raise ConfigError(f"{what}: {verb} {named}: nothing of it moves (category {found.category}){other}")
        if joint is not None and joint not in joints and not _varies(joint, joints):
            raise ConfigError(f"{what}: {verb} {named}: it has no part {joint!r}; {suggest(joint, joints)}")
        kind = found.joints[found.joint_index(joint if joint in joints else None)].kind
        if verb == "turn" and kind == "slide":
            raise ConfigError(f"{what}: turn {named}: its {joint or joints[0]} slides; write {{open: {named}}}")
    skill, word, keys = ON_JOINTS[verb]
    part = "" if joint is None else f"the {joint.replace('_', ' ')} of "
    where = {} if joint is None else {"joint": joint}
    if verb == "push" and found is not None and joint is None:
        keys = {**keys, "joint": found.joints[0].name}
    words = f"{word} {part}the {{{named}}}."
    return {"name": skill, "objects": [named], "instruction": words, **where, **keys, **given}


def fingers_opened(lane: Sequence[Any]) -> list[Any]:
    """Return the skills of an arm with the hand opened between one that pushes and one that grasps a handle.

    A push ends with closed fingers, and the path to a handle is planned for the current fingers.
    """
    told: list[Any] = []
    for skill in lane:
        before = told[-1] if told and isinstance(told[-1], dict) else {}
        pushed = before.get("name") == "close" and not before.get("grasp") and "hold" not in before
        holds = isinstance(skill, dict) and skill.get("name") in ("open", "rotate") and skill.get("grasp", True)
        short = isinstance(skill, dict) and before.get("collision_valid") is False
        if pushed and holds and short:
            told.append(
                {"name": "gripper__action", "gripper_state": 1, "wait_steps": 12, "instruction": "Open the hand."}
            )
        told.append(skill)
    return told


def _varies(joint: str, joints: list[str]) -> bool:
    """Return whether another variant of an object may have a joint: cabinets have one to three drawers."""
    stem, _, number = joint.rpartition("_")
    return number.isdigit() and int(number) < 3 and any(name.rpartition("_")[0] == stem for name in joints)


def handover(given: dict[str, Any], asset: Asset, what: str, *, held: bool) -> list[dict[str, list[dict[str, Any]]]]:
    """Return the blocks in which one hand grasps an object and gives it to the other.

    Args:
        given: The short form.
        asset: The objects of the task.
        what: Start of error messages: file, line and key.
        held: Whether the first hand already has the object.

    Raises:
        ConfigError: It names no object, or not both hands.
    """
    name = given.pop("handover")
    opposite = {"left": "right", "right": "left"}
    first, second = given.pop("from", None), given.pop("to", None)
    first = str(first or opposite.get(str(second), "left"))
    second = str(second or opposite.get(first))
    if not isinstance(name, str) or {first, second} not in ({"left", "right"}, {NEAREST, OTHER}):
        raise ConfigError(
            f"{what}: handover: write {{handover: stick, from: left, to: right}}, "
            f"got {name!r} from {first!r} to {second!r}"
        )
    if given:
        raise ConfigError(f"{what}: handover {name}: unknown key {next(iter(given))!r}; known: from, to")
    axis, long = _long_axis(asset(name))
    constraints = [{"constraints": [axis, *share]} if long else {} for share in ENDS]
    signs = {"left": -1.0, "right": 1.0}
    direction = [float(axis == letter) for letter in "xyz"]
    out = {
        "name": "goto__pose",
        "objects": [name],
        "align_obj_axis": direction,
        "align_ref_axis": [0.0, signs.get(first, -1.0), 0.0],
        **HANDOVER,
        "instruction": f"Hold the {{{name}}} out to the {second} hand.",
    }
    if first == NEAREST:
        out["by_arm"] = {arm: {"align_ref_axis": [0.0, sign, 0.0]} for arm, sign in signs.items()}
    if not long:
        out["align_obj_tol"] = 180
    pick = {"name": "pick", "objects": [name], "gripper_change_steps": 15, "t_eps": 0.01, "o_eps": 0.1}
    take = {"approach": ["down", 40], "pre_grasp_offset": 0.06, "lift_th": 0.04}
    take |= {"post_grasp_offset_min": 0.05, "post_grasp_offset_max": 0.07}
    over = {"approach": "any", "pre_grasp_offset": 0.07, "post_grasp_offset_min": 0.0, "post_grasp_offset_max": 0.0}
    over["handed"] = True
    begin = {**pick, **take, **constraints[0], "instruction": f"Pick up the {{{name}}} with the {spoken(first)} hand."}
    # The third block is done by the arm that did not do the second one.
    again = second if first == NEAREST else first
    return [
        {first: [*([] if held else [begin]), out]},
        {second: [{**pick, **over, **constraints[1], "instruction": f"Take the {{{name}}} with the {second} hand."}]},
        {
            again: [
                {"name": "gripper__action", "gripper_state": 1, "wait_steps": 12, "instruction": "Let go."},
                {"name": "heuristic__skill", "mode": "back", "value": 0.07, "instruction": "Draw back."},
            ]
        },
    ]


def giver_keys(asset: ObjectAsset | None) -> dict[str, Any]:
    """Return the keys of a pick that leave the other end of a long object to the hand that takes it over."""
    axis, long = _long_axis(asset)
    return {"constraints": [axis, *ENDS[0]], "lift_th": SAGS} if long else {}


def spoken(arm: str) -> str:
    """Return the name of an arm in a sentence."""
    return "one" if arm == NEAREST else arm


def _long_axis(asset: ObjectAsset | None) -> tuple[str, bool]:
    """Return the axis along which an object is longest, and whether it is long enough for two hands side by side."""
    if asset is None:
        return "x", True
    order = np.argsort(asset.extent)
    return "xyz"[int(order[-1])], bool(asset.extent[order[-1]] > LONG * asset.extent[order[-2]])
