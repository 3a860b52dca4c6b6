"""Labels of one episode: made while its pictures are drawn, or of the recording alone."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from handloom.labels.cameras import camera_column
from handloom.labels.entities import Entities
from handloom.labels.kinds import (
    KINDS,
    LABEL_FILE,
    LABELS_VERSION,
    PICTURE_FILE,
    WORDS_FILE,
    chosen_kinds,
    images_for,
)
from handloom.labels.label_pictures import LabelPictures
from handloom.labels.motion import motion_of
from handloom.labels.named_points import PointLabels
from handloom.labels.outlines import OutlineLabels
from handloom.labels.steps import step_columns
from handloom.labels.surfaces import Surfaces
from handloom.labels.touches import contact_column, grasp_column, grasps_of
from handloom.labels.traces import trace_column
from handloom.labels.words.episode_words import episode_words
from handloom.scene import Scene
from handloom.values import EpisodeRecord

METADATA = b"handloom.labels"
"""Key of the file's metadata that says version, kinds and parts."""


class EpisodeLabeller:
    """Writes the label files of one episode into a folder.

    Example::

        labeller = EpisodeLabeller(scene, record, ("boxes", "traces"), folder)
        for frame, images in enumerate(rendered_frames(scene, record, preset="fast", kinds=labeller.images)):
            labeller.add(frame, images)
        labeller.finish()

    Args:
        scene: The scene of the record's instance; its state is overwritten.
        record: What happened.
        kinds: Kinds of labels, see ``KINDS``.
        folder: Folder the files go into.
    """

    def __init__(self, scene: Scene, record: EpisodeRecord, kinds: Sequence[str], folder: Path) -> None:
        self.kinds = chosen_kinds(kinds)
        self.images = images_for(self.kinds)
        """Kinds of pictures that ``add`` needs of every camera."""
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
        """Take the pictures of a frame: by camera, then by kind (``geoms``, ``depth``, ``normals``)."""
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
