"""Keypoint annotation beside an articulated asset: ``Kps/<info_name>/info.json``."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from handloom.errors import FileError, suggest
from handloom.objects.importers.import_options import ImportOptions
from handloom.objects.importers.import_report import ReportDraft
from handloom.objects.importers.usd_meshes import UsdSurfaces
from handloom.objects.link import Link
from handloom.objects.part import Point, point

_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


@dataclass(frozen=True, kw_only=True)
class UsdAnnotation:
    """What an ``info.json`` says about one joint."""

    head: Point
    """Contact point in the frame and units of the link's prim."""
    tail: Point
    """Second point, likewise."""
    contact_axis: Point
    """Unit vector in the frame of the link's prim."""
    scale: float
    """Scale of the asset in a scene."""
    link: str
    """Last part of the link's prim path, or empty."""
    joint_index: int
    """Index of the joint."""


def read_annotation(path: Path, options: ImportOptions, draft: ReportDraft) -> UsdAnnotation | None:
    """Return the annotation of that name, or None if none was asked for.

    Raises:
        FileError: It is missing or lacks a key; the text names the ones that exist.
    """
    info_name = options.info_name
    if info_name is None:
        return None
    file = path.parent / "Kps" / info_name / "info.json"
    if not file.is_file():
        there = [p.name for p in (path.parent / "Kps").glob("*") if (p / "info.json").is_file()]
        raise FileError(f"no annotation {info_name!r} beside {path}: searched {file}; {suggest(info_name, there)}")
    options.demand_inside(file, path)
    try:
        values = json.loads(file.read_text(encoding="utf-8"))
        keypoints = values["object_keypoints"]
        annotation = UsdAnnotation(
            head=point(keypoints["articulated_object_head"]),
            tail=point(keypoints["articulated_object_tail"]),
            contact_axis=_axis(values["object_link0_contact_axis"]),
            scale=float(np.ravel(values.get("object_scale", 1.0))[0]),
            link=str(values.get("object_link_path", "")).rsplit("/", 1)[-1],
            joint_index=int(values.get("joint_index", 0)),
        )
    except (KeyError, ValueError, TypeError, AttributeError, IndexError, RecursionError) as error:
        raise FileError(f"{file}: not an annotation: {type(error).__name__}: {error}") from error
    draft.kept.append(f"annotation {info_name!r}: contact points and axes of one joint")
    return annotation


def apply_annotation(
    annotation: UsdAnnotation,
    links: tuple[Link, ...],
    bodies: Mapping[str, str],
    stage: Any,
    surfaces: UsdSurfaces,
    origins: Mapping[str, np.ndarray],
    draft: ReportDraft,
) -> tuple[Link, ...]:
    """Give the annotated link its points, and put it first."""
    if not links:
        return links
    by_name = [link for link in links if bodies[link.name].rsplit("/", 1)[-1] == annotation.link]
    chosen = by_name[0] if by_name else links[min(annotation.joint_index, len(links) - 1)]
    prim = stage.GetPrimAtPath(bodies[chosen.name])
    rotation, _ = surfaces.pose(prim)
    head, tail = surfaces.points(prim, np.array([annotation.head, annotation.tail])) - origins[bodies[chosen.name]]
    told = replace(
        chosen, head=point(head), tail=point(tail), contact_axis=point(rotation @ np.asarray(annotation.contact_axis))
    )
    draft.converted = [line for line in draft.converted if f"'{chosen.joint}' computed" not in line]
    return (told, *(link for link in links if link is not chosen))


def _axis(text: str | list[float]) -> Point:
    """Return the unit vector of ``x``, ``-y`` and so on, or of three numbers."""
    if isinstance(text, str):
        sign = -1.0 if text.startswith("-") else 1.0
        return point(sign * np.asarray(_AXES[text.lstrip("+-").lower()]))
    vector = np.asarray(text, float)
    return point(vector / np.linalg.norm(vector))
