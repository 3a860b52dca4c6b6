"""Requests of an episode's 3D view: shapes, motion, and an image from any angle."""

import threading
from collections import OrderedDict
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
from PIL import Image
from pydantic import Field

from handloom.config import Config
from handloom.dataset import record_of_archive
from handloom.engine.trust import demand_trusted
from handloom.errors import FileError, InputError, NotFoundError
from handloom.render import Renderer
from handloom.scene import Scene, build_scene
from handloom.spatial import quat_normalize
from handloom.values import CameraSpec, EpisodeRecord
from handloom.viewer.episode_api import asked
from handloom.viewer.episode_source import EpisodeSource
from handloom.viewer.library import Library
from handloom.viewer.scene3d.recorded_motion import recorded_motion
from handloom.viewer.scene3d.scene_geometry import scene_geometry
from handloom.web import Request, Response, Route
from handloom.web.exchange import BINARY

KEPT = 3
"""Number of episodes whose scenes are kept; one takes 5 to 30 MB."""


class Viewpoint(Config):
    """The viewpoint of an image: the body of a request."""

    frame: int = Field(default=0, ge=0)
    position: tuple[float, float, float]
    """Position of the camera in the world [m]."""
    quat: tuple[float, float, float, float]
    """Its orientation, wxyz; OpenCV axes."""
    fovy_deg: float = Field(default=45.0, gt=1.0, lt=170.0)
    """Angle from the upper to the lower edge [deg]."""
    width: int = Field(default=960, ge=16, le=1920)
    height: int = Field(default=720, ge=16, le=1920)

    def camera(self) -> CameraSpec:
        """Return the camera."""
        focal = self.height / 2 / np.tan(np.deg2rad(self.fovy_deg) / 2)
        w, x, y, z = quat_normalize(np.array(self.quat)).tolist()
        return CameraSpec.centred("view", self.width, self.height, focal, position=self.position, quat=(w, x, y, z))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Built:
    """A recorded episode with its scene, and the files that the page loads."""

    scene: Scene
    record: EpisodeRecord
    geometry: bytes
    motion: bytes


class RecordedScenes:
    """Builds the scenes of recorded episodes; the last few are kept."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._built: OrderedDict[Any, _Built] = OrderedDict()

    def geometry(self, source: EpisodeSource, index: int) -> bytes:
        """Return the visible geometry of an episode's scene."""
        with self._lock:
            return self._of(source, index).geometry

    def motion(self, source: EpisodeSource, index: int) -> bytes:
        """Return the motion in an episode."""
        with self._lock:
            return self._of(source, index).motion

    def drawn(self, source: EpisodeSource, index: int, viewpoint: Viewpoint) -> bytes:
        """Return an image (JPEG) of a frame from a viewpoint, rendered by the ray caster."""
        with self._lock:
            built = self._of(source, index)
            kept = built.record.kept
            if viewpoint.frame >= len(kept):
                raise InputError(f"frame: the episode has {len(kept)} frames, got {viewpoint.frame}")
            world = built.scene.world
            world.restore_state(built.record.states[kept[viewpoint.frame]])
            image = Renderer(world.model, "quality", looks=built.scene.looks).render(world.data, [viewpoint.camera()])[
                "view"
            ]["rgb"]
        file = BytesIO()
        Image.fromarray(np.asarray(image, np.uint8)).save(file, format="JPEG", quality=92)
        return file.getvalue()

    def _of(self, source: EpisodeSource, index: int) -> _Built:
        key = (source.key, source.stamp(), index)
        if key not in self._built:
            while len(self._built) >= KEPT:
                self._built.popitem(last=False)
            self._built[key] = _build(source, index)
        self._built.move_to_end(key)
        return self._built[key]


def _build(source: EpisodeSource, index: int) -> _Built:
    if not source.has_archive(index):
        raise NotFoundError(f"episode {index} has no recorded states, so it cannot be shown in 3D")
    record = record_of_archive(source.archive(index))
    demand_trusted(record.instance, source.archive_folder(index))
    if record.frames == 0:
        raise FileError(f"episode {index} has no frames")
    scene = build_scene(record.instance)
    motion = recorded_motion(scene, record)
    scene.world.restore_state(record.states[record.kept[0]])
    return _Built(scene=scene, record=record, geometry=scene_geometry(scene), motion=motion)


def scene_routes(library: Library) -> list[Route]:
    """Return the requests of the 3D view."""
    scenes = RecordedScenes()

    def geometry(request: Request) -> Response:
        return Response(body=scenes.geometry(*asked(library, request)), kind=BINARY)

    def motion(request: Request) -> Response:
        return Response(body=scenes.motion(*asked(library, request)), kind=BINARY)

    def draw(request: Request) -> Response:
        try:
            viewpoint = Viewpoint.model_validate(request.json())
        except ValueError as error:
            raise InputError(f"not a viewpoint: {str(error).splitlines()[-1].strip()}") from error
        return Response(body=scenes.drawn(*asked(library, request), viewpoint), kind="image/jpeg")

    return [
        Route("GET", "/api/episodes/{source}/{episode}/scene", geometry),
        Route("GET", "/api/episodes/{source}/{episode}/motion", motion),
        Route("POST", "/api/episodes/{source}/{episode}/draw", draw),
    ]
