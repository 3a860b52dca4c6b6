"""``bench render``: all backends that work here, on the same moving scene, in one run."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.bench.result import BenchResult
from handloom.engine.attempt import Stopwatch, simulate
from handloom.episode.columns import rendered_frames
from handloom.render import Renderer, probe_backends
from handloom.render.textures import add_texture, texture
from handloom.robots import load_robot
from handloom.tasks import load_task
from handloom.values import CameraSpec

GEOM = mujoco.mjtGeom
# Kind, size [m] and colour of the objects on the table.
OBJECTS = (
    (GEOM.mjGEOM_BOX, (0.03, 0.03, 0.03), (0.80, 0.15, 0.12)),
    (GEOM.mjGEOM_BOX, (0.05, 0.025, 0.02), (0.15, 0.35, 0.75)),
    (GEOM.mjGEOM_SPHERE, (0.035, 0, 0), (0.95, 0.55, 0.10)),
    (GEOM.mjGEOM_CYLINDER, (0.03, 0.05, 0), (0.20, 0.60, 0.25)),
    (GEOM.mjGEOM_CAPSULE, (0.022, 0.05, 0), (0.70, 0.20, 0.55)),
    (GEOM.mjGEOM_ELLIPSOID, (0.05, 0.03, 0.025), (0.90, 0.80, 0.20)),
    (GEOM.mjGEOM_CYLINDER, (0.045, 0.012, 0), (0.85, 0.85, 0.80)),
    (GEOM.mjGEOM_BOX, (0.02, 0.02, 0.07), (0.30, 0.70, 0.75)),
    (GEOM.mjGEOM_ELLIPSOID, (0.03, 0.03, 0.04), (0.55, 0.35, 0.20)),
    (GEOM.mjGEOM_CYLINDER, (0.02, 0.03, 0), (0.50, 0.52, 0.55)),
)
TABLE_TOP = 0.0
MESH_GRID = (50, 100)
"""Rows and columns of a mesh's surface: two triangles each, 10,000 in all."""
DENT = 0.15
"""Depth of a mesh's dents, as a fraction of its size."""
MESHES = 20
HOME = (0.0, 0.05, 0.0, -2.2, 0.0, 2.3, 0.78)


