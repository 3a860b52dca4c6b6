"""The entry point for images: a renderer per worker, cameras in, images out."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.errors import InputError, unknown_name
from handloom.render.appearance.lens import finished, ideal_camera, through_lens
from handloom.render.backends import BatchBackend, make_backend
from handloom.render.cameras import spec_of_mjcf_camera
from handloom.render.looks import Look
from handloom.values import CameraSpec

KINDS = ("rgb", "depth", "segmentation", "normals", "albedo")

Images = dict[str, dict[str, NDArray[np.generic]]]


class Renderer:
    """Renders a model; owns its arrays, so create one per worker and keep it.

    Args:
        model: The model to render; shapes, colours, lights and textures are read once, here.
        preset: ``fast``, ``balanced`` or ``quality``.
        looks: Shapes to render in place of geoms; ``Scene.looks`` has those of a scene. MuJoCo's backends render the
            geoms.
        backend: Row of ``handloom.render.backends.BACKENDS``; never mix two in one dataset.
    """

    def __init__(
        self, model: mujoco.MjModel, preset: str = "balanced", *, looks: Sequence[Look] = (), backend: str = "cpu"
    ) -> None:
        self.preset = preset
        self.backend = backend
        self._model = model
        self._backend = make_backend(backend, model, preset, looks)

    @property
    def card(self) -> str:
        """The GPU that renders; empty for the CPU."""
        return self._backend.card if isinstance(self._backend, BatchBackend) else ""

    def render(
        self, data: mujoco.MjData, cameras: Sequence[CameraSpec | str], kinds: Iterable[str] = ("rgb",)
    ) -> Images:
        """Render the current state from every camera.

        Args:
            data: State with computed positions (``mj_forward``, or ``mj_kinematics`` and ``mj_camlight``).
            cameras: Specs, or names of cameras in the model.
            kinds: Any of ``rgb`` (h, w, 3) uint8, ``depth`` (h, w) float32 planar z [m] with inf for the background,
                ``segmentation`` (h, w) int32 geom id with -1 for the background, ``normals`` (h, w, 3) float32 in the
                world with 0 for the background, ``albedo`` (h, w, 3) uint8.

        Returns:
            Images by camera name, then by kind.

        Raises:
            NotFoundError: A kind, camera or parent body does not exist.
            InputError: Two cameras share a name.
        """
        specs, wanted = self._checked(cameras, kinds)
        self._backend.place(data)
        images: Images = {}
        for spec in specs:
            images[spec.name] = through_lens(self._backend, data, spec, wanted)
        return images

    def render_each(
        self, states: Iterable[mujoco.MjData], cameras: Sequence[CameraSpec | str], kinds: Iterable[str] = ("rgb",)
    ) -> Iterator[Images]:
        """Render states as they arrive and yield their images in the same order; a GPU renders many at a time.

        Args:
            states: As for ``render``. The same object may be passed repeatedly, and is read before the next is
                requested; images arrive a few states later.
            cameras: As for ``render``.
            kinds: As for ``render``.
        """
        specs, wanted = self._checked(cameras, kinds)
        if not isinstance(self._backend, BatchBackend):
            for data in states:
                yield self.render(data, specs, wanted)
            return
        times: deque[float] = deque()

        def noted() -> Iterator[mujoco.MjData]:
            for data in states:
                times.append(float(data.time))
                yield data

        for frames in self._backend.draw_each(noted(), [ideal_camera(spec) for spec in specs], wanted):
            time = times.popleft()
            yield {
                spec.name: finished({kind: getattr(frame, kind) for kind in wanted}, spec, time)
                for spec, frame in zip(specs, frames, strict=True)
            }

    def _checked(
        self, cameras: Sequence[CameraSpec | str], kinds: Iterable[str]
    ) -> tuple[list[CameraSpec], tuple[str, ...]]:
        """Return cameras and kinds, after checking that they exist and that camera names differ."""
        wanted = tuple(kinds)
        for kind in wanted:
            if kind not in KINDS:
                raise unknown_name("image kind", kind, KINDS)
        specs = [spec_of_mjcf_camera(self._model, c) if isinstance(c, str) else c for c in cameras]
        names = [spec.name for spec in specs]
        if len(set(names)) != len(names):
            raise InputError(f"camera names must differ, got {', '.join(names)}")
        return specs, wanted
