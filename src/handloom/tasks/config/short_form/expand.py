"""The short form of skills: ``{pick: apple}``, ``{place: apple, in: bowl}``, ``{open: cabinet}`` and others.

It expands to the published form.
A task of one robot may also write its skills as a flat list, one after another, instead of nesting them by stage,
robot, block and arm. ``handloom show TASK`` prints what a task expands to.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from handloom.config import Document
from handloom.config.parsing import KeyPath, Mark, dotted
from handloom.tasks.config.short_form.nesting import is_stage, is_step, lanes, nest, unfold
from handloom.tasks.config.short_form.points import in_work_frame
from handloom.tasks.config.short_form.skills import WHERE, expanded, library_objects, waited
from handloom.tasks.config.short_form.verbs import ON_JOINTS, fingers_opened
from handloom.tasks.rooms.room_names import named_part

TOGETHER = "\0"
"""Placeholder in a sentence for the placed objects, while those of the same place are gathered."""
FRAMES, DEFAULT_LENGTH = 250, 600
"""Frames allowed per skill if a task sets no length, and frames that every task gets."""


def expand_short_form(document: Document, root: KeyPath, *, arms: Sequence[str] | None = None) -> None:
    """Write the skills of a task in the published form, in place; everything else stays unchanged.

    Args:
        document: The task file.
        root: Keys that lead to the task inside it.
        arms: Arms of the robot of a deed file, whose skills are done by the nearest arm unless they name one; None: the
            task names its own robots, and the default is ``left``.

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
    unfold(document, task, where, shared=arms is not None and len(arms) > 1)
    steps = [is_step(item, robots) for item in task["skills"]]
    if any(steps) or (steps and not any(map(is_stage, task["skills"]))):
        nest(document, task, where, robots, arms)
    objects = library_objects(task)
    given = [skill for _, lane in lanes(task["skills"], where) for skill in lane]
    for path, lane in lanes(task["skills"], where):
        lane[:] = [
            expanded(
                in_work_frame(_with_fixtures(waited(skill, task, what), task), task, (*WHERE, "to")), objects, what
            )
            for k, skill in enumerate(lane)
            for what in [f"{document.mark((*path, k))}: {dotted(document.as_written((*path, k))[len(root) :])}"]
        ]
        _insert(document, path, lane, fingers_opened(lane))
    if any(map(_is_short, given)):
        _give_time(document, task, root)
    _describe(task)


def _insert(document: Document, path: KeyPath, lane: list[Any], longer: list[Any]) -> None:
    """Write a longer list of skills in place; the lines of each stay its own, and what is new has those of the next."""
    first = [k for k, skill in enumerate(longer) if any(skill is old for old in lane)]
    origin = [next(old for old, new in enumerate(first) if new >= k) for k in range(len(longer))]
    _renumber(document.marks, path, origin)
    _renumber(document.written, path, origin)
    lane[:] = longer


Origin = TypeVar("Origin", Mark, KeyPath)


def _renumber(table: dict[KeyPath, Origin], path: KeyPath, origin: Sequence[int]) -> None:
    """Give each entry of a longer list at a path what is noted of the entry of the shorter list it comes from."""
    size = len(path)
    own = {key: value for key, value in table.items() if key[:size] == path and len(key) > size}
    for key in own:
        del table[key]
    for new, old in enumerate(origin):
        table.update({(*path, new, *key[size + 1 :]): value for key, value in own.items() if key[size] == old})


def _is_short(skill: Any) -> bool:
    """Return whether a skill is written in short form."""
    return skill == "home" or (isinstance(skill, dict) and "name" not in skill)


def _give_time(document: Document, task: dict[str, Any], root: KeyPath) -> None:
    """Give a task of many skills time for all of them, unless its own file sets its length."""
    data, frames = task.setdefault("data", {}), FRAMES * sum(len(lane) for _, lane in lanes(task["skills"], ()))
    if not isinstance(data, dict):
        return
    mark = document.marks.get((*root, "data", "max_episode_length"))
    given = data.get("max_episode_length", DEFAULT_LENGTH)
    inherited = mark is None or (mark.line is not None and mark.source != str(document.path))  # --set has no line.
    if inherited and isinstance(given, int) and frames > given:
        data["max_episode_length"] = frames


def _with_fixtures(skill: Any, task: Mapping[str, Any]) -> Any:
    """Return a short form in which parts of a room's fixtures are named with them: ``{open: {drawers: drawer_2}}``."""
    if not isinstance(skill, dict) or "name" in skill or task.get("room") is None:
        return skill
    places = (*ON_JOINTS, *WHERE, True)  # YAML reads `on:` as true.
    return {key: named_part(value, task) if key in places else value for key, value in skill.items()}


def _describe(task: dict[str, Any]) -> None:
    """Give a task without an instruction one made of its skills' words.

    A pick before its place and going home at the end are left out; objects put to the same place are combined: "Put the
    egg and the lemon into the bowl."
    """
    data = task.setdefault("data", {})
    if not isinstance(data, dict) or data.get("language_instruction"):
        return
    skills = [skill for _, lane in lanes(task["skills"], ()) for skill in lane if isinstance(skill, dict)]
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