def build_scene(*, objects: int = 10, meshes: bool = False) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Return the scene with the arm at home and ``objects`` of the ten kinds in turn, on a grid that covers the table.

    Args:
        objects: Number of objects.
        meshes: Make each a textured mesh of 10,000 triangles with the outline of its kind,
            no two alike.
    """
    spec = load_robot("fr3").spec()
    rng = np.random.default_rng(0)
    spec.visual.headlight.ambient = [0.36, 0.36, 0.36]
    spec.visual.headlight.diffuse = [0.12, 0.12, 0.12]
    spec.visual.headlight.specular = [0.0, 0.0, 0.0]
    spec.visual.map.znear, spec.visual.map.zfar = 0.005, 20.0
    spec.stat.extent, spec.stat.center = 2.0, [0.4, 0.0, 0.1]
    light = spec.worldbody.add_light(pos=[1.3, -0.9, 2.3], dir=[-0.4, 0.35, -0.85], diffuse=[0.72, 0.69, 0.64])
    light.type, light.cutoff, light.castshadow = mujoco.mjtLightType.mjLIGHT_SPOT, 65, True
    materials = {
        name: add_texture(spec, f"bench_{name}", texture(name, rng), repeat=(repeat, repeat))
        for name, repeat in (("wood", 1.3), ("plaster", 0.8), ("stone", 0.7))
    }
    world = spec.worldbody
    world.add_geom(type=GEOM.mjGEOM_PLANE, size=[0, 0, 1], pos=[0, 0, -0.75], material=materials["stone"])
    walls = (([-0.9, 0.0, 0.5], [0.5, 0.5, 0.5, 0.5]), ([0.0, 1.2, 0.5], [0.7071, 0.7071, 0.0, 0.0]))
    for position, quat in walls:
        world.add_geom(type=GEOM.mjGEOM_PLANE, size=[4, 4, 1], pos=position, quat=quat, material=materials["plaster"])
    world.add_geom(type=GEOM.mjGEOM_BOX, size=[0.65, 0.5, 0.02], pos=[0.35, 0, -0.02], material=materials["wood"])
    for x in (-0.25, 0.95):
        for y in (-0.45, 0.45):
            world.add_geom(type=GEOM.mjGEOM_CYLINDER, size=[0.03, 0.35, 0], pos=[x, y, -0.39], rgba=[0.3, 0.3, 0.3, 1])
    _scatter(spec, objects, rng, meshes=meshes)
    model = spec.compile()
    data = mujoco.MjData(model)
    move(model, data, 0)
    return model, data


def _scatter(spec: mujoco.MjSpec, count: int, rng: np.random.Generator, *, meshes: bool) -> None:
    """Put objects on a grid over the table, scaled down if there are many."""
    columns = int(np.ceil(np.sqrt(count)))
    scale = min(1.0, 4.0 / columns)
    for k in range(count):
        kind, size, color = OBJECTS[k % len(OBJECTS)]
        half = np.array(size) * scale
        height = half[1] if kind == GEOM.mjGEOM_CYLINDER else half[2] if half[2] > 0 else half[0]
        x = 0.30 + 0.60 * (k // columns + 0.5) / columns
        y = -0.42 + 0.84 * (k % columns + 0.5) / columns
        turn = rng.uniform(0, np.pi)
        quat = [np.cos(turn / 2), 0, 0, np.sin(turn / 2)]
        if kind == GEOM.mjGEOM_CAPSULE:
            quat = [0.7071, 0.7071 * np.cos(turn), 0.7071 * np.sin(turn), 0.0]
        pose = {"pos": [x, y, TABLE_TOP + height], "quat": quat}
        if meshes:
            material = _add_mesh(spec, f"bench_mesh_{k}", kind, half, np.random.default_rng([1, k]))
            spec.worldbody.add_geom(type=GEOM.mjGEOM_MESH, meshname=f"bench_mesh_{k}", material=material, **pose)
        else:
            spec.worldbody.add_geom(type=kind, size=half, rgba=[*color, 1.0], **pose)


def _add_mesh(
    spec: mujoco.MjSpec, name: str, kind: mujoco.mjtGeom, size: NDArray[np.float64], rng: np.random.Generator
) -> str:
    """Add a mesh with the outline of a primitive and a dented surface; return the name of its textured material."""
    rows, columns = MESH_GRID
    polar, around = np.meshgrid(np.linspace(0, np.pi, rows + 1), np.linspace(0, 2 * np.pi, columns + 1), indexing="ij")
    ring = np.stack([np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), np.cos(polar)], axis=-1)
    half = np.array(size)
    if kind in (GEOM.mjGEOM_SPHERE, GEOM.mjGEOM_CYLINDER, GEOM.mjGEOM_CAPSULE):
        half = np.array([size[0], size[0], size[0] if kind == GEOM.mjGEOM_SPHERE else size[1]])
    if kind in (GEOM.mjGEOM_BOX, GEOM.mjGEOM_CYLINDER, GEOM.mjGEOM_CAPSULE):
        flat = np.abs(ring) if kind == GEOM.mjGEOM_BOX else np.abs(ring[..., 2:])
        side = 0.0 if kind == GEOM.mjGEOM_BOX else np.hypot(ring[..., 0], ring[..., 1])
        ring = ring / np.maximum(flat.max(axis=-1), side)[..., None]
    waves = rng.integers(3, 9, 2)
    dents = 1 - DENT * (0.5 + 0.5 * np.sin(waves[0] * polar + rng.uniform(0, 6)) * np.cos(waves[1] * around))
    spec.add_mesh(
        name=name,
        uservert=(ring * dents[..., None] * half).reshape(-1),
        userface=_grid_faces(rows, columns).reshape(-1),
        usertexcoord=np.stack([around / (2 * np.pi), polar / np.pi], axis=-1).reshape(-1),
    )
    return add_texture(spec, name, texture("wood", rng), per_metre=False)


def _grid_faces(rows: int, columns: int) -> NDArray[np.int32]:
    """Return the triangles (2 rows columns, 3) of a grid of rows + 1 times columns + 1 vertices."""
    corner = np.arange(rows)[:, None] * (columns + 1) + np.arange(columns)
    below = corner + columns + 1
    halves = (corner, below, below + 1), (corner, below + 1, corner + 1)
    return np.concatenate([np.stack(half, axis=-1).reshape(-1, 3) for half in halves]).astype(np.int32)


def move(model: mujoco.MjModel, data: mujoco.MjData, frame: int) -> None:
    """Set the arm to a frame of a smooth motion."""
    data.qpos[:7] = np.array(HOME) + 0.25 * np.sin(0.05 * frame + np.arange(7))
    mujoco.mj_kinematics(model, data)
    mujoco.mj_camlight(model, data)


def front_camera(width: int, height: int) -> CameraSpec:
    """Return a camera that sees the table and the arm from the front."""
    focal = height / 2 / np.tan(np.deg2rad(48) / 2)
    return CameraSpec.looking_at(
        "front", (0.3, 0.0, 0.12), eye=(1.5, -0.85, 0.8), width=width, height=height, focal=focal
    )


def hand_camera(width: int, height: int) -> CameraSpec:
    """Return a camera on the hand that looks past the fingers, so that no pixel's ray is the same in two images."""
    focal = height / 2 / np.tan(np.deg2rad(43) / 2)
    mount = {"parent": "fr3_hand", "position": (0.085, 0.0, -0.02), "quat": (-0.6903, 0.1531, 0.1531, -0.6903)}
    return CameraSpec.centred("hand", width, height, focal, **mount)


