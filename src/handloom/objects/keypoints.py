"""Keypoints of a joint for one action, under the names of the published annotation, and its files."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from handloom.errors import FileError, suggest, unknown_name
from handloom.objects.parts import Axis, Keypoint, Link, Point, point
from handloom.safe_paths import safe_name

Action = Literal["open", "close", "turn"]
ACTIONS: dict[str, Action] = {"open": "open", "pull": "open", "close": "close", "push": "close", "turn": "turn"}
"""First word of an annotation's name > action on the joint; ``open_v_handle`` is an ``open``."""
HEAD, TAIL = "articulated_object_head", "articulated_object_tail"
LINK_CONTACT, BASE_CONTACT, BASE_OBJECT_CONTACT = (
    "link_contact_point",
    "base_contact_point",
    "base_object_contact_point",
)
ROT_AXIS, MOVE_AXIS = "object_link0_rot_axis", "object_link0_move_axis"
CONTACT_AXIS, VERTICAL_AXIS, FRONT_AXIS = (
    "object_link0_contact_axis",
    "object_link0_vertical_axis",
    "object_base_front_axis",
)
_NAMED_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


@dataclass(frozen=True, kw_only=True)
class JointKeypoints:
    """Contact points and directions of a hand on one joint."""

    link: Link
    """The moving body and its joint."""
    index: int
    """Index of the joint in the object."""
    points: Mapping[str, Keypoint]
    """The five published points: head, tail and link contact on the link, two contacts on its parent."""
    axes: Mapping[str, Axis]
    """Published axes: rotation or move, contact, vertical (of slides), front."""

    def info(self) -> dict[str, Any]:
        """Return the content of ``info.json``: points in metres, axes along the frame as words, others as numbers."""
        link = self.link
        return {
            "object_keypoints": {name: list(k.position) for name, k in self.points.items()},
            **{name: _written(a.direction) for name, a in self.axes.items() if name != VERTICAL_AXIS},
            "joint_index": self.index,
            "object_link_path": link.name,
            "object_base_path": link.parent,
            "object_joint_path": link.joint,
            "object_scale": [1.0, 1.0, 1.0, 1.0],
        }


def action_of(name: str) -> Action:
    """Return the action of an annotation or skill by its name: ``open_v`` opens, ``push`` closes, ``rotate`` turns."""
    word = {"rotate": "turn"}.get(name, name).split("_")[0]
    if word not in ACTIONS:
        raise unknown_name("action", name, ACTIONS)
    return ACTIONS[word]


def joint_keypoints(link: Link, index: int, action: Action = "open") -> JointKeypoints:
    """Return the keypoints of a joint: opening and turning grip its handle, closing pushes its surface."""
    touched = link.push if action == "close" and link.push is not None else link.head
    base = Keypoint(body=link.parent, position=link.in_parent(touched))
    points = {
        HEAD: Keypoint(body=link.name, position=touched),
        TAIL: Keypoint(body=link.name, position=link.tail),
        LINK_CONTACT: Keypoint(body=link.name, position=touched),
        BASE_CONTACT: base,
        BASE_OBJECT_CONTACT: base,
    }
    directions = {ROT_AXIS if link.kind == "hinge" else MOVE_AXIS: link.axis, CONTACT_AXIS: link.contact_axis}
    if link.kind == "slide":
        directions[VERTICAL_AXIS] = point(np.cross(link.axis, link.contact_axis))
    axes = {name: Axis(body=link.name, direction=direction) for name, direction in directions.items()}
    axes[FRONT_AXIS] = Axis(body=link.parent, direction=link.front_axis)
    return JointKeypoints(link=link, index=index, points=points, axes=axes)


def write_keypoints(folder: str | Path, name: str, keypoints: JointKeypoints) -> Path:
    """Write ``Kps/<name>/info.json`` into the folder of an asset and return its path."""
    file = Path(folder) / "Kps" / safe_name(name) / "info.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(keypoints.info(), indent=2) + "\n", encoding="utf-8")
    return file


