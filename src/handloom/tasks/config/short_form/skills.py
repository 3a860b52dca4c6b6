"""Expansion of one skill in short form, ``{place: apple, in: bowl}``, to the published form."""

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from handloom.errors import ConfigError, HandloomError
from handloom.objects import make_object
from handloom.objects.registry import CATEGORIES
from handloom.skills.configs import SKILL_CONFIGS, skill_name
from handloom.tasks.config.short_form.deeds import DEEDS, short_deed
from handloom.tasks.config.short_form.points import inserted, named_place
from handloom.tasks.config.short_form.verbs import ON_JOINTS, Asset, library_asset, on_joint
from handloom.tasks.rooms.room_names import fixture_entries

PICK: dict[str, Any] = {
    "approach": ["down", 30],
    "approach_widest": 75,
    "pre_grasp_offset": 0.05,
    "gripper_change_steps": 15,
    "post_grasp_offset_min": 0.05,
    "post_grasp_offset_max": 0.07,
    "lift_th": 0.03,
    "t_eps": 0.01,
    "o_eps": 0.1,
}
"""Keys of a short pick: from above, as steeply as the object allows, and lifted by 5 to 7 cm, which every arm can
do."""
PLACE: dict[str, Any] = {
    "position_constraint": "object",
    "rest_on": "target",
    "keep_upright": 10,
    "x_ratio_range": [0.42, 0.58],
    "y_ratio_range": [0.42, 0.58],
    "pre_place_z_offset": 0.045,
    "place_z_offset": 0.01,
    "until_contact": True,
    "hesitate_steps": 3,
    "gripper_change_steps": 15,
    "retreat": 0.04,
    "retreat_widest": 0.12,
    "t_eps": 0.01,
    "o_eps": 0.1,
    "success_mode": "relation",
}
"""Keys common to all short places: object centred above the target, released just above contact."""
WHERE: dict[str, dict[str, Any]] = {
    "in": {"relation": "in", "keep_upright": 25, "keep_upright_widest": 80, "ratio_widest": [0.25, 0.75]},
    "on": {"relation": "on", "ratio_widest": [0.3, 0.7]},
    "stack_on": {
        "relation": "stack_on",
        "keep_upright": 4,
        "x_ratio_range": [0.47, 0.53],
        "y_ratio_range": [0.47, 0.53],
        "hesitate_steps": 6,
    },
    "beside": {"relation": "beside", "rest_on": "support", "beside": "right"},
    **{side: {"relation": side, "rest_on": "support"} for side in ("left_of", "right_of", "in_front_of", "behind")},
}
"""Relation of a short place > its differing keys."""
WORDS = {"in": "Put the {0} into the {1}.", "on": "Put the {0} on the {1}.", "stack_on": "Stack the {0} on the {1}.",
         "beside": "Put the {0} beside the {1}.", "left_of": "Put the {0} to the left of the {1}.",
         "right_of": "Put the {0} to the right of the {1}.", "in_front_of": "Put the {0} in front of the {1}.",
         "behind": "Put the {0} behind the {1}."}  # fmt: skip
VERBS = ("pick", "place", "pour", "insert", *dict.fromkeys((*ON_JOINTS, *DEEDS)), "handover", "home", "wait")
EXAMPLES = (
    "{pick: apple}, {place: apple, in: bowl}, {pour: cup, into: bowl}, {open: cabinet}, {close: {cabinet: drawer_1}}, "
    "{turn: knob, by: 90}, {push: drawer}, {push: plate, to: [0, 0.1]}, {slide: plate, by: [0.1, 0]}, "
    "{press: bell.top}, {shake: bottle}, {strike: block, with: hammer.head}, {touch: block, with: stick.tip}, "
    "{stamp: pad, with: seal.face}, {scan: box, with: scanner}, {wipe: plate, with: sponge}, "
    "{hang: mug, on: tree.peg_1}, {insert: pen.tip, into: cup}, {lift: pot, with: both}, {carry: basket, to: mat}, "
    "{stack: [a, b]}, {arrange: [a, b, c]}, {handover: stick, from: left, to: right}, {wait: 2}, home"
)
"""One example of each verb, for messages."""
MEANT = {"inside": "in", "into": "in", "onto": "on", "upon": "on", "on_top_of": "on", "over": "on"}
MEANT |= {"next_to": "beside", "near": "beside", "by": "beside", "stack": "stack_on"}
"""Alternative words > relation of a short place."""
SAID_OTHERWISE = {"grasp": "pick", "grab": "pick", "take": "pick", "put": "place", "hit": "strike", "beat": "strike"}
SAID_OTHERWISE |= {"shut": "close", "pull": "open", "rotate": "turn", "twist": "turn", "give": "handover"}
SAID_OTHERWISE |= {"pass": "handover", "hand_over": "handover", "click": "press"}
"""Other words for a verb > the verb."""
WAIT: dict[str, Any] = {"gripper_state": None, "success_threshold": 0.02}
"""Keys of a short wait: the gripper stays as it is, and the hand within 2 cm."""
FPS, LONGEST_WAIT = 30, 600.0
"""Frame rate of a task that gives none; longest wait [s]."""
HOME = {"name": "home", "instruction": "Go home."}


