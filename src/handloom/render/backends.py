"""The render backends: a literal table, a test of this machine, and the process that renders for a whole run."""

import importlib
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import mujoco

from handloom.errors import unknown_name
from handloom.render.cpu.arrays import FrameArrays
from handloom.render.cuda.find_card import find_cards
from handloom.render.drivers import find_gl_platform, find_vulkan_device
from handloom.render.looks import Look
from handloom.values import CameraSpec

# Name > (module, class, module and function of its presets, one-line description).
BACKENDS: dict[str, tuple[str, str, str, str]] = {
    "cpu": ("handloom.render.cpu.cpu_renderer", "CpuRenderer", "cpu_preset", "ray caster in Numba, needs no driver"),
    "cuda": (
        "handloom.render.cuda.cuda_renderer",
        "CudaRenderer",
        "cpu_preset",
        "the ray caster on NVIDIA GPUs, bit-identical to the CPU (extra gpu)",
    ),
    "filament": (
        "handloom.render.filament_renderer",
        "FilamentRenderer",
        "filament_preset",
        "MuJoCo's physically based renderer over Vulkan",
    ),
    "gl": ("handloom.render.gl_renderer", "GlRenderer", "gl_preset", "MuJoCo's classic OpenGL renderer"),
}

# Backends that render looks; the others render the collision geoms.
DRAWS_LOOKS = frozenset({"cpu", "cuda"})

# Renderers that were evaluated and left out, with the reason; ``handloom doctor`` shows it.
LEFT_OUT: dict[str, str] = {
    "warp": "not offered: mujoco-warp only renders cameras compiled into the model; ours are placed at render time",
}


class Backend(Protocol):
    """Interface of a backend."""

    def place(self, data: mujoco.MjData) -> None:
        """Update the scene to the poses in ``data``."""
        ...

    def draw(self, data: mujoco.MjData, camera: CameraSpec, kinds: tuple[str, ...]) -> FrameArrays:
        """Render the placed scene from one camera."""
        ...


@runtime_checkable
class BatchBackend(Backend, Protocol):
    """A backend that renders many states at a time."""

    @property
    def card(self) -> str:
        """What draws."""
        ...

    def draw_each(
        self, states: Iterable[mujoco.MjData], cameras: Sequence[CameraSpec], kinds: Iterable[str]
    ) -> Iterator[list[FrameArrays]]:
        """Render states as they arrive; yield one set of images per camera for each state."""
        ...


@dataclass(frozen=True, kw_only=True)
class BackendState:
    """Whether a backend works here."""

    name: str
    works: bool
    reason: str
    """The reason, in a few words."""


def make_backend(name: str, model: mujoco.MjModel, preset: str, looks: Sequence[Look] = ()) -> Backend:
    """Return a backend that renders a model; only our own backends render looks."""
    if name not in BACKENDS:
        raise unknown_name("render backend", name, BACKENDS)
    module, class_name, presets, _ = BACKENDS[name]
    settings = getattr(importlib.import_module("handloom.render.preset"), presets)(preset)
    made = getattr(importlib.import_module(module), class_name)
    return made(model, settings, looks=looks) if name in DRAWS_LOOKS else made(model, settings)


def probe_backends() -> list[BackendState]:
    """Test every backend without risk to this process; the ray caster always works."""
    platform, driver, cards = find_gl_platform(), find_vulkan_device(), find_cards()
    return [
        BackendState(name="cpu", works=True, reason=BACKENDS["cpu"][3]),
        BackendState(name="cuda", works=bool(cards.names), reason=cards.reason),
        BackendState(name="filament", works=driver.device is not None, reason=driver.reason),
        BackendState(name="gl", works=platform.name is not None, reason=platform.reason),
        *(BackendState(name=name, works=False, reason=reason) for name, reason in LEFT_OUT.items()),
    ]


BACKEND = "HANDLOOM_BACKEND"
"""Variable with the backend that renders the images for policies in this run; the images do not depend on it."""


@contextmanager
def drawing_for(backend: str, *, workers: int) -> Iterator[None]:
    """Render a run's images with a backend for the duration of a ``with`` block.

    Args:
        backend: ``cpu`` or ``cuda``.
        workers: Number of worker processes of this machine that render; 0 if this process or other machines render.

    Raises:
        MissingExtraError: A package of the backend is not installed.
        StateError: There is no GPU.
    """
    if backend == "cpu":
        yield
        return
    from handloom.render.cuda.drawing_process import drawing_processes
    from handloom.render.cuda.find_card import cupy_and_cards

    before = os.environ.get(BACKEND)
    os.environ[BACKEND] = backend
    try:
        if workers:
            with drawing_processes():
                yield
        else:
            cupy_and_cards()
            yield
    finally:
        if before is None:
            del os.environ[BACKEND]
        else:
            os.environ[BACKEND] = before


def run_backend() -> str:
    """Return the backend that renders the images for a policy in this process."""
    return os.environ.get(BACKEND, "cpu")
