"""Labels of one episode: computed while its images are rendered, or from the recording alone."""

import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from handloom.dataset.episodes.archive import segments_of
from handloom.labels import arrow_rows
from handloom.labels.cameras import camera_column, trace_column
from handloom.labels.entities import Entities
from handloom.labels.images.label_pictures import LabelPictures
from handloom.labels.images.outlines import OutlineLabels
from handloom.labels.kinds import (
    KINDS,
    LABEL_FILE,
    LABELS_VERSION,
    PICTURE_FILE,
    WORDS_FILE,
    chosen_kinds,
    images_for,
)
from handloom.labels.motion import EpisodeMotion, motion_of
from handloom.labels.named_points import PointLabels
from handloom.labels.surfaces import Surfaces
from handloom.labels.touches import contact_column, grasp_column, grasps_of
from handloom.labels.words.description import describe, relation_sentences
from handloom.labels.words.questions import questions
from handloom.labels.words.references import reference
from handloom.labels.words.things import SceneFacts
from handloom.labels.words.wordings import wordings
from handloom.scene import Scene
from handloom.values import MARK, EpisodeRecord

METADATA = b"handloom.labels"
"""Key of the file's metadata with version, kinds and parts."""


class EpisodeLabeller:
    """Writes the label files of one episode into a folder.

    Example::

        labeller = EpisodeLabeller(scene, record, ("boxes", "traces"), folder)
        for frame, images in enumerate(rendered_frames(scene, record, preset="fast", kinds=labeller.images)):
            labeller.add(frame, images)
        labeller.finish()

    Args:
        scene: The scene of the record's instance; its state is overwritten.
        record: The recorded episode.
        kinds: Kinds of labels, see ``KINDS``.
        folder: Folder for the files.
    """

    def __init__(self, scene: Scene, record: EpisodeRecord, kinds: Sequence[str], folder: Path) -> None:
        self.kinds = chosen_kinds(kinds)
        self.images = images_for(self.kinds)
        """Kinds of images that ``add`` needs from every camera."""
        self._folder = folder
        self._cameras = record.instance.cameras
        self._record = record
        contacts = any(KINDS[kind].contacts for kind in self.kinds) or "words" in self.kinds
        self._motion = motion_of(scene, record, contacts=contacts)
        self._surfaces = Surfaces(scene)
        self._entities = Entities(self._motion, self._surfaces)
        wants = {kind: kind in self.kinds for kind in KINDS}
        self._points = PointLabels(self._motion, self._cameras) if wants["points"] else None
        self._outlines = (
            OutlineLabels(self._entities, self._surfaces, self._cameras, boxes=wants["boxes"], masks=wants["masks"])
            if wants["boxes"] or wants["masks"]
            else None
        )
        dense = [kind for kind in self.kinds if KINDS[kind].file == PICTURE_FILE]
        self._pictures = (
            LabelPictures(folder / PICTURE_FILE, self._motion, self._cameras, dense)
            if dense and self._cameras
            else None
        )

    def add(self, frame: int, images: Mapping[str, Mapping[str, NDArray[Any]]]) -> None:
        """Add the images of a frame: by camera, then by kind (``geoms``, ``depth``, ``normals``)."""
        for number, camera in enumerate(self._cameras):
            drawn = images[camera.name]
            if self._outlines is not None:
                self._outlines.add(frame, number, drawn["geoms"])
            if self._points is not None:
                self._points.add(frame, number, drawn["depth"])
            if self._pictures is not None:
                self._pictures.add(frame, number, drawn)

    def finish(self) -> tuple[str, ...]:
        """Write the files and return their names."""
        written = []
        if self._pictures is not None:
            self._pictures.close()
            written.append(PICTURE_FILE)
        if any(KINDS[kind].file == LABEL_FILE for kind in self.kinds):
            pq.write_table(self.table(), self._folder / LABEL_FILE, compression="zstd")
            written.append(LABEL_FILE)
        if "words" in self.kinds:
            words = episode_words(self._motion, self._entities)
            text = json.dumps(words, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
            (self._folder / WORDS_FILE).write_text(text, encoding="utf-8")
            written.append(WORDS_FILE)
        return tuple(written)

    def table(self) -> pa.Table:
        """Return the labels, one row per frame."""
        motion, cameras = self._motion, self._cameras
        frames = np.arange(motion.frames)
        columns: dict[str, pa.Array] = {
            "frame_index": pa.array(frames),
            "timestamp": pa.array((frames / self._record.instance.fps).astype(np.float32)),
        }
        if "steps" in self.kinds:
            columns |= step_columns(self._record)
        makers = {
            "objects": self._entities.object_column,
            "cameras": lambda: camera_column(motion, cameras),
            "contacts": lambda: contact_column(motion),
            "traces": lambda: trace_column(motion, cameras),
            "grasps": lambda: grasp_column(motion, grasps_of(motion), cameras),
        }
        if self._outlines is not None:
            makers |= {"boxes": self._outlines.box_column, "masks": self._outlines.mask_column}
        if self._points is not None:
            makers["points"] = self._points.column
        columns |= {name: makers[name]() for name in KINDS if name in self.kinds and name in makers}
        table = pa.table(columns)
        return table.replace_schema_metadata({METADATA: json.dumps(self._metadata()).encode()})

    def _metadata(self) -> dict[str, Any]:
        parts = [{"object": part.owner, "part": part.name} for part in self._surfaces.parts]
        cameras = [{"camera": c.name, "width": c.width, "height": c.height} for c in self._cameras]
        return {"version": LABELS_VERSION, "kinds": list(self.kinds), "parts": parts, "cameras": cameras}


RESTING = ("wait", "pour__water__succ", "artpreplan", MARK)
"""Skills during which an arm holds still, and spans that belong to no arm."""
NO_STEP = -1
"""Step of a frame that belongs to no sub-task."""


def step_columns(record: EpisodeRecord) -> dict[str, pa.Array]:
    """Return sub-task, its index in the episode, its progress (0 to 1) and the acting arms of each frame."""
    kept = record.kept
    step = np.full(len(kept), NO_STEP, np.int64)
    progress = np.zeros(len(kept), np.float32)
    segments = segments_of(record)
    for number, segment in enumerate(segments):
        inside = np.arange(segment.start, segment.stop)
        step[inside] = number
        progress[inside] = (inside - segment.start) / (segment.stop - segment.start)
    texts = pa.array([segment.label for segment in segments] + [None], pa.string())
    acting = acting_arms(record)
    flat = pa.array([name for arms in acting for name in arms], pa.string())
    return {
        "subtask": texts.take(pa.array(np.where(step == NO_STEP, len(segments), step))),
        "step": pa.array(step),
        "progress": pa.array(progress),
        "acting": arrow_rows.lists([len(arms) for arms in acting], flat),
    }


def acting_arms(record: EpisodeRecord) -> list[tuple[str, ...]]:
    """Return the arms that execute a skill in each frame of the demonstration, as ``robot/arm``."""
    busy: list[set[str]] = [set() for _ in range(record.frames)]
    for span in record.timeline:
        if span.skill in RESTING or not span.robot:
            continue
        for frame in range(max(span.start, 0), min(span.end, record.frames)):
            busy[frame].add(f"{span.robot}/{span.arm}" if span.arm else span.robot)
    return [tuple(sorted(busy[frame])) for frame in record.kept]


def step_at(starts: list[int], frame: int) -> int:
    """Return the index of the last step that starts at or before a frame; -1 before the first."""
    return bisect_right(starts, frame) - 1


def episode_words(motion: EpisodeMotion, entities: Entities) -> dict[str, Any]:
    """Return the words of an episode as plain JSON values.

    Args:
        motion: The motion of the episode, with contacts.
        entities: Its entities.
    """
    record = motion.record
    first, last = SceneFacts(motion, entities, 0), SceneFacts(motion, entities, motion.frames - 1)
    known = {thing.name: reference(first, thing.name) for thing in first.things}
    return {
        "version": 1,
        "scene": describe(first, record.instance),
        "references": {name: None if found is None else found.text for name, found in known.items()},
        "relations": {"first": relation_sentences(first), "last": relation_sentences(last)},
        "questions": questions(first, last, record, grasps_of(motion)),
        "plan": [segment.label for segment in segments_of(record)],
        "wordings": [asdict(wording) for wording in wordings(first, record)],
    }
