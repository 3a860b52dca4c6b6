"""Labels for computer vision: COCO annotations with images, and questions with answers as JSON lines."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from handloom.dataset import DatasetReader
from handloom.dataset.files.durable import atomic_folder, json_bytes
from handloom.dataset.files.shapes import PlainObject
from handloom.errors import FileError
from handloom.labels.episode_labels import EpisodeLabels
from handloom.labels.kinds import LABEL_FILE

QUALITY = 95
"""Of JPEG images."""
CAMERA = "observation.images."
HIDDEN, SEEN = 1, 2
"""Visibility of keypoints in COCO: labelled but hidden, labelled and visible; 0 is not labelled."""


def export_coco(dataset: DatasetReader, out: Path, *, every: int = 10) -> Path:
    """Write images as JPEG files and ``annotations.json`` with boxes, masks and keypoints in the COCO layout.

    Categories are those of the object library. Each annotation also has ``object`` (its name in the scene), ``visible``
    and ``whole_box``, which other readers ignore.

    Args:
        dataset: A dataset with the labels boxes, masks and points.
        out: Folder to write; it must not exist.
        every: Export every N-th frame.

    Raises:
        FileError: The dataset has no labels.
    """
    book = _Book()
    with _new_folder(out) as work:
        for index, labels, instance in _labelled(dataset):
            book.kinds = {obj["name"]: obj["category"] for obj in instance["objects"]}
            for camera in (row["camera"] for row in labels.metadata["cameras"]):
                pictures = dataset.images(index, CAMERA + camera)
                for frame, picture in enumerate(pictures):
                    if frame % every == 0:
                        name = picture_name(index, camera, frame)
                        _save(work / "images" / name, picture)
                        book.add(name, labels, frame, camera)
        (work / "annotations.json").write_bytes(json_bytes(book.content()))
    return out


def export_questions(dataset: DatasetReader, out: Path) -> Path:
    """Write one JSON line per question: its image, the question and the answer.

    Args:
        dataset: A dataset with the labels words.
        out: Folder to write, with ``questions.jsonl`` and ``images/``; it must not exist.
    """
    with _new_folder(out) as work:
        lines = []
        for index, labels, _ in _labelled(dataset):
            for camera in (row["camera"] for row in labels.metadata["cameras"]):
                frames = sorted({asked["frame"] for asked in labels.words["questions"]})
                for frame in frames:
                    picture = dataset.image(index, CAMERA + camera, frame)
                    _save(work / "images" / picture_name(index, camera, frame), picture)
                lines += [
                    {"image": f"images/{picture_name(index, camera, asked['frame'])}", "episode": index, **asked}
                    for asked in labels.words["questions"]
                ]
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (work / "questions.jsonl").write_text(text, encoding="utf-8")
    return out


def picture_name(episode: int, camera: str, frame: int) -> str:
    """Return the file name of an image."""
    safe = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in camera)
    return f"{episode:06d}_{safe}_{frame:06d}.jpg"


def _new_folder(out: Path) -> Any:
    if out.exists():
        raise FileError(f"{out} exists; choose another name or remove it")
    return atomic_folder(out)


def _labelled(dataset: DatasetReader) -> Iterator[tuple[int, EpisodeLabels, dict[str, Any]]]:
    if not dataset.table.videos:
        raise FileError(f"{dataset.root} has no images; render them with handloom render")
    for episode in dataset.episodes:
        files = dataset.archive_files(episode.index)
        if not files.has(LABEL_FILE):
            raise FileError(f"{files.folder} has no {LABEL_FILE}; write it with handloom label {dataset.root}")
        yield episode.index, EpisodeLabels(files.folder), files.json("instance.json", PlainObject)


def _save(file: Path, picture: NDArray[np.uint8]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(picture).save(file, "JPEG", quality=QUALITY)


class _Book:
    """The annotations collected so far."""

    def __init__(self) -> None:
        self.kinds: dict[str, str] = {}
        """Category by object in the current episode."""
        self._images: list[dict[str, Any]] = []
        self._annotations: list[dict[str, Any]] = []
        self._points: dict[str, dict[str, None]] = {}
        """Names of the keypoints by category, in order of appearance."""

    def add(self, name: str, labels: EpisodeLabels, frame: int, camera: str) -> None:
        """Add the annotations of an image."""
        parts = labels.parts(frame, camera)
        image = {
            "id": len(self._images) + 1,
            "file_name": f"images/{name}",
            "height": len(parts),
            "width": len(parts[0]),
        }
        self._images.append(image)
        known = labels.metadata["parts"]
        points: dict[str, list[dict[str, Any]]] = {}
        for point in labels.rows("points", frame):
            if point["camera"] == camera:
                points.setdefault(point["object"], []).append(point)
        for box in labels.rows("boxes", frame):
            if box["camera"] != camera or box["part"] or not box["pixels"]:
                continue
            category = self.kinds.get(box["object"], "robot")
            numbers = [number for number, part in enumerate(known) if part["object"] == box["object"]]
            left, top, right, bottom = box["box"]
            names = self._points.setdefault(category, {})
            names |= {point["name"]: None for point in points.get(box["object"], ())}
            self._annotations.append(
                {
                    "id": len(self._annotations) + 1,
                    "image_id": image["id"],
                    "category": category,
                    "object": box["object"],
                    "bbox": [left, top, right - left, bottom - top],
                    "area": box["pixels"],
                    "iscrowd": 0,
                    "segmentation": run_lengths(np.isin(parts, numbers)),
                    "visible": _number(box["visible"]),
                    "whole_box": None if np.isnan(box["whole_box"]).any() else box["whole_box"],
                    "points": points.get(box["object"], []),
                }
            )

    def content(self) -> dict[str, Any]:
        """Return the content of ``annotations.json``."""
        numbers = {name: number for number, name in enumerate(sorted(self._points), start=1)}
        categories = [
            {
                "id": number,
                "name": name,
                "supercategory": "object",
                "keypoints": list(self._points[name]),
                "skeleton": [],
            }
            for name, number in numbers.items()
        ]
        for annotation in self._annotations:
            category = annotation.pop("category")
            annotation["category_id"] = numbers[category]
            found = {point["name"]: point for point in annotation.pop("points")}
            flat: list[float] = []
            for name in self._points[category]:
                flat += _key_point(found.get(name))
            annotation["keypoints"] = flat
            annotation["num_keypoints"] = sum(value > 0 for value in flat[2::3])
        licence = {"id": 1, "name": "", "url": ""}
        return {
            "info": {"description": "Labels made with Handloom", "version": "1.0"},
            "licenses": [licence],
            "images": self._images,
            "annotations": self._annotations,
            "categories": categories,
        }


def _key_point(point: dict[str, Any] | None) -> list[float]:
    if point is None or np.isnan(point["pixel"]).any():
        return [0.0, 0.0, 0]
    x, y = point["pixel"]
    return [x, y, SEEN if point["visible"] else HIDDEN]


def _number(value: float) -> float | None:
    return None if np.isnan(value) else value


def run_lengths(mask: NDArray[np.bool_]) -> dict[str, Any]:
    """Return a mask (h, w) as COCO's uncompressed run lengths: column by column, beginning with zeros."""
    flat = mask.ravel(order="F")
    edges = np.flatnonzero(np.diff(flat)) + 1
    counts = np.diff(np.concatenate([[0], edges, [len(flat)]])).tolist()
    return {"size": list(mask.shape), "counts": [0, *counts] if flat[0] else counts}
