"""The backends: a literal table, and what works on this machine."""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import mujoco

from handloom.errors import unknown_name
from handloom.render.cpu.arrays import FrameArrays
from handloom.render.drivers import find_gl_platform, find_vulkan_device
from handloom.render.looks import Look
from handloom.values import CameraSpec

# Name > (module, class, module and function that give its presets, one line about it).
BACKENDS: dict[str, tuple[str, str, str, str]] = {
    "cpu": ("handloom.render.cpu.cpu_renderer", "CpuRenderer", "cpu_preset", "ray caster in Numba, needs no driver"),
    "filament": (
        "handloom.render.filament_renderer",
        "FilamentRenderer",
        "filament_preset",
        "MuJoCo's physically based renderer over Vulkan",
    ),
    "gl": ("handloom.render.gl_renderer", "GlRenderer", "gl_preset", "MuJoCo's classic OpenGL renderer"),
}

# Backends that draw looks; the others draw the geoms that collide.
DRAWS_LOOKS = frozenset({"cpu"})

# Renderers that were looked at and left out, and why; ``handloom doctor`` shows it.
LEFT_OUT: dict[str, str] = {
    "warp": "not offered: mujoco-warp only draws cameras compiled into the model; ours are placed when drawing",
}


class Backend(Protocol):
    """What a backend can do."""

    def place(self, data: mujoco.MjData) -> None:
        """Move the scene to where ``data`` has it."""
        ...

    def draw(self, data: mujoco.MjData, camera: CameraSpec, kinds: tuple[str, ...]) -> FrameArrays:
        """Draw the placed scene from one camera."""
        ...


@dataclass(frozen=True, kw_only=True)
class BackendState:
    """Whether a backend works here."""

    name: str
    works: bool
    reason: str
    """Why, in a few words."""


def make_backend(name: str, model: mujoco.MjModel, preset: str, looks: Sequence[Look] = ()) -> Backend:
    """Return a backend that draws a model; only our own draws looks."""
    if name not in BACKENDS:
        raise unknown_name("render backend", name, BACKENDS)
    module, class_name, presets, _ = BACKENDS[name]
    settings = getattr(importlib.import_module("handloom.render.preset"), presets)(preset)
    made = getattr(importlib.import_module(module), class_name)
    return made(model, settings, looks=looks) if name in DRAWS_LOOKS else made(model, settings)


def probe_backends() -> list[BackendState]:
    """Try every backend without risk to this process; the ray caster always works."""
    platform, driver = find_gl_platform(), find_vulkan_device()
    return [
        BackendState(name="cpu", works=True, reason=BACKENDS["cpu"][3]),
        BackendState(name="filament", works=driver.device is not None, reason=driver.reason),
        BackendState(name="gl", works=platform.name is not None, reason=platform.reason),
        *(BackendState(name=name, works=False, reason=reason) for name, reason in LEFT_OUT.items()),
    ]