def read_keypoints(file: str | Path, link: Link, index: int) -> JointKeypoints:
    """Return the keypoints that an ``info.json`` gives for a link, in metres and in the frames of link and parent.

    A drawer may have only a contact point: its head is then that point, its tail that of the link.

    Raises:
        FileError: Missing, not an annotation, or without a required key; the message names file and key.
    """
    path = Path(file)
    values = _json(path)
    given = _need(path, values, "object_keypoints", dict)
    scale = float(np.ravel(values.get("object_scale", 1.0))[0])
    names = (HEAD, TAIL, LINK_CONTACT, BASE_CONTACT, BASE_OBJECT_CONTACT)
    told = {n: point(scale * _numbers(path, f"object_keypoints.{n}", given[n])) for n in names if n in given}
    touched = told.get(HEAD, told.get(LINK_CONTACT))
    if touched is None:
        raise FileError(f"{path}: object_keypoints needs {HEAD} or {LINK_CONTACT}; it has {', '.join(given) or 'none'}")
    known = joint_keypoints(link, index)
    base = {
        n: Keypoint(body=link.parent, position=link.in_parent(touched)) for n in (BASE_CONTACT, BASE_OBJECT_CONTACT)
    }
    points = {
        HEAD: Keypoint(body=link.name, position=touched),
        TAIL: known.points[TAIL],
        LINK_CONTACT: Keypoint(body=link.name, position=touched),
        **base,
        **{n: Keypoint(body=link.parent if n.startswith("base") else link.name, position=p) for n, p in told.items()},
    }
    axes = dict(known.axes)
    for name in (MOVE_AXIS, CONTACT_AXIS, FRONT_AXIS):
        if name in values:
            body = link.parent if name == FRONT_AXIS else link.name
            axes[name] = Axis(body=body, direction=_axis(path, name, values[name]))
    if CONTACT_AXIS not in values:
        raise FileError(f"{path}: needs the key {CONTACT_AXIS}: x, -y and so on, or three numbers")
    along = np.asarray(axes[CONTACT_AXIS].direction)
    told_link = replace(link, contact_axis=point(along), head=touched, normal=_square(link.normal, along))
    if MOVE_AXIS in axes:
        vertical = np.cross(axes[MOVE_AXIS].direction, axes[CONTACT_AXIS].direction)
        axes[VERTICAL_AXIS] = Axis(body=link.name, direction=point(vertical))
    return JointKeypoints(link=told_link, index=index, points=points, axes=axes)


def _square(normal: Point, along: np.ndarray) -> Point:
    """Return a normal made perpendicular to a contact axis."""
    slant = float(np.dot(normal, along))
    if abs(slant) < 1e-9 or abs(slant) > 1.0 - 1e-6:
        return normal
    square = np.asarray(normal) - slant * along
    return point(square / np.linalg.norm(square))


def annotated_scale(asset: str | Path, name: str) -> float | None:
    """Return the ``object_scale`` that the annotation of a name beside an asset file gives; None if there is none."""
    file = Path(asset).parent / "Kps" / safe_name(name) / "info.json"
    given = _json(file).get("object_scale") if file.is_file() else None
    return None if given is None else float(_numbers(file, "object_scale", np.ravel(given)[:3])[0])


def annotation_names(folder: str | Path) -> tuple[str, ...]:
    """Return the names of the annotations beside an asset file."""
    return tuple(sorted(p.parent.name for p in Path(folder).glob("Kps/*/info.json")))


def _json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        there = annotation_names(path.parent.parent.parent)
        raise FileError(f"no annotation {path}; {suggest(path.parent.name, there)}")
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise FileError(f"{path}: not JSON: {error}") from error
    if not isinstance(values, dict):
        raise FileError(f"{path}: an annotation is a JSON object, got {type(values).__name__}")
    return values


def _need(path: Path, values: Mapping[str, Any], key: str, kind: type) -> Any:
    if not isinstance(values.get(key), kind):
        raise FileError(f"{path}: needs the key {key}; it has {', '.join(values) or 'no keys'}")
    return values[key]


def _numbers(path: Path, key: str, given: Any) -> np.ndarray:
    try:
        numbers = np.asarray(given, float)
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if numbers.shape != (3,) or not np.all(np.isfinite(numbers)):
        raise FileError(f"{path}: {key} must be three numbers, got {given!r}")
    return numbers


def _axis(path: Path, key: str, given: Any) -> Point:
    if isinstance(given, str):
        if given.lstrip("+-").lower() not in _NAMED_AXES:
            raise FileError(f"{path}: {key} must be x, -x, ... -z or three numbers, got {given!r}")
        sign = -1.0 if given.startswith("-") else 1.0
        return point(sign * np.asarray(_NAMED_AXES[given.lstrip("+-").lower()]))
    vector = _numbers(path, key, given)
    length = float(np.linalg.norm(vector))
    if length < 1e-9:
        raise FileError(f"{path}: {key} has no length")
    return point(vector / length)


def _written(direction: Point) -> str | list[float]:
    """Return an axis in the notation of the reference: ``x``, ``-y``, ... or three numbers if it is oblique."""
    for word, unit in _NAMED_AXES.items():
        for sign in (1.0, -1.0):
            if np.allclose(direction, sign * np.asarray(unit), atol=1e-9):
                return word if sign > 0 else f"-{word}"
    return list(direction)
