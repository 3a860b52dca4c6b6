"""``bench render``: every backend that works here on the same moving scene, in one run."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

import mujoco

from handloom.bench.render_scene import build_scene, front_camera, hand_camera, move
from handloom.bench.result import BenchResult
from handloom.render import Renderer, probe_backends
from handloom.values import CameraSpec

ALL_KINDS = ("rgb", "depth", "segmentation")
SIZES = ((128, 128), (224, 224), (256, 256), (640, 480))
# The best of this many slices counts: a neighbour on the machine disturbs some of them.
SLICES = 5
WORKERS = 2


@dataclass(frozen=True, kw_only=True)
class Contender:
    """One way to draw the scene."""

    name: str
    backend: str = "cpu"
    preset: str = "balanced"
    kinds: tuple[str, ...] = ALL_KINDS
    camera: Callable[[int, int], CameraSpec] = front_camera


OURS = (
    Contender(name="handloom cpu balanced"),
    Contender(name="handloom cpu fast", preset="fast"),
    Contender(name="handloom cpu quality", preset="quality"),
    Contender(name="handloom cpu rgb alone", kinds=("rgb",)),
    Contender(name="handloom cpu balanced, camera on the hand", camera=hand_camera),
    Contender(name="handloom cpu depth and masks", preset="fast", kinds=("depth", "segmentation")),
)


def run(*, seconds: float = 1.0) -> BenchResult:
    """Measure processor time per frame, all threads together, so that neighbours on the machine do not count.

    Args:
        seconds: How long each contender draws each size.
    """
    model, data = build_scene()
    rows = [_row(model, data, contender, seconds) for contender in (*OURS, *_others())]
    gl = next((row for row in rows if row["name"] == "gl balanced"), None)
    if gl is not None:
        rows.append({"name": "handloom cpu over gl", **{key: rows[0][key] / gl[key] for key in _keys()}})
    rows.append(_two_workers(seconds))
    rows += _growth(seconds)
    return BenchResult(bench="render", rows=tuple(rows))


def _others() -> list[Contender]:
    """Return the other backends that work on this machine, with and without labels."""
    works = [state.name for state in probe_backends() if state.works and state.name != "cpu"]
    with_labels = [Contender(name=f"{name} balanced", backend=name) for name in works]
    return with_labels + [Contender(name=f"{name} rgb alone", backend=name, kinds=("rgb",)) for name in works]


def _keys() -> list[str]:
    return [f"fps_per_core_{width}x{height}" for width, height in SIZES]


def _row(model: mujoco.MjModel, data: mujoco.MjData, contender: Contender, seconds: float) -> dict[str, Any]:
    """Return frames per second and core at every size."""
    row: dict[str, Any] = {"name": contender.name}
    for key, (width, height) in zip(_keys(), SIZES, strict=True):
        renderer = Renderer(model, contender.preset, backend=contender.backend)
        row[key] = _rate(model, data, renderer, contender.camera(width, height), contender.kinds, seconds)
    return row


def _rate(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    renderer: Renderer,
    camera: CameraSpec,
    kinds: Sequence[str],
    seconds: float,
) -> float:
    """Draw a moving scene for a while; return frames per second of processor time in the best slice."""
    renderer.render(data, [camera], kinds)
    best, frame = 0.0, 0
    for _ in range(SLICES):
        begin, count = time.process_time(), 0
        while count == 0 or time.process_time() < begin + seconds / SLICES:
            move(model, data, frame)
            renderer.render(data, [camera], kinds)
            frame += 1
            count += 1
        best = max(best, count / (time.process_time() - begin))
    return best


def _two_workers(seconds: float) -> dict[str, Any]:
    """Return what two processes draw together per second of wall time, as a run with two workers does."""
    row: dict[str, Any] = {"name": f"handloom cpu, {WORKERS} workers"}
    with get_context("spawn").Pool(WORKERS) as pool:
        for width, height in SIZES:
            rates = pool.starmap(_wall_rate, [(width, height, seconds)] * WORKERS, chunksize=1)
            row[f"fps_{width}x{height}"] = sum(rates)
    return row


def _wall_rate(width: int, height: int, seconds: float) -> float:
    """Return frames per second of wall time of one worker."""
    model, data = build_scene()
    renderer, camera = Renderer(model), front_camera(width, height)
    renderer.render(data, [camera], ALL_KINDS)
    begin, frame = time.perf_counter(), 0
    while time.perf_counter() < begin + seconds:
        move(model, data, frame)
        renderer.render(data, [camera], ALL_KINDS)
        frame += 1
    return frame / (time.perf_counter() - begin)


def _growth(seconds: float) -> list[dict[str, Any]]:
    """Return how the rate at 224 x 224 holds up with the number of geoms."""
    rows: list[dict[str, Any]] = []
    first = 0.0
    for objects in (10, 90, 170):
        model, data = build_scene(objects=objects)
        drawn = int(((model.geom_group < 3) & (model.geom_rgba[:, 3] > 0)).sum())
        rate = _rate(model, data, Renderer(model), front_camera(224, 224), ALL_KINDS, seconds)
        first = first or rate
        rows.append({"name": f"handloom cpu, {drawn} geoms", "fps_per_core_224x224": rate, "kept": rate / first})
    return rows
