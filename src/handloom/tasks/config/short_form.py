"""The short form of skills: ``{pick: apple}``, ``{place: apple, in: bowl}``, ``{open: cabinet}`` and others.

It expands to the published form.
A task of one robot may also write its skills as a flat list, one after another, instead of nesting them by stage,
robot, block and arm. ``handloom show TASK`` prints what a task expands to.
"""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from handloom.config import Document
from handloom.config.parsing import KeyPath, dotted
from handloom.errors import ConfigError, HandloomError
from handloom.objects import make_object
from handloom.objects.registry import CATEGORIES
from handloom.tasks.config.arm_words import NEAREST, OTHER, all_arms, arm_of_step, same_hand
from handloom.tasks.config.short_deeds import DEEDS, short_deed, unfolded
from handloom.tasks.config.short_points import in_work_frame, inserted, named_place
from handloom.tasks.config.short_verbs import ON_JOINTS, Asset, fingers_opened, handover, library_asset, on_joint
from handloom.tasks.rooms.room_names import fixture_entries, named_part

ARMS = ("left", "right")
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
"""Keys of a short pick: from above, as steeply as the object lets, and lifted by 5 to 7 cm, which every arm can do."""
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
    "t_eps": 0.01,
    "o_eps": 0.1,
    "success_mode": "relation",
}
"""Keys of every short place: the middle of the object over the middle of the target, let go just above contact."""
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
"""Where a short place puts the object > the keys in which it differs."""
WORDS = {"in": "Put the {0} into the {1}.", "on": "Put the {0} on the {1}.", "stack_on": "Stack the {0} on the {1}.",
         "beside": "Put the {0} beside the {1}.", "left_of": "Put the {0} to the left of the {1}.",
         "right_of": "Put the {0} to the right of the {1}.", "in_front_of": "Put the {0} in front of the {1}.",
         "behind": "Put the {0} behind the {1}."}  # fmt: skip
VERBS = ("pick", "place", "pour", "insert", *dict.fromkeys((*ON_JOINTS, *DEEDS)), "handover", "home")
EXAMPLES = (
    "{pick: apple}, {place: apple, in: bowl}, {pour: cup, into: bowl}, {open: cabinet}, {close: {cabinet: drawer_1}}, "
    "{turn: knob, by: 90}, {push: drawer}, {push: plate, to: [0, 0.1]}, {slide: plate, by: [0.1, 0]}, "
    "{press: bell.top}, {shake: bottle}, {strike: block, with: hammer.head}, {touch: block, with: stick.tip}, "
    "{stamp: pad, with: seal.face}, {scan: box, with: scanner}, {wipe: plate, with: sponge}, "
    "{hang: mug, on: tree.peg_1}, {insert: pen.tip, into: cup}, {lift: pot, with: both}, {stack: [a, b]}, "
    "{arrange: [a, b, c]}, {handover: stick, from: left, to: right}, home"
)
"""One of each verb, for messages."""
MEANT = {"inside": "in", "into": "in", "onto": "on", "upon": "on", "on_top_of": "on", "over": "on"}
MEANT |= {"next_to": "beside", "near": "beside", "by": "beside", "stack": "stack_on"}
"""Words that people write > where a short place puts the object."""
SAID_OTHERWISE = {"grasp": "pick", "grab": "pick", "take": "pick", "put": "place", "hit": "strike", "beat": "strike"}
SAID_OTHERWISE |= {"shut": "close", "pull": "open", "rotate": "turn", "twist": "turn", "give": "handover"}
SAID_OTHERWISE |= {"pass": "handover", "hand_over": "handover", "click": "press"}
"""Other words for a verb > the verb."""
TOGETHER = "\0"
"""Where a sentence names what is put somewhere, while those of the same place are gathered."""
FRAMES, DEFAULT_LENGTH = 250, 600
"""Frames that a skill gets where a task does not say how long it may take, and those that any task gets."""
HOME = {"name": "home", "instruction": "Go home."}


