"""Requests of the evaluation page: the outcome of every scene, and the factors in which the scenes differ."""

import math
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from handloom.dataset.episodes.episode_files import EpisodeFiles
from handloom.dataset.files.shapes import PlainObject
from handloom.engine.policy.evaluation import evaluation_of
from handloom.errors import FileError, InputError
from handloom.viewer.library import Library
from handloom.web import Request, Response, Route, json_response

MOST_VALUES = 24
"""Maximum number of distinct values for which a factor is shown by value."""
LEAST_SPREAD = 1e-6


def factors_of(instances: Sequence[Mapping[str, Any] | None]) -> list[dict[str, Any]]:
    """Return the factors that vary between scenes, each with one value per scene; None where a scene lacks it.

    Args:
        instances: ``instance.json`` of every scene, None if there is none.
    """
    described = [{} if instance is None else _described(instance) for instance in instances]
    names = list(dict.fromkeys(name for found in described for name in found))
    factors = []
    for name in names:
        values = [found.get(name) for found in described]
        present = [value for value in values if value is not None]
        numbers = [value for value in present if isinstance(value, int | float)]
        numeric, different = len(numbers) == len(present), len(set(present))
        if different < 2 or (numeric and max(numbers) - min(numbers) < LEAST_SPREAD):
            continue
        if not numeric and different > MOST_VALUES:
            continue
        few = all(isinstance(value, int) for value in present) and different <= MOST_VALUES
        kind = "number" if numeric and not few else "value"
        factors.append({"name": name, "kind": kind, "values": values})
    return factors


def _described(instance: Mapping[str, Any]) -> dict[str, float | int | str]:
    """Return the factors of one scene by name."""
    found: dict[str, float | int | str] = {}
    movable = [thing for thing in _entries(instance, "objects") if not thing.get("fixed")]
    for thing in movable:
        name, place = str(thing.get("name", "")), thing.get("position")
        if isinstance(place, list) and len(place) == 3:
            found[f"{name} x [m]"], found[f"{name} y [m]"] = float(place[0]), float(place[1])
        quat = thing.get("quat")
        if isinstance(quat, list) and len(quat) == 4:
            found[f"{name} yaw [deg]"] = round(math.degrees(_yaw(*map(float, quat))), 2)
        for key in ("words", "category"):
            if isinstance(thing.get(key), str) and thing[key]:
                found[f"{name} {key}"] = thing[key]
        for key, value in (thing.get("parameters") or {}).items():
            if isinstance(value, str) or (isinstance(value, int | float) and not isinstance(value, bool)):
                found[f"{name} {key}"] = value
    found["objects on the table"] = len(movable)
    lights = _entries(instance, "lights")
    found["lights"] = len(lights)
    found["light strength"] = round(sum(sum(map(float, light.get("diffuse") or ())) / 3 for light in lights), 4)
    found["robot"] = " + ".join(str(robot.get("robot", "")) for robot in _entries(instance, "robots"))
    return found


def _entries(instance: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    entries = instance.get(key)
    return [entry for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, list) else []


def _yaw(w: float, x: float, y: float, z: float) -> float:
    """Return the yaw of a quaternion wxyz [rad]."""
    return math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


def evaluation_routes(library: Library) -> list[Route]:
    """Return the requests of the evaluation page."""
    kept: dict[str, tuple[Any, dict[str, Any]]] = {}
    lock = threading.Lock()

    def evaluation(request: Request) -> Response:
        key = request.places["shelf"]
        stamp = tuple((source.key, source.stamp()) for source in library.sources(key))
        with lock:
            if key not in kept or kept[key][0] != stamp:
                kept[key] = stamp, scenes_of(library, key)
            return json_response(kept[key][1])

    return [Route("GET", "/api/evaluations/{shelf}", evaluation)]


def scenes_of(library: Library, key: str) -> dict[str, Any]:
    """Return the outcome of every attempt of a run, and the factors of their scenes."""
    run, shelf = library.run(key), library.shelf(key)
    if run is None:
        raise InputError(f"{shelf.name} is a dataset without its run; scenes are shown only for runs and evaluations")
    receipts = run.counted()
    places = {
        attempt: (source, index)
        for source in library.sources(key)
        for index, attempt in enumerate(source.table().columns["attempt_index"])
    }
    scenes, instances = [], []
    for attempt, receipt in receipts.items():
        source, index = places.get(attempt, (None, None))
        scenes.append(
            {
                "attempt": attempt,
                "success": receipt.success,
                "stage": receipt.stage,
                "reason": receipt.reason,
                "detail": receipt.detail,
                "seconds": receipt.frames / receipt.fps,
                "skills": list(receipt.skills),
                "source": source and source.key,
                "index": index,
            }
        )
        instances.append(None if source is None or index is None else _instance(source.archive_folder(index)))
    return {
        "key": key,
        "name": shelf.name,
        "task": run.settings.task_name,
        "seed": run.settings.seed,
        "policy": run.settings.source,
        "result": evaluation_of(receipts.values(), seed=run.settings.seed).to_json(),
        "scenes": scenes,
        "factors": factors_of(instances),
    }


def _instance(folder: Any) -> dict[str, Any] | None:
    try:
        return EpisodeFiles.at(folder).json("instance.json", PlainObject)
    except FileError:
        return None
