"""What differs from scene to scene: places, turns, kinds and colours of objects, how many there are, the light."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

MOST_VALUES = 24
"""Different values with which a factor is still shown by value."""
LEAST_SPREAD = 1e-6


def factors_of(instances: Sequence[Mapping[str, Any] | None]) -> list[dict[str, Any]]:
    """Return the factors in which some scenes differ, each with one value per scene; None where a scene has none.

    Args:
        instances: ``instance.json`` of every scene, None where there is none.
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
    """Return the turn about the vertical of a quaternion wxyz [rad]."""
    return math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
