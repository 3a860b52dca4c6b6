"""``bench render``: the ray caster beside the classic renderer on the same moving scene, in one run."""

import time
from typing import Any

import mujoco

from handloom.bench.render_scene import build_scene, front_camera, move
from handloom.bench.result import BenchResult
from handloom.render import Renderer, probe_backends

ALL_KINDS = ("rgb", "depth", "segmentation")
SIZES = ((128, 128), (224, 224), (256, 256), (640, 480))


def run(*, seconds: float = 1.0) -> BenchResult:
    """Measure processor time per frame, all threads together, so that neighbours on the machine do not count.

    Args:
        seconds: How long each contender draws each size.
    """
    model, data = build_scene()
    contenders = [
        ("handloom cpu balanced", "cpu", "balanced", ALL_KINDS),
        ("handloom cpu fast", "cpu", "fast", ALL_KINDS),
        ("handloom cpu quality", "cpu", "quality", ALL_KINDS),
        ("handloom cpu rgb alone", "cpu", "balanced", ("rgb",)),
        ("handloom cpu depth and masks", "cpu", "fast", ("depth", "segmentation")),
    ]
    if any(state.name == "gl" and state.works for state in probe_backends()):
        contenders.append(("classic gl, shadows", "gl", "balanced", ALL_KINDS))
    rows = [_row(model, data, name, backend, preset, kinds, seconds) for name, backend, preset, kinds in contenders]
    rows += _growth(seconds)
    return BenchResult(bench="render", rows=tuple(rows))


def _row(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    name: str,
    backend: str,
    preset: str,
    kinds: tuple[str, ...],
    seconds: float,
) -> dict[str, Any]:
    """Return frames per second and core at every size."""
    row: dict[str, Any] = {"name": name}
    for width, height in SIZES:
        renderer = Renderer(model, preset, backend=backend)
        row[f"fps_per_core_{width}x{height}"] = _rate(model, data, renderer, width, height, kinds, seconds)
    return row


def _rate(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    renderer: Renderer,
    width: int,
    height: int,
    kinds: tuple[str, ...],
    seconds: float,
) -> float:
    """Draw a moving scene for a while; return frames per second of processor time, best fifth of the time."""
    camera = front_camera(width, height)
    renderer.render(data, [camera], kinds)
    best, frame, end = 0.0, 0, time.process_time() + seconds
    while time.process_time() < end:
        begin, count = time.process_time(), 0
        while time.process_time() < begin + seconds / 5:
            move(model, data, frame)
            renderer.render(data, [camera], kinds)
            frame += 1
            count += 1
        best = max(best, count / (time.process_time() - begin))
    return best


def _growth(seconds: float) -> list[dict[str, Any]]:
    """Return how the rate at 224 x 224 holds up with the number of geoms."""
    rows: list[dict[str, Any]] = []
    first = 0.0
    for objects in (10, 90, 170):
        model, data = build_scene(objects=objects)
        drawn = int(((model.geom_group < 3) & (model.geom_rgba[:, 3] > 0)).sum())
        rate = _rate(model, data, Renderer(model), 224, 224, ALL_KINDS, seconds)
        first = first or rate
        rows.append({"name": f"handloom cpu, {drawn} geoms", "fps_per_core_224x224": rate, "kept": rate / first})
    return rows