def expand_short_form(document: Document, root: KeyPath, *, arms: Sequence[str] | None = None) -> None:
    """Write the skills of a task in the published form, in place; what is no short form stays as it is.

    Args:
        document: The task file.
        root: Keys that lead to the task inside it.
        arms: Arms of the robot of a deed file, whose skills are done by the nearest one unless they say by which; None:
            the task names its robots itself, and ``left`` is meant.

    Raises:
        ConfigError: A short form cannot be understood; with file and line.
    """
    task = document.values
    for key in root:
        task = task[key]
    if not isinstance(task, dict) or not isinstance(task.get("skills"), list):
        return
    where = (*root, "skills")
    robots = [str(entry.get("name")) for entry in task.get("robots") or () if isinstance(entry, dict)]
    _unfold(document, task, where, shared=arms is not None and len(arms) > 1)
    steps = [_is_step(item, robots) for item in task["skills"]]
    if any(steps) or (steps and not any(map(_is_stage, task["skills"]))):
        _nest(document, task, where, robots, arms)
    objects = _objects(task)
    given = [skill for _, lane in _lanes(task["skills"], where) for skill in lane]
    for path, lane in _lanes(task["skills"], where):
        lane[:] = [
            _expanded(
                in_work_frame(_with_fixtures(skill, task), task, (*WHERE, "to")),
                objects,
                f"{document.mark((*path, k))}: {dotted((*path[len(root) :], k))}",
            )
            for k, skill in enumerate(lane)
        ]
        lane[:] = fingers_opened(lane)
    if any(map(_is_short, given)):
        _give_time(document, task, root)
    _describe(task)


def _unfold(document: Document, task: dict[str, Any], where: KeyPath, *, shared: bool) -> None:
    """Write what takes several skills, such as ``{stack: [a, b, c]}``, as these; each knows its line in the file.

    Where arms share the work, each clears the place before the next thing is brought there.
    """
    steps, marks = [], {}
    for i, item in enumerate(task["skills"]):
        old = (*where, i)
        own = {path[len(old) :]: mark for path, mark in document.marks.items() if path[: len(old)] == old}
        what = f"{document.mark(old)}: skills.{i}"
        for step in unfolded(item, _assets(_objects(task)), what, shared=shared):
            marks |= {(*where, len(steps), *path): mark for path, mark in own.items()}
            steps.append(step)
    if len(steps) != len(task["skills"]):
        for path in [path for path in document.marks if path[: len(where)] == where and path != where]:
            del document.marks[path]
        document.marks |= marks
    task["skills"] = steps


def _is_short(skill: Any) -> bool:
    """Return whether a skill is written in short."""
    return skill == "home" or (isinstance(skill, dict) and "name" not in skill)


def _give_time(document: Document, task: dict[str, Any], root: KeyPath) -> None:
    """Give a task of many skills time for all of them, unless its own file says how long it may take."""
    data, frames = task.setdefault("data", {}), FRAMES * sum(len(lane) for _, lane in _lanes(task["skills"], ()))
    if not isinstance(data, dict):
        return
    mark = document.marks.get((*root, "data", "max_episode_length"))
    given = data.get("max_episode_length", DEFAULT_LENGTH)
    inherited = mark is None or (mark.line is not None and mark.source != str(document.path))  # --set has no line.
    if inherited and isinstance(given, int) and frames > given:
        data["max_episode_length"] = frames


