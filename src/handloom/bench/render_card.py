"""``bench render --backend cuda``: frames per second of a GPU and the CPU, and whether their images agree."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import mujoco
import numpy as np

from handloom.bench.all_cores import cores, on_all_cores
from handloom.bench.render import ALL_KINDS, build_scene, front_camera, hand_camera, move
from handloom.bench.result import BenchResult
from handloom.render import Renderer
from handloom.render.cuda.card import Card
from handloom.render.cuda.card_drawer import CardDrawer
from handloom.render.cuda.find_card import cupy_and_cards
from handloom.render.cuda.machine import Machine
from handloom.render.cuda.moment_reader import MomentReader
from handloom.render.cuda.moments import Moments
from handloom.render.preset import cpu_preset
from handloom.scene import Scene
from handloom.scene import build_scene as build_task_scene
from handloom.tasks import load_task, sample_task
from handloom.values import CameraSpec

SIZE = 224
FRAMES = 64
"""Different moments; they are rendered repeatedly until there are enough."""
BATCH = 2048
COMPARED = 8
"""Moments that are also rendered on the CPU."""
ROUNDS = 5
TASKS, SCENES = ("fr3_pick_place",), 16
"""A task, and the number of different scenes rendered at once."""
KITCHENS = ("kitchen_dish_rack", "kitchen_set_table", "kitchen_open_fridge", "kitchen_counter_to_shelf")
"""Tasks whose scenes are sampled kitchens."""
LEAST = 2.0
"""Minimum time for which all cores render [s]."""


def run(*, frames: int = BATCH, machine: Machine | None = None, size: int = SIZE) -> BenchResult:
    """Render the moving scene of ``bench render`` and scenes of a task, thousands of images at a time.

    Args:
        frames: Images per call.
        machine: The GPU; by default the first one.
        size: Width and height of the images [px].

    Raises:
        StateError: There is no GPU.
    """
    card = machine or Card(cupy_and_cards())
    name = getattr(card, "name", "stand-in")
    rows: list[dict[str, Any]] = []
    model, data = build_scene()
    cases: list[tuple[str, str, Callable[[int, int], CameraSpec]]] = [
        ("bench scene, balanced", "balanced", front_camera),
        ("bench scene, fast", "fast", front_camera),
        ("bench scene, quality", "quality", front_camera),
        ("bench scene, balanced, camera on the hand", "balanced", hand_camera),
    ]
    for what, preset, camera in cases:
        seen = camera(size, size)
        moments, error = _moving(model, data, seen, preset, card)
        rows.append({"name": f"{name}, {what}", **_rate(card, preset, [moments], frames), **error})
    for what, objects, meshes in (("170 objects", 170, False), ("20 meshes", 20, True)):
        moments, error = _moving(
            *build_scene(objects=objects, meshes=meshes), front_camera(size, size), "balanced", card
        )
        rows.append({"name": f"{name}, {what}, balanced", **_rate(card, "balanced", [moments], frames), **error})
    for what, tasks in ((f"{SCENES} scenes of {TASKS[0]}", TASKS), (f"{SCENES} kitchens", KITCHENS)):
        scenes = [_scene(tasks[k % len(tasks)], k) for k in range(SCENES)]
        row = {
            "name": f"{name}, {what}, balanced",
            **_rate(card, "balanced", [_moment(one, size) for one in scenes], frames),
        }
        if tasks is KITCHENS:
            row |= _agreement(card, scenes[0], size)
        reference = _all_cores(what, [_draws_scene(one, size) for one in scenes], size)
        row["times_all_cores"] = row["fps"] / reference["fps"]
        rows += [row, reference]
    rows.append(_all_cores("bench scene", [_draws_moving(model, data, size)], size))
    rows[0]["times_all_cores"] = rows[0]["fps"] / rows[-1]["fps"]
    rows.append(_processor(model, data, size))
    rows[0]["times_one_core"] = rows[0]["fps"] / rows[-1]["fps"]
    return BenchResult(bench="render", rows=tuple(rows))


def _moving(
    model: mujoco.MjModel, data: mujoco.MjData, camera: CameraSpec, preset: str, card: Machine
) -> tuple[Moments, dict[str, Any]]:
    """Return moments of the moving scene, and how well the first of them agree with the CPU's images."""
    reader, expected, reference = MomentReader(model, mirrors=cpu_preset(preset).mirrors), [], Renderer(model, preset)
    for frame in range(FRAMES):
        move(model, data, 7 * frame)
        reader.read(data, [camera])
        if frame < COMPARED:
            drawn = reference.render(data, [camera], ALL_KINDS)[camera.name]
            expected.append({kind: np.array(image) for kind, image in drawn.items()})
    moments = reader.take([camera])
    ((found,),) = CardDrawer(card, cpu_preset(preset)).draw_many([moments.part(0, COMPARED)], ALL_KINDS)
    ids, depths, colors = (np.stack([one[kind] for one in expected]) for kind in ("segmentation", "depth", "rgb"))
    same = found.segmentation == ids
    both = same & np.isfinite(depths)
    return moments, {
        "ids_equal_percent": 100.0 * float(same.mean()),
        "depth_error_mm": 1000.0 * float(np.abs(found.depth[both].astype(float) - depths[both]).max(initial=0.0)),
        "mean_color_error": float(np.abs(found.rgb.astype(float) - colors).mean()),
    }


