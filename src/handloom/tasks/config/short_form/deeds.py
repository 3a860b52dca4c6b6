"""Short forms of deeds with points and tools: press, stack, arrange, hang, turn by regrasping.

``{press: stapler.top}``, ``{stack: [red, green, blue]}``, ``{arrange: [a, b, c], in: row}``, ``{hang: mug.handle, on:
tree.peg_1}``, ``{turn: jar.lid, by: 360}``.
"""

from collections.abc import Callable
from itertools import pairwise
from math import ceil
from typing import Any

from handloom.errors import ConfigError
from handloom.scene.named_points import SIDES
from handloom.skills.contacts.press import has_button
from handloom.tasks.config.short_form.points import Asset, demanded
from handloom.tasks.config.short_form.verbs import TURN

MOST_TURN = 90.0
"""Largest rotation by a hand in one motion [deg]; for more, the object is grasped again."""
ROW_GAP = [0.02, 0.06]
"""Gap between objects in a row [m]."""
TOLERANCES = {"t_eps": 0.01, "o_eps": 0.1}


def unfolded(item: Any, asset: Asset, what: str, *, shared: bool = False) -> list[Any]:
    """Return the steps that a step of a flat list stands for, or the step itself.

    Args:
        item: A step of the list.
        asset: The objects of the task.
        what: Start of error messages: file, line and key.
        shared: Whether several arms share the work: a hand then goes home before the next object is brought.

    Raises:
        ConfigError: It names no objects.
    """
    if not isinstance(item, dict) or "name" in item:
        return [item]
    given = {("on" if key is True else key): value for key, value in item.items()}  # YAML reads `on:` as true.
    if "stack" in given or "arrange" in given:
        steps = _stacked(given, what) if "stack" in given else _arranged(given, what)
        if not shared or "arm" in given:
            return steps
        return [step for k in range(0, len(steps), 2) for step in (*(("home",) if k else ()), *steps[k : k + 2])]
    if "turn" in given and isinstance(given.get("by"), int | float) and abs(given["by"]) > MOST_TURN:
        turns = ceil(abs(given["by"]) / MOST_TURN)
        return [{**given, "by": given["by"] / turns} for _ in range(turns)]
    return [item]


def _stacked(given: dict[str, Any], what: str) -> list[Any]:
    """Return the picks and places that build a stack, with the first object lowest."""
    names, rest = _named_things(given, "stack", what)
    return [
        step
        for lower, upper in pairwise(names)
        for step in ({"pick": upper, **_of_arm(rest)}, {"place": upper, "stack_on": lower, **rest})
    ]


def _arranged(given: dict[str, Any], what: str) -> list[Any]:
    """Return the picks and places that put objects in a row; the first one stays in place."""
    names, rest = _named_things(given, "arrange", what)
    form = rest.pop("in", "row")
    if form not in ("row", "column"):
        raise ConfigError(f"{what}: arrange in a row (to the right) or a column (away from the robot), got {form!r}")
    side = "right_of" if form == "row" else "behind"
    gap = rest.pop("gap", ROW_GAP)
    return [
        step
        for one, other in pairwise(names)
        for step in ({"pick": other, **_of_arm(rest)}, {"place": other, side: one, "gap": gap, **rest})
    ]


def _named_things(given: dict[str, Any], verb: str, what: str) -> tuple[list[str], dict[str, Any]]:
    rest = dict(given)
    names = rest.pop(verb)
    if not isinstance(names, list) or len(names) < 2 or not all(isinstance(name, str) for name in names):
        raise ConfigError(f"{what}: {verb} two objects or more, e.g. {{{verb}: [red, green, blue]}}; got {names!r}")
    if len(set(names)) < len(names):
        raise ConfigError(f"{what}: {verb}: every object once, got {names}")
    return names, rest


def _of_arm(keys: dict[str, Any]) -> dict[str, Any]:
    return {key: keys[key] for key in ("arm", "robot") if key in keys}


def short_deed(verb: str, given: dict[str, Any], asset: Asset, what: str) -> dict[str, Any] | None:
    """Return the skill of a deed in short form; None if the verb means something else here.

    Args:
        verb: The verb.
        given: The short form.
        asset: The objects of the task.
        what: Start of error messages: file, line and key.

    Raises:
        ConfigError: It cannot be understood.
    """
    return None if verb not in DEEDS else DEEDS[verb](dict(given), asset, f"{what}: {verb}")