ALL_KINDS = ("rgb", "depth", "segmentation")
SIZES = ((128, 128), (224, 224), (256, 256), (640, 480))
# The best of this many slices counts, because other load disturbs some of them.
SLICES = 5
WORKERS = 2


@dataclass(frozen=True, kw_only=True)
class Contender:
    """One configuration of a renderer."""

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


def run(*, seconds: float = 1.0, backend: str = "cpu") -> BenchResult:
    """Measure CPU time per frame over all threads, so that other load on the machine does not count.

    Args:
        seconds: Time for which each contender renders each size.
        backend: ``cuda`` measures a GPU instead, with thousands of images at a time.
    """
    if backend == "cuda":
        from handloom.bench.render_card import run as run_card

        return run_card()
    model, data = build_scene()
    rows = [_row(model, data, contender, seconds) for contender in (*OURS, *_others())]
    gl = next((row for row in rows if row["name"] == "gl balanced"), None)
    if gl is not None:
        rows.append({"name": "handloom cpu over gl", **{key: rows[0][key] / gl[key] for key in _keys()}})
    rows.append(_two_workers(seconds))
    rows += _growth(seconds)
    rows += _meshes(seconds)
    rows += _pouring()
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
    """Render a moving scene for a while; return frames per second of CPU time in the best slice."""
    return _rates([(model, data, renderer)], camera, kinds, seconds)[0]


def _rates(
    scenes: Sequence[tuple[mujoco.MjModel, mujoco.MjData, Renderer]],
    camera: CameraSpec,
    kinds: Sequence[str],
    seconds: float,
) -> list[float]:
    """Render the same frames of moving scenes in turn, so that other load affects all equally; see ``_rate``."""
    best, frame = [0.0] * len(scenes), 0
    for _, data, renderer in scenes:
        renderer.render(data, [camera], kinds)
    for _ in range(SLICES):
        count = 0
        for k, (model, data, renderer) in enumerate(scenes):
            begin, drawn = time.process_time(), 0
            while drawn < max(count, 1) or (k == 0 and time.process_time() < begin + seconds / SLICES):
                move(model, data, frame + drawn)
                renderer.render(data, [camera], kinds)
                drawn += 1
            best[k] = max(best[k], drawn / (time.process_time() - begin))
            count = drawn
        frame += count
    return best


