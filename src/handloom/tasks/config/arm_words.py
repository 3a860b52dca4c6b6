"""The words for arms: left, right, both; ``nearest``, chosen per scene; ``other`` than in the last block."""

from collections.abc import Iterator, Sequence
from typing import Any

from handloom.config.parsing import KeyPath
from handloom.errors import ConfigError, suggest

SIDES = ("left", "right")
NEAREST, OTHER, BOTH = "nearest", "other", "both"
CHOSEN = (NEAREST, OTHER)
"""Arms of a block that are chosen once a scene has been sampled."""
WORDS = (*SIDES, NEAREST, BOTH)
TWO_HANDED = ("lift", "handover", "carry")
"""Verbs that take two arms."""
ENDINGS = ("home", "wait")
"""Steps without an object, done by the same hand as the step before."""


def arm_of_step(step: Any, given: Any, arms: Sequence[str] | None, what: str) -> tuple[str, Any]:
    """Return the arm under which a step of a flat list is written, and the step; for both arms, a block.

    Args:
        step: The step, without its ``arm``.
        given: The arm that it names; None if it names none.
        arms: Arms of the robot of a deed file; None for a task that names its robots itself.
        what: Start of error messages: file, line and key.

    Raises:
        ConfigError: No such arm, or both arms for a skill of one hand.
    """
    if isinstance(step, dict) and step.get("home") in WORDS:  # {home: left}
        given, step = given or step["home"], {**step, "home": None}
    if given is not None and given not in WORDS:
        raise ConfigError(f"{what}: arm: {suggest(str(given), WORDS)}, got {given!r}")
    if arms is not None and len(arms) < 2:
        blocks = isinstance(step, dict) and set(SIDES) & step.keys()
        two = isinstance(step, dict) and any(word in (*step, step.get("name")) for word in TWO_HANDED)
        if given == BOTH or two or (blocks and len(step) > 1):
            raise ConfigError(f"{what}: this takes both arms, and the robot has one; use a robot with two arms")
        return arms[0], step
    if given == BOTH and (step == "home" or (isinstance(step, dict) and "home" in step)):
        return SIDES[0], {side: [step] for side in SIDES}
    if given == BOTH:
        raise ConfigError(
            f"{what}: arm: both is for home; {next(iter(step))} is done by one hand: left, right or nearest"
        )
    return given or (SIDES[0] if arms is None else NEAREST), step


def same_hand(lane: Sequence[Any], step: Any) -> bool:
    """Return whether a step without an arm continues a hand's work: the hand holds the object that the step names.

    Args:
        lane: Steps of an arm that is chosen later.
        step: The next step.
    """
    if step == "home" or (isinstance(step, dict) and any(word in step for word in ENDINGS)):
        return True
    if not isinstance(step, dict) or "pick" in step or step.get("name") == "pick":
        return False
    first = lane[0] if isinstance(lane[0], dict) else {}
    taken = first.get("pick") or (first.get("objects") or (None,))[0] if _is_pick(first) else None
    return taken is not None and taken in set(named(step))


def _is_pick(step: dict[str, Any]) -> bool:
    return "pick" in step or str(step.get("name", "")).endswith("pick")


def named(value: Any) -> Iterator[str]:
    """Yield every word in a step; for ``mug.handle``, the object."""
    if isinstance(value, str):
        yield value.partition(".")[0]
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from named(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from named(inner)


def all_arms(path: KeyPath) -> list[KeyPath]:
    """Return the paths of a skill under every arm that may do it, so that messages can give its place in the file."""
    chosen = [k for k, key in enumerate(path) if key in CHOSEN]
    return [path] if not chosen else [(*path[: chosen[0]], arm, *path[chosen[0] + 1 :]) for arm in (*SIDES, *CHOSEN)]