def _repeated(moments: Moments, count: int) -> Moments:
    """Return this many moments, taken in turn."""
    each = np.arange(count) % len(moments.poses)
    return moments._replace(
        poses=moments.poses[each], lights=moments.lights[each], beads=moments.beads[each], rows=moments.rows[each]
    )


def _rate(card: Machine, preset: str, moments: list[Moments], frames: int) -> dict[str, Any]:
    """Return images per second with all labels, including the copy to host arrays, in the best of some rounds."""
    cameras = sum(len(one.sizes) for one in moments)
    many = [_repeated(one, max(frames // cameras, 1)) for one in moments]
    count = sum(len(one.poses) * len(one.sizes) for one in many)
    pixels = sum(len(one.poses) * int(one.sizes.prod(axis=1).sum()) for one in many)
    drawer = CardDrawer(card, cpu_preset(preset))
    out = drawer.draw_many(many, ALL_KINDS)
    best = np.inf
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        drawer.draw_many(many, ALL_KINDS, out=out)
        best = min(best, time.perf_counter() - begin)
    return {"fps": count / best, "gigapixels_per_s": pixels / best / 1e9}


def _scene(task: str, episode: int) -> Scene:
    """Return one scene of a task."""
    scene = build_task_scene(sample_task(load_task(task), 0, episode))
    mujoco.mj_forward(scene.world.model, scene.world.data)
    return scene


def _cameras(scene: Scene, size: int) -> list[CameraSpec]:
    """Return the cameras of a scene with square images."""
    return [camera.resized(size, size) for camera in scene.instance.cameras]


def _moment(scene: Scene, size: int) -> Moments:
    """Return a moment of a scene with all its cameras."""
    reader, cameras = MomentReader(scene.world.model, mirrors=True, looks=scene.looks), _cameras(scene, size)
    reader.read(scene.world.data, cameras)
    return reader.take(cameras)


def _agreement(card: Machine, scene: Scene, size: int) -> dict[str, Any]:
    """Return how well the GPU's images of a scene agree with the CPU's."""
    cameras, renderer = _cameras(scene, size), Renderer(scene.world.model, "balanced", looks=scene.looks)
    expected = renderer.render(scene.world.data, cameras, ALL_KINDS)
    (drawn,) = CardDrawer(card, cpu_preset("balanced")).draw_many([_moment(scene, size)], ALL_KINDS)
    equal, apart, colors = [], [0.0], []
    for camera, found in zip(cameras, drawn, strict=True):
        seen = expected[camera.name]
        same = found.segmentation[0] == seen["segmentation"]
        both = same & np.isfinite(seen["depth"])
        equal.append(float(same.mean()))
        apart.append(float(np.abs(found.depth[0][both].astype(float) - seen["depth"][both]).max(initial=0.0)))
        colors.append(float(np.abs(found.rgb[0].astype(float) - seen["rgb"]).mean()))
    return {
        "ids_equal_percent": 100.0 * float(np.mean(equal)),
        "depth_error_mm": 1000.0 * max(apart),
        "mean_color_error": float(np.mean(colors)),
    }


Draws = Callable[[int], int]
"""Renders moment ``k`` and returns the number of images."""


def _draws_scene(scene: Scene, size: int) -> Draws:
    """Return a function that renders a scene with all its cameras on the CPU while the arm moves.

    The CPU renderer would not render a static scene again.
    """
    renderer, cameras = Renderer(scene.world.model, looks=scene.looks), _cameras(scene, size)
    arm = scene.robot(next(iter(scene.robots))).arms[0].qpos_index

    def draw(moment: int) -> int:
        scene.world.data.qpos[arm] += 0.02 * np.cos(0.5 * moment)
        scene.world.forward()
        renderer.render(scene.world.data, cameras, ALL_KINDS)
        return len(cameras)

    return draw


def _draws_moving(model: mujoco.MjModel, data: mujoco.MjData, size: int) -> Draws:
    """Return a function that renders the moving scene on the CPU."""
    renderer, camera = Renderer(model), front_camera(size, size)

    def draw(moment: int) -> int:
        move(model, data, 7 * moment)
        renderer.render(data, [camera], ALL_KINDS)
        return 1

    return draw


def _all_cores(what: str, scenes: Sequence[Draws], size: int) -> dict[str, Any]:
    """Return images per second with one process per core and all labels."""
    for draw in scenes:
        draw(0)

    def one(process: int) -> int:
        begin, drawn, k = time.perf_counter(), 0, process
        while time.perf_counter() < begin + LEAST:
            drawn, k = drawn + scenes[k % len(scenes)](k), k + 1
        return drawn

    drawn, seconds = on_all_cores(one, range(cores()))
    fps = sum(drawn) / seconds
    name = f"processor, {cores()} processes, {what}, balanced"
    return {"name": name, "fps": fps, "gigapixels_per_s": fps * size**2 / 1e9}


def _processor(model: mujoco.MjModel, data: mujoco.MjData, size: int) -> dict[str, Any]:
    """Return images per second of one core of this machine."""
    renderer, camera = Renderer(model), front_camera(size, size)
    renderer.render(data, [camera], ALL_KINDS)
    begin = time.process_time()
    for frame in range(FRAMES):
        move(model, data, 7 * frame)
        renderer.render(data, [camera], ALL_KINDS)
    fps = FRAMES / (time.process_time() - begin)
    return {"name": "processor, one core, bench scene, balanced", "fps": fps, "gigapixels_per_s": fps * size**2 / 1e9}