def _press(given: dict[str, Any], asset: Asset, what: str) -> dict[str, Any] | None:
    """Return the press of a point; a press of ``{bin: pedal}`` is that of a joint."""
    named = given.pop("press")
    if not isinstance(named, str):
        return None
    name, point = demanded(named, asset, what)
    found = asset(name)
    if point is None and found is not None and found.joints and not has_button(found):
        return None
    words = f"Press the {point.replace('_', ' ')} of the {{{name}}}." if point else f"Press the {{{name}}}."
    where = {} if point is None else {"point": point}
    return {"name": "press", "objects": [name], "instruction": words, **TOLERANCES, **where, **given}


def _hang(given: dict[str, Any], asset: Asset, what: str) -> dict[str, Any]:
    """Return the hang of a held object on a peg."""
    name, _ = demanded(given.pop("hang"), asset, what)
    target, peg = demanded(given.pop("on", None), asset, f"{what} {name}, on")
    where = {} if peg is None else {"peg": peg}
    words = f"Hang the {{{name}}} on the {{{target}}}."
    return {"name": "hang", "objects": [name, target], "instruction": words, **TOLERANCES, **where, **given}


def _turn(given: dict[str, Any], asset: Asset, what: str) -> dict[str, Any] | None:
    """Return ``{turn: jar.lid}`` as that of its joint: only how far it turned counts, as with every short form."""
    named = given["turn"]
    if not isinstance(named, str) or "." not in named:
        return None
    name, joint = demanded(named, asset, what)
    rest = {key: value for key, value in given.items() if key != "turn"}
    words = f"Turn the {str(joint).replace('_', ' ')} of the {{{name}}}."
    return {"name": "rotate", "objects": [name], "joint": joint, "instruction": words, **TURN, **rest}


def _shake(given: dict[str, Any], asset: Asset, what: str) -> dict[str, Any]:
    """Return the shake of a held object."""
    name, _ = demanded(given.pop("shake"), asset, what)
    return {"name": "shake", "objects": [name], "instruction": f"Shake the {{{name}}}.", **TOLERANCES, **given}


def _lift(given: dict[str, Any], asset: Asset, what: str) -> dict[str, Any]:
    """Return the lift with both hands; one hand lifts by picking."""
    name, _ = demanded(given.pop("lift"), asset, what)
    if given.pop("with", "both") != "both":
        raise ConfigError(f"{what} {name}: with: both; one hand lifts it with {{pick: {name}}}")
    words = f"Lift the {{{name}}} with both hands."
    by = {"lift": given.pop("by")} if "by" in given else {}
    return {"name": "lift", "objects": [name], "instruction": words, **TOLERANCES, **by, **given}


def _carry(given: dict[str, Any], asset: Asset, what: str) -> dict[str, Any]:
    """Return the carry with both hands; one hand carries by picking and placing."""
    name, _ = demanded(given.pop("carry"), asset, what)
    if given.pop("with", "both") != "both":
        raise ConfigError(f"{what} {name}: with: both; one hand carries it with {{pick: {name}}} and {{place: {name}}}")
    places = [key for key in ("to", "on") if key in given]
    if len(places) != 1:
        raise ConfigError(f"{what} {name}: say where to, e.g. {{carry: {name}, to: mat}}")
    target = given.pop(places[0])
    if not isinstance(target, str) or "." in target:
        raise ConfigError(f"{what} {name}: {places[0]}: the name of an object, such as mat; got {target!r}")
    words = f"Carry the {{{name}}} to the {{{target}}} with both hands."
    return {"name": "carry", "objects": [name, target], "instruction": words, **TOLERANCES, **given}


USES: dict[str, tuple[str, dict[str, Any]]] = {
    "strike": ("Strike the {1} with the {0}.", {"pace": 1.0, "force": 1.0, "lift": 0.08, "depth": 0.008}),
    "touch": ("Touch the {1} with the {0}.", {"pace": 0.4}),
    "stamp": ("Stamp the {1} with the {0}.", {"pace": 0.4, "force": 1.0, "hold_steps": 9, "depth": 0.006}),
}
"""Verb > its sentence, and its differing keys."""