def _pick_keys(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a short pick; one with an approach is not widened."""
    return {key: value for key, value in PICK.items() if key != "approach_widest" or "approach" not in given}


def unknown_verb(item: Any) -> str:
    """Return the message about an entry without a verb."""
    words = [str(key) for key in item] if isinstance(item, dict) else [str(item)]
    known = {**dict.fromkeys((*VERBS, "name")), **SAID_OTHERWISE}
    near = [word for given in words[:1] for word in difflib.get_close_matches(given.lower(), known, n=1, cutoff=0.6)]
    hint = f"did you mean {SAID_OTHERWISE.get(near[0], near[0])!r}? " if near else ""
    skills = [skill_name(word) for word in words if skill_name(word) in SKILL_CONFIGS]
    if skills and isinstance(item, dict):
        hint = f"{skills[0]} has no short form: write {_long_form(skills[0], [*item.values()])}; other "
    return f"{hint}skills are written {EXAMPLES}, or {{name: SKILL, ...}} (handloom list skills); got {item!r}"


def _long_form(skill: str, values: Sequence[Any]) -> str:
    """Return the published form of a skill, with the objects that a wrong short form names and the required keys."""
    config = SKILL_CONFIGS[skill]
    named = [value for value in values if isinstance(value, str)]
    named += ["OBJECT", "TARGET", "OTHER"][len(named) : config.objects_needed]
    needed = [name for name, field in config.model_fields.items() if field.is_required() and name != "name"]
    objects = [f"objects: [{', '.join(named)}]"] if named else []
    return f"{{{', '.join([f'name: {skill}', *objects, *(f'{key}: ...' for key in needed)])}}}"


def waited(skill: Any, task: Mapping[str, Any], what: str) -> Any:
    """Return ``{wait: 2}``, in seconds, in the published form, in frames; other skills are returned as they are.

    Args:
        skill: A skill.
        task: The task, whose frame rate counts.
        what: Start of error messages: file, line and key.

    Raises:
        ConfigError: It is no time.
    """
    if not isinstance(skill, dict) or "wait" not in skill or "name" in skill:
        return skill
    rest, data = dict(skill), task.get("data")
    seconds = rest.pop("wait")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0.0 < seconds <= LONGEST_WAIT:
        raise ConfigError(
            f"{what}: wait: a time in seconds, at most {LONGEST_WAIT:g}, e.g. {{wait: 2}}; got {seconds!r}"
        )
    fps = data.get("fps", FPS) if isinstance(data, dict) else FPS
    frames = max(1, round(seconds * fps)) if isinstance(fps, int) else 1  # The check of keys reports a wrong fps.
    said = f"Wait {seconds:g} second{'' if seconds == 1 else 's'}."
    return {"name": "wait", "wait_steps": frames, "instruction": said, **WAIT, **rest}


def assets_of(objects: Mapping[str, Mapping[str, Any]]) -> Asset:
    """Return a function that finds the library object of an entry by its name."""
    return lambda name: library_asset(objects.get(name, {}))


def expanded(  # noqa: PLR0911, PLR0912 - one verb after the other
    skill: Any, objects: Mapping[str, Mapping[str, Any]], what: str
) -> Any:
    """Return a skill in the published form; ``what`` begins messages: file, line and key."""
    if skill == "home":
        return dict(HOME)
    if not isinstance(skill, dict) or "name" in skill:
        return skill
    if not set(VERBS) & skill.keys():
        raise ConfigError(f"{what}: {unknown_verb(skill)}")
    given = {("on" if key is True else key): value for key, value in skill.items()}  # YAML reads `on:` as true.
    verb = next(verb for verb in VERBS if verb in given)
    deed = short_deed(verb, given, assets_of(objects), what)
    if deed is not None:
        return deed
    if verb in ON_JOINTS:
        return on_joint(verb, given, assets_of(objects), what)
    if verb == "insert":
        verb, given = "place", {**inserted(given, assets_of(objects), what)}
    if verb == "handover":
        raise ConfigError(f"{what}: handover takes both arms in turn; write it in a flat list, outside the arms' lists")
    name = given.pop(verb)
    if verb == "home":
        if name is not None:
            raise ConfigError(f"{what}: home: in a flat list write {{home: left}} or {{home: right}}, got {name!r}")
        return {**HOME, **given}
    if not isinstance(name, str):
        raise ConfigError(f"{what}: {verb}: write the name of an object, e.g. {{{verb}: apple}}, got {name!r}")
    if verb == "pick":
        return {
            "name": "pick",
            "objects": [name],
            "instruction": f"Pick up the {{{name}}}.",
            **_pick_keys(given),
            **given,
        }
    if verb == "pour":
        target = given.pop("into", None)
        if not isinstance(target, str):
            raise ConfigError(f"{what}: pour {name}: say what into, e.g. {{pour: {name}, into: bowl}}, got {target!r}")
        words = f"Pour the {{{name}}} into the {{{target}}}."
        return {"name": "pour", "objects": [name, target], "instruction": words, **given}
    places = [key for key in (*WHERE, "to") if key in given]
    if len(places) == 1:
        given |= named_place(given[places[0]], places[0], name, assets_of(objects), what)
    if len(places) == 1 and _is_part(given[places[0]]):  # {place: cube, in: {cabinet: drawer_1}}
        ((given[places[0]], part),) = given[places[0]].items()
        given.setdefault("place_part_prim_path", part)
    if len(places) != 1 or not isinstance(given[places[0]], str):
        other = next((key for key in given if key in MEANT), None)
        got = f"{other}; did you mean {MEANT[other]}?" if other and not places else ", ".join(places) or "none"
        raise ConfigError(
            f"{what}: place {name}: say where, with one of in, on, stack_on, beside, left_of, right_of, in_front_of, "
            f"behind, to or at, "
            f"e.g. {{place: {name}, in: bowl}}; got {got}"
        )
    target = given.pop(places[0])
    kind = (
        _kind(name, target, {key: str(entry.get("category", "")) for key, entry in objects.items()})
        if places[0] == "to"
        else places[0]
    )
    if kind == "beside" and "side" in given:
        given["beside"] = given.pop("side")
    words = WORDS[kind].format(f"{{{name}}}", f"{{{target}}}")
    keys = {**PLACE, **WHERE[kind], **given}
    if {"at", "at_point", "x_ratio_range", "y_ratio_range"} & given.keys() and "ratio_widest" not in given:
        keys.pop("ratio_widest", None)  # A given place is taken literally.
    return {"name": "place", "objects": [name, target], "instruction": words, **keys}


def _is_part(where: Any) -> bool:
    """Return whether a place is given as an object and one of its parts: ``{cabinet: drawer_1}``."""
    return (
        isinstance(where, dict) and len(where) == 1 and all(isinstance(word, str) for word in (*where, *where.values()))
    )


def _kind(name: str, target: str, categories: Mapping[str, str]) -> str:
    """Return the meaning of ``to``: into a container, stacked on an object of the same kind, or on it."""
    category = categories.get(target, "")
    if category and category == categories.get(name):
        return "stack_on"
    if category not in CATEGORIES:
        return "on"
    try:
        return "in" if make_object(category, rng=np.random.default_rng(0)).holds else "on"
    except HandloomError:  # It needs parameters, which the check of objects reports.
        return "on"


def library_objects(task: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the entries of the objects that come from the library, by name."""
    entries = [entry for entry in task.get("objects") or () if isinstance(entry, dict)]
    own = {str(entry.get("name")): entry for entry in entries if not entry.get("path")}
    return {**fixture_entries(task), **own}
