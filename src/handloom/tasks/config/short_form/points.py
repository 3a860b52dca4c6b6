"""Named points in short forms: ``{place: pan, on: stove.burner_1}``, ``{place: lemon, in: cabinet.drawer_2}``."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from handloom.errors import ConfigError, suggest
from handloom.objects import ObjectAsset
from handloom.scene.named_points import ObjectPoint, known_points, reference

TABLE = "table"
"""Target of a spot that names none, if the workplace does not set one."""
Asset = Callable[[str], ObjectAsset | None]
"""Name of an object > one such object of the library; None for those of files."""


def named_place(where: Any, key: str, name: str, asset: Asset, what: str) -> dict[str, Any]:
    """Return the keys of a place whose target names a point or a part: ``stove.burner_1``; none otherwise.

    Args:
        where: Value in the short form.
        key: Its relation, such as ``on``.
        name: What is placed.
        asset: The objects of the task.
        what: Start of error messages: file, line and key.

    Raises:
        ConfigError: The target has no such point or part.
    """
    if not isinstance(where, str) or "." not in where:
        return {}
    target, point = demanded(where, asset, f"{what}: place {name}, {key}")
    found = asset(target)
    if found is not None and point in {link.name for link in found.joints}:
        return {key: target, "place_part_prim_path": point}
    return {key: target, "at_point": point}


def demanded(text: Any, asset: Asset, what: str) -> ObjectPoint:
    """Return the object and the point of ``stapler.top``, whose point the object must have.

    Args:
        text: Value in the short form.
        asset: The objects of the task.
        what: Start of error messages: file, line and key.

    Raises:
        ConfigError: It is not a name, or a library object has no such point.
    """
    if not isinstance(text, str) or not text or text.endswith("."):
        raise ConfigError(f"{what}: write an object or a point of one, such as stapler.top; got {text!r}")
    named = reference(text)
    found = asset(named.object)
    if named.point is not None and found is not None and named.point not in known_points(found):
        raise ConfigError(
            f"{what}: {named.object} ({found.category}) has no point {named.point!r}; "
            f"{suggest(named.point, known_points(found))}"
        )
    return named


def in_work_frame(skill: Any, task: Mapping[str, Any], relations: Sequence[str]) -> Any:
    """Return ``{place: mug, at: [0.1, 0]}`` with the target of the spot, which is in the work frame.

    Args:
        skill: A short form; others are returned as they are.
        task: The task.
        relations: Words that name a target, for which ``at`` is a spot on it.
    """
    if not isinstance(skill, dict) or "place" not in skill or "at" not in skill or {*relations, True} & skill.keys():
        return skill
    return {**skill, "on": task.get("work_surface", TABLE), "at_frame": "work"}


def inserted(given: dict[str, Any], asset: Asset, what: str) -> dict[str, Any]:
    """Return ``{insert: pen.tip, into: holder}`` as a place in the holder with that point down.

    Args:
        given: The short form.
        asset: The objects of the task.
        what: Start of error messages: file, line and key.

    Raises:
        ConfigError: It names no target, or a point that does not exist.
    """
    rest = {key: value for key, value in given.items() if key not in ("insert", "into")}
    name, point = demanded(given["insert"], asset, f"{what}: insert")
    if "into" not in given:
        raise ConfigError(f"{what}: insert {name}: say what into, e.g. {{insert: {name}, into: holder}}")
    where = {} if point is None else {"point_down": point}
    words = f"Insert the {{{name}}} into the {{{str(given['into']).partition('.')[0]}}}."
    return {"place": name, "in": given["into"], "instruction": words, **where, **rest}
