"""Requests for the labels of an episode: camera overlays and descriptions of the scene."""

import math
from pathlib import Path
from typing import Any

from handloom.dataset.episodes.episode_files import EpisodeFiles
from handloom.labels import EpisodeLabels
from handloom.labels.kinds import LABEL_FILE, WORDS_FILE
from handloom.viewer.episode_api import asked
from handloom.viewer.library import Library
from handloom.web import Request, Response, Route, json_response

DRAWN = ("boxes", "masks", "points", "traces", "grasps")
"""Kinds of labels that are drawn over images."""
SAID = ("scene", "plan", "wordings", "questions", "references")


def label_routes(library: Library) -> list[Route]:
    """Return the requests for labels."""

    def labels(request: Request) -> Response:
        source, index = asked(library, request)
        return json_response(labels_of(source.archive_folder(index)))

    return [Route("GET", "/api/episodes/{source}/{episode}/labels", labels)]


def labels_of(folder: Path) -> dict[str, Any]:
    """Return the labels of an episode by camera and kind, one entry per frame; nothing if there are none.

    Boxes are ``[name, left, top, right, bottom]``, points ``[name, x, y]``, traces lists of ``[x, y]``, grasps four
    corners, masks ``[parts, lengths]`` of runs of pixels, all in pixels of the camera. ``parts`` names their objects.
    """
    files = EpisodeFiles.at(folder)
    if not files.has(LABEL_FILE):
        return {"cameras": {}, "parts": [], "words": {}}
    found = EpisodeLabels(folder)
    names = found.table.column_names
    cameras: dict[str, dict[str, list[list[Any]]]] = {}
    for kind in (kind for kind in DRAWN if kind in names):
        for frame, items in enumerate(found.table[kind].to_pylist()):
            for item in items or ():
                rows = cameras.setdefault(item["camera"], {}).setdefault(kind, [[] for _ in range(found.frames)])
                if (entry := SHAPES[kind](item, frame)) is not None:
                    rows[frame].append(entry)
    parts = [str(part["object"]) for part in found.metadata.get("parts", ())]
    said = found.words if files.has(WORDS_FILE) else {}
    return {"cameras": cameras, "parts": parts, "words": {key: said[key] for key in SAID if key in said}}


def _box(item: dict[str, Any], frame: int) -> list[Any] | None:
    name = " ".join(filter(None, (item["object"], item["part"])))
    return [name, *item["box"]] if item["pixels"] > 0 else None


def _mask(item: dict[str, Any], frame: int) -> list[Any]:
    return [item["parts"], item["lengths"]]


def _point(item: dict[str, Any], frame: int) -> list[Any] | None:
    if not item["visible"] or not _finite(item["pixel"]):
        return None
    return [f"{item['object']} {item['name']}", *_rounded(item["pixel"])]


def _trace(item: dict[str, Any], frame: int) -> list[Any]:
    return [_rounded(pixel) for pixel in item["pixels"] if _finite(pixel)]


def _grasp(item: dict[str, Any], frame: int) -> list[Any] | None:
    return _rounded(item["rectangle"]) if frame < item["stop"] and _finite(item["rectangle"]) else None


SHAPES = {"boxes": _box, "masks": _mask, "points": _point, "traces": _trace, "grasps": _grasp}
"""Kind > data of an item sent to the page."""


def _rounded(values: list[float]) -> list[float]:
    return [round(value, 1) for value in values]


def _finite(values: list[float] | None) -> bool:
    return values is not None and all(value is not None and math.isfinite(value) for value in values)
