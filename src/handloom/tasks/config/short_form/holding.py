"""Which hand holds an object in a list of skills, for handovers and what follows them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from handloom.errors import ConfigError
from handloom.objects import ObjectAsset
from handloom.tasks.config.arm_words import NEAREST, OTHER, SIDES
from handloom.tasks.config.short_form.verbs import giver_keys

OPPOSITE = {"left": "right", "right": "left", NEAREST: OTHER, OTHER: NEAREST}
LETS_GO = ("place", "insert", "hang", "dexplace", "carry", "flip")
"""Verbs and skills after which a hand no longer holds their first object."""


@dataclass
class Holder:
    """The hand that holds an object, and the pick with which it took it."""

    arm: str
    pick: dict[str, Any]

    def leave_room(self, asset: ObjectAsset | None) -> None:
        """Limit the pick, in place, to the end of a long object that leaves the other end to the other hand."""
        if "handed" not in self.pick and self.pick.get("name") in (None, "pick"):
            for key, value in giver_keys(asset).items():
                self.pick.setdefault(key, value)


def holders(stages: Sequence[Mapping[str, Any]], robot: str) -> dict[str, Holder]:
    """Return the hand that holds each object after the stages so far."""
    held: dict[str, Holder] = {}
    for stage in stages:
        for block in stage.get(robot, ()):
            for arm, step in _steps(block):
                name = _object(step)
                if name is not None and ("pick" in step or str(step.get("name", "")).endswith("pick")):
                    held[name] = Holder(arm, step)
                elif name is not None and _does(step, LETS_GO):
                    held.pop(name, None)
                elif step.get("name") == "gripper__action" and step.get("gripper_state") == 1:
                    held = {name: hand for name, hand in held.items() if hand.arm != arm}
    return held


def from_holder(step: Mapping[str, Any], arm: str, what: str) -> dict[str, Any]:
    """Return a handover with the hand that holds the object as the giver.

    Args:
        step: The handover.
        arm: The hand that holds the object.
        what: Start of error messages: file, line and key.

    Raises:
        ConfigError: The handover names another giver, or the same hand as the receiver.
    """
    name = step["handover"]
    # The hand of the last block but one is known only as the hand that holds the object: the nearest one by then.
    giver = NEAREST if arm == OTHER else arm
    given, to = step.get("from", giver), step.get("to", OPPOSITE[giver])
    if given == giver and to == OPPOSITE[giver]:
        return {**step, "from": giver, "to": to}
    named = given if given in SIDES else OPPOSITE.get(str(to), SIDES[0])
    if giver == NEAREST:
        raise ConfigError(
            f"{what}: handover {name}: the hand that picks {name} is left open before; "
            f"write {{pick: {name}, arm: {named}}} there, or {{handover: {name}}} here"
        )
    raise ConfigError(
        f"{what}: handover {name}: the {giver} hand holds {name}; "
        f"write {{handover: {name}, from: {giver}, to: {OPPOSITE[giver]}}}, or {{pick: {name}, arm: {named}}} before"
    )


def in_the_other_hand(step: Mapping[str, Any], arm: str, held: Mapping[str, Holder], what: str) -> None:
    """Check that a hand does not put down what the other hand holds.

    Args:
        step: A step in short form.
        arm: The hand that it names.
        held: What is held.
        what: Start of error messages: file, line and key.

    Raises:
        ConfigError: The other hand holds the object.
    """
    name = _object(step)
    verb = next((verb for verb in LETS_GO if verb in step), None)
    hand = held.get(name or "")
    if verb is not None and hand is not None and hand.arm == OPPOSITE[arm]:
        raise ConfigError(
            f"{what}: {verb} {name}: the {hand.arm} hand holds {name}; write arm: {hand.arm}, "
            f"or {{handover: {name}, from: {hand.arm}, to: {arm}}} before"
        )


def _steps(block: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the steps of a block that are written as mappings, with their arms."""
    for arm, lane in block.items() if isinstance(block, dict) else ():
        for step in lane if isinstance(lane, list) else [lane]:
            if isinstance(step, dict):
                yield arm, step


def _does(step: Mapping[str, Any], verbs: Sequence[str]) -> bool:
    return any(verb in step for verb in verbs) or step.get("name") in verbs


def _object(step: Mapping[str, Any]) -> str | None:
    """Return the first object of a step."""
    named = next((step[verb] for verb in ("pick", *LETS_GO) if verb in step), None)
    objects = step.get("objects")
    if named is None and isinstance(objects, list) and objects:
        named = objects[0]
    return named.partition(".")[0] if isinstance(named, str) else None