def _two_workers(seconds: float) -> dict[str, Any]:
    """Return the frames that two processes together render per second of wall time, as in a run with two workers."""
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


def _pouring(task: str = "fr3_pour_cup_bowl") -> list[dict[str, Any]]:
    """Return the CPU time of a second of pouring, per preset: planning, physics and all images.

    Physics is that of robot and grains, replayed; planning is the rest of an attempt, from sampling to judging.
    """
    loaded, cpu_time = load_task(task), time.process_time
    simulate(loaded, 0, 0, Stopwatch())  # Loads kernels and assets.
    begin = cpu_time()
    scene, record = simulate(loaded, 0, 0, Stopwatch())
    whole = cpu_time() - begin
    world, inputs = scene.world, mujoco.mjtState.mjSTATE_USER
    seconds = len(record.applied) / record.instance.fps
    world.restore_state(record.states[0])
    begin = cpu_time()
    for row in record.applied:
        mujoco.mj_setState(world.model, world.data, np.ascontiguousarray(row), inputs)
        world.step(record.instance.substeps)
    physics = (cpu_time() - begin) / seconds
    planning = whole / seconds - physics
    grains = scene.grains.count if scene.grains is not None else 0
    rows: list[dict[str, Any]] = []
    for preset in ("balanced", "fast"):
        begin = cpu_time()
        frames = sum(1 for _ in rendered_frames(scene, record, preset=preset))
        pictures = (cpu_time() - begin) * record.instance.fps / frames
        rows.append(
            {
                "name": f"handloom {task}, {grains} grains, {len(record.instance.cameras)} cameras, {preset}",
                "planning_cpu_s_per_s": planning,
                "physics_cpu_s_per_s": physics,
                "pictures_cpu_s_per_s": pictures,
                "realtime_factor": 1.0 / (physics + pictures),
                "realtime_factor_with_planning": 1.0 / (planning + physics + pictures),
            }
        )
    return rows


def _growth(seconds: float) -> list[dict[str, Any]]:
    """Return the rate at 224 x 224 for several numbers of geoms."""
    rows: list[dict[str, Any]] = []
    first = 0.0
    for objects in (10, 90, 170):
        model, data = build_scene(objects=objects)
        drawn = int(((model.geom_group < 3) & (model.geom_rgba[:, 3] > 0)).sum())
        rate = _rate(model, data, Renderer(model), front_camera(224, 224), ALL_KINDS, seconds)
        first = first or rate
        rows.append({"name": f"handloom cpu, {drawn} geoms", "fps_per_core_224x224": rate, "kept": rate / first})
    return rows


def _meshes(seconds: float) -> list[dict[str, Any]]:
    """Return the rates with primitives and with textured meshes of the same outlines, and their ratio."""
    kinds = ("primitives", "textured meshes of 10,000 triangles")
    scenes = [build_scene(objects=MESHES, meshes=meshes) for meshes in (False, True)]
    rows: list[dict[str, Any]] = [{"name": f"handloom cpu, {MESHES} {kind}"} for kind in kinds]
    kept: dict[str, Any] = {"name": "handloom cpu, rate of meshes in percent of that of primitives"}
    for key, (width, height) in zip(_keys(), SIZES, strict=True):
        drawn = [(model, data, Renderer(model)) for model, data in scenes]
        rates = _rates(drawn, front_camera(width, height), ALL_KINDS, seconds)
        for row, rate in zip(rows, rates, strict=True):
            row[key] = rate
        kept[f"percent_{width}x{height}"] = 100 * rates[1] / rates[0]
    return [*rows, kept]