def _pick_keys(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a short pick; one that says how it approaches is not widened."""
    return {key: value for key, value in PICK.items() if key != "approach_widest" or "approach" not in given}


def _lanes(stages: list[Any], where: KeyPath) -> Iterator[tuple[KeyPath, list[Any]]]:
    """Yield the list of skills of every arm with its path, as far as a file has the published nesting."""
    for s, stage in enumerate(stages):
        for robot, blocks in stage.items() if isinstance(stage, dict) else []:
            for b, block in enumerate(blocks if isinstance(blocks, list) else []):
                for arm, lane in block.items() if isinstance(block, dict) else []:
                    if isinstance(lane, list):
                        yield (*where, s, robot, b, arm), lane


def _is_step(item: Any, robots: Sequence[str]) -> bool:
    """Return whether an entry of ``skills`` is a skill or a block of arms, and no stage of robots."""
    if not isinstance(item, dict):
        return item == "home"
    return bool({"name", *VERBS, *ARMS} & item.keys()) and not any(name in item for name in robots)


def _is_stage(item: Any) -> bool:
    """Return whether an entry of ``skills`` has the published nesting, be the robot's name right or not."""
    return isinstance(item, dict) and bool(item) and all(isinstance(blocks, list) for blocks in item.values())


def _nest(
    document: Document, task: dict[str, Any], where: KeyPath, robots: Sequence[str], arms: Sequence[str] | None
) -> None:
    """Nest a flat list of skills: those of one arm that follow each other share a block."""
    stages: list[dict[str, Any]] = []
    lines = {path: mark for path, mark in document.marks.items() if path[: len(where)] == where and path != where}
    for path in lines:
        del document.marks[path]
    for i, item in enumerate(task["skills"]):
        mark = lines.get((*where, i), document.mark(where))
        if not _is_step(item, robots):
            raise ConfigError(f"{mark}: skills.{i}: {_unknown_verb(item)}")
        step = dict(item) if isinstance(item, dict) else item
        block = isinstance(step, dict) and bool(set(ARMS) & step.keys())
        robot = step.pop("robot", None) if isinstance(step, dict) else None
        arm = step.pop("arm", None) if isinstance(step, dict) else None
        arm, step = arm_of_step(step, arm, arms, f"{mark}: skills.{i}")
        block |= isinstance(step, dict) and bool(set(ARMS) & step.keys())
        if isinstance(step, dict) and "handover" in step:
            step = _handed_over(task, stages, step, robot or robots[0], f"{mark}: skills.{i}", arms)
            block = True
        if robot is None:
            if len(robots) != 1:
                known = ", ".join(robots)
                raise ConfigError(f"{mark}: skills.{i}: say which robot does this: add robot: NAME, one of {known}")
            robot = robots[0]
        if not stages or robot not in stages[-1]:
            stages.append({robot: []})
        blocks = stages[-1][robot]
        if isinstance(step, list):
            blocks += step
        elif block:
            blocks.append({side: skills if isinstance(skills, list) else [skills] for side, skills in step.items()})
        elif blocks and list(blocks[-1]) == [arm] and (arm in ARMS or same_hand(blocks[-1][arm], step)):
            blocks[-1][arm].append(step)
        else:
            blocks.append({arm: [step]})
        here: KeyPath = (*where, len(stages) - 1, robot, len(blocks) - 1)
        here = here if block else (*here, arm, len(blocks[-1][arm]) - 1)
        old = (*where, i)
        for place in all_arms(here):
            document.marks |= {
                (*place, *path[len(old) :]): line for path, line in lines.items() if path[: len(old)] == old
            }
    task["skills"] = stages


def _unknown_verb(item: Any) -> str:
    """Return what to say about an entry that no verb is in."""
    words = [str(key) for key in item] if isinstance(item, dict) else [str(item)]
    known = {**dict.fromkeys((*VERBS, "name")), **SAID_OTHERWISE}
    near = [word for given in words[:1] for word in difflib.get_close_matches(given.lower(), known, n=1, cutoff=0.6)]
    hint = f"did you mean {SAID_OTHERWISE.get(near[0], near[0])!r}? " if near else ""
    return f"{hint}skills are written {EXAMPLES}, or {{name: SKILL, ...}} (handloom list skills); got {item!r}"


def _handed_over(
    task: Mapping[str, Any],
    stages: Sequence[Mapping[str, Any]],
    step: dict[str, Any],
    robot: str,
    what: str,
    arms: Sequence[str] | None,
) -> list[dict[str, Any]]:
    """Return the blocks of a handover; one whose object the hand has just picked begins with holding it out."""
    blocks = stages[-1].get(robot, []) if stages else []
    if arms is not None and len(arms) < len(ARMS):
        raise ConfigError(f"{what}: a handover takes both arms, and the robot has one; take a robot with two arms")
    if arms is not None and not {"from", "to"} & step.keys():
        step = {**step, "from": NEAREST, "to": OTHER}
    first = step.get("from", "left")
    lane = blocks[-1].get(first, []) if blocks and list(blocks[-1]) == [first] else []
    held = (
        bool(lane)
        and isinstance(lane[-1], dict)
        and step["handover"]
        in (
            lane[-1].get("pick"),
            *(lane[-1].get("objects") or () if lane[-1].get("name") == "pick" else ()),
        )
    )
    return handover(dict(step), _assets(_objects(task)), what, held=held)


def _assets(objects: Mapping[str, Mapping[str, Any]]) -> Asset:
    return lambda name: library_asset(objects.get(name, {}))


def _expanded(  # noqa: PLR0911, PLR0912 - one verb after the other
    skill: Any, objects: Mapping[str, Mapping[str, Any]], what: str
) -> Any:
    """Return a skill in the published form; ``what`` begins messages: file, line and key."""
    if skill == "home":
        return dict(HOME)
    if not isinstance(skill, dict) or "name" in skill:
        return skill
    if not set(VERBS) & skill.keys():
        raise ConfigError(f"{what}: {_unknown_verb(skill)}")
    given = {("on" if key is True else key): value for key, value in skill.items()}  # YAML reads `on:` as true.
    verb = next(verb for verb in VERBS if verb in given)
    deed = short_deed(verb, given, _assets(objects), what)
    if deed is not None:
        return deed
    if verb in ON_JOINTS:
        return on_joint(verb, given, _assets(objects), what)
    if verb == "insert":
        verb, given = "place", {**inserted(given, _assets(objects), what)}
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
        given |= named_place(given[places[0]], places[0], name, _assets(objects), what)
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
        keys.pop("ratio_widest", None)  # Who says where means it.
    return {"name": "place", "objects": [name, target], "instruction": words, **keys}


def _is_part(where: Any) -> bool:
    """Return whether a place is given as an object and one of its parts: ``{cabinet: drawer_1}``."""
    return (
        isinstance(where, dict) and len(where) == 1 and all(isinstance(word, str) for word in (*where, *where.values()))
    )


def _kind(name: str, target: str, categories: Mapping[str, str]) -> str:
    """Return what ``to`` means: into a container, stacked on one of the same kind, or on it."""
    category = categories.get(target, "")
    if category and category == categories.get(name):
        return "stack_on"
    if category not in CATEGORIES:
        return "on"
    try:
        return "in" if make_object(category, rng=np.random.default_rng(0)).holds else "on"
    except HandloomError:  # It needs parameters; the check of objects says which.
        return "on"


def _objects(task: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the entries of the objects that come from the library, by name."""
    entries = [entry for entry in task.get("objects") or () if isinstance(entry, dict)]
    own = {str(entry.get("name")): entry for entry in entries if not entry.get("path")}
    return {**fixture_entries(task), **own}


def _with_fixtures(skill: Any, task: Mapping[str, Any]) -> Any:
    """Return a short form in which parts of a room's fixtures are named with them: ``{open: {drawers: drawer_2}}``."""
    if not isinstance(skill, dict) or "name" in skill or task.get("room") is None:
        return skill
    places = (*ON_JOINTS, *WHERE, True)  # YAML reads `on:` as true.
    return {key: named_part(value, task) if key in places else value for key, value in skill.items()}


def _describe(task: dict[str, Any]) -> None:
    """Give a task without an instruction the words of its skills.

    A pick goes without saying before its place, and so does going home at the end; what is put to the same place is
    told together: "Put the egg and the lemon into the bowl."
    """
    data = task.setdefault("data", {})
    if not isinstance(data, dict) or data.get("language_instruction"):
        return
    skills = [skill for _, lane in _lanes(task["skills"], ()) for skill in lane if isinstance(skill, dict)]
    skills = [skill for skill in skills if skill.get("name") != "home"] or skills
    put = {skill["objects"][0] for skill in skills if skill.get("name") == "place" and skill.get("objects")}
    told: dict[str, list[str]] = {}
    for skill in skills:
        words, names = str(skill.get("instruction") or ""), [str(name) for name in skill.get("objects") or ()]
        if not words or (skill.get("name") == "pick" and set(names) & put):
            continue
        first = f"the {{{names[0]}}}" if names else ""
        together = skill.get("name") == "place" and first and words.count(first) == 1
        objects = told.setdefault(words.replace(first, TOGETHER) if together else words, [])
        objects += [first] if together and first not in objects else []
    if told:
        data["language_instruction"] = " ".join(text.replace(TOGETHER, _listed(names)) for text, names in told.items())


def _listed(names: Sequence[str]) -> str:
    """Return ``a``, ``a and b``, or ``a, b and c``."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)