def _use(verb: str) -> "Deed":
    """Return the use of a point of a held object: ``{strike: block, with: hammer.head}``."""

    def use(given: dict[str, Any], asset: Asset, what: str) -> dict[str, Any]:
        target, spot = demanded(given.pop(verb), asset, what)
        if "with" not in given:
            raise ConfigError(f"{what} {target}: say with what, e.g. {{{verb}: {target}, with: hammer.head}}")
        name, point = demanded(given.pop("with"), asset, f"{what} {target}, with")
        words, keys = USES[verb]
        ends = {key: end for key, end in (("point", point), ("target_point", spot)) if end is not None}
        words = words.format(f"{{{name}}}", f"{{{target}}}")
        return {"name": "use", "objects": [name, target], "instruction": words, **TOLERANCES, **keys, **ends, **given}

    return use


def _push(given: dict[str, Any], asset: Asset, what: str) -> dict[str, Any] | None:
    """Return the push of an object across a table; a push of a drawer, without a target, is that of a joint."""
    verb = "push" if "push" in given else "slide"
    sides = [side for side in SIDES if side in given]
    if verb == "push" and not sides and not {"to", "by"} & given.keys():
        return None
    name, _ = demanded(given.pop(verb), asset, what)
    if len(sides) + len({"to", "by"} & given.keys()) != 1:
        raise ConfigError(
            f"{what} {name}: say where to, with one of to: [x, y] in the work frame, by: [x, y], {', '.join(SIDES)}"
        )
    words, objects = f"Push the {{{name}}}.", [name]
    if sides:
        target, _ = demanded(given.pop(sides[0]), asset, f"{what} {name}, {sides[0]}")
        said = {"left_of": "to the left of", "right_of": "to the right of", "in_front_of": "in front of"}
        words = f"Push the {{{name}}} {said.get(sides[0], sides[0])} the {{{target}}}."
        objects, given = [name, target], {**given, "relation": sides[0]}
    return {"name": "push", "objects": objects, "instruction": words, **TOLERANCES, **given}


def _wipe(given: dict[str, Any], asset: Asset, what: str) -> dict[str, Any]:
    """Return the wipe of a surface with a held object."""
    target, spot = demanded(given.pop("wipe"), asset, what)
    if "with" not in given:
        raise ConfigError(f"{what} {target}: say with what, e.g. {{wipe: {target}, with: sponge}}")
    name, point = demanded(given.pop("with"), asset, f"{what} {target}, with")
    ends = {key: end for key, end in (("point", point), ("target_point", spot)) if end is not None}
    words = f"Wipe the {{{target}}} with the {{{name}}}."
    return {"name": "wipe", "objects": [name, target], "instruction": words, **TOLERANCES, **ends, **given}


def _scan(given: dict[str, Any], asset: Asset, what: str) -> dict[str, Any]:
    """Return the scan of an object with a held scanner, or of a held object in front of a scanner: ``at: scanner``."""
    name, _ = demanded(given.pop("scan"), asset, what)
    if ("with" in given) == ("at" in given):
        raise ConfigError(
            f"{what} {name}: with: scanner points a held scanner at it; at: scanner holds it in front of a fixed one"
        )
    held = "with" in given
    scanner, _ = demanded(given.pop("with" if held else "at"), asset, f"{what} {name}")
    words = f"Scan the {{{name}}} with the {{{scanner}}}."
    skill, objects = ("aim", [scanner, name]) if held else ("scan", [name, scanner])
    return {"name": skill, "objects": objects, "instruction": words, **TOLERANCES, **given}


Deed = Callable[[dict[str, Any], Asset, str], dict[str, Any] | None]
DEEDS: dict[str, Deed] = {
    "press": _press,
    "hang": _hang,
    "turn": _turn,
    "shake": _shake,
    "lift": _lift,
    "carry": _carry,
    "push": _push,
    "slide": _push,
    "wipe": _wipe,
    "scan": _scan,
    **{verb: _use(verb) for verb in USES},
}
"""Verb > the corresponding skill; None leaves it to the verbs of joints."""
