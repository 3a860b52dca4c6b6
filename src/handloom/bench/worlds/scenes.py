"""``bench scenes``: sampling and building scenes of every task, their motion at rest, and reading many task files."""

import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from handloom.bench.result import BenchResult
from handloom.scene import Scene, build_scene
from handloom.tasks import Task, library, load_task, sample_task
from handloom.tasks.sampling.assets import small_categories

ROBOTS = {"fr3": "left", "franka_robotiq85": "left", "lift2": "right", "split_aloha": "left", "genie1": "right"}
"""Robot of the zoo > arm for which its skills are written."""
CAMERA = {"parent": "", "translation": [0.6, 0.6, 1.3], "orientation": [0.32, 0.21, 0.5, 0.77], "camera_axes": "usd"}


def write_task_files(folder: Path, count: int, *, seed: int = 0) -> list[Path]:
    """Write task files with one robot, two to six objects, cameras, clutter and a schedule, each slightly different."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for i, rng in enumerate(np.random.default_rng(seed).spawn(count)):
        file = folder / f"task_{i:04d}.yaml"
        file.write_text(yaml.safe_dump({"tasks": [_task(rng)]}, sort_keys=False), encoding="utf-8")
        files.append(file)
    return files


def crowded_task(count: int, *, seed: int = 0) -> dict[str, Any]:
    """Return a task of one robot and many different objects on a large table."""
    rng = np.random.default_rng(seed)
    task = _task(rng)
    categories = rng.choice(small_categories(), count, replace=False).tolist()
    area = [[-0.62, -0.1, 0.0], [0.62, 0.42, 0.0]]
    task["objects"] = [
        {"name": f"thing_{i}", "target_class": "RigidObject", "category": c, "apply_randomization": True}
        for i, c in enumerate(categories)
    ]
    task["regions"] = [task["regions"][0], *(_region(f"thing_{i}", area) for i in range(count))]
    task["skills"] = [{"robot": [{"left": [{"name": "home"}]}]}]
    task["robots"] = [{"name": "robot", "robot_config_file": "fr3", "euler": [0.0, 0.0, 90.0]}]
    task.pop("distractors", None)
    return task


def _task(rng: np.random.Generator) -> dict[str, Any]:
    robot = str(rng.choice(list(ROBOTS)))
    names = [f"object_{k}" for k in range(int(rng.integers(2, 7)))]
    area = [[-0.35, -0.1, 0.0], [0.35, 0.3, 0.0]]
    held, goal = names[0], names[1]
    task: dict[str, Any] = {
        "name": f"task_{rng.integers(1 << 30)}",
        "asset_root": "assets",
        "arena_file": "arenas/table.yaml",
        "env_map": {"apply_randomization": True, "intensity_range": [4000, 7000], "rotation_range": [0, 180]},
        "neglect_collision_names": ["table"],
        "robots": [{"name": "robot", "robot_config_file": robot, "euler": [0.0, 0.0, 90.0]}],
        "objects": [_object(rng, name) for name in names],
        "regions": [_region("robot", [[0.0, -0.5, 0.0], [0.0, -0.5, 0.0]]), *(_region(name, area) for name in names)],
        "cameras": [
            {**CAMERA, "name": f"robot_camera_{k}", "camera_file": "realsense_d455"}
            for k in range(int(rng.integers(1, 4)))
        ],
        "data": {
            "language_instruction": f"Put the {held} on the {goal}.",
            "max_episode_length": int(rng.integers(200, 900)),
        },
        "skills": [{"robot": [{ROBOTS[robot]: _skills(rng, held, goal)}]}],
    }
    if rng.random() < 0.5:
        task["distractors"] = {"target": "table", "min_num": 1, "max_num": 4, "pos_range": area}
    return task


def _object(rng: np.random.Generator, name: str) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": name,
        "target_class": "RigidObject",
        "category": str(rng.choice(small_categories())),
        "euler": [0.0, 0.0, float(rng.integers(0, 360))],
        "apply_randomization": bool(rng.random() < 0.5),
    }
    if rng.random() < 0.3:
        entry["orientation_mode"] = "suggested"
    return entry


def _region(name: str, pos_range: list[list[float]]) -> dict[str, Any]:
    ranges = {"pos_range": pos_range, "yaw_rotation": [0, 0] if name == "robot" else [-180, 180]}
    return {"object": name, "target": "table", "random_type": "A_on_B_region_sampler", "random_config": ranges}


def _skills(rng: np.random.Generator, held: str, goal: str) -> list[dict[str, Any]]:
    down = ["downward", int(rng.integers(120, 160))]
    return [
        {"name": "pick", "objects": [held], "filter_z_dir": down, "pre_grasp_offset": 0.05, "lift_th": 0.02},
        {"name": "place", "objects": [held, goal], "filter_z_dir": down, "success_mode": "xybbox"},
        {"name": "heuristic__skill", "mode": "home", "gripper_state": 1.0},
    ]


REST_SECONDS = 2.0
"""Time for which a scene is simulated."""
CROWD = 15
"""Number of objects in the generated scene."""


def run(*, episodes: int = 10, files: int = 1000, tasks: Sequence[str] = ()) -> BenchResult:
    """Measure in CPU time.

    Args:
        episodes: Number of scenes per task.
        files: Number of task files to read.
        tasks: Tasks to measure; if empty, the whole library.
    """
    with tempfile.TemporaryDirectory() as folder:
        crowd = Path(folder) / "crowd.yaml"
        crowd.write_text(yaml.safe_dump(crowded_task(CROWD)), encoding="utf-8")
        names = [*(tasks or library()), crowd]
        rows = [scene_row(load_task(name), episodes) for name in names]
        rows.append(_reading(Path(folder) / "many", files))
    return BenchResult(bench="scenes", rows=tuple(rows))


def scene_row(task: Task, episodes: int) -> dict[str, Any]:
    """Return times of sampling and building, and the worst overlap and drift over some episodes of one task."""
    sampling, building, overlap, drift = [], [], 0.0, 0.0
    for episode in range(episodes):
        begin = time.process_time()
        instance = sample_task(task, 0, episode)
        middle = time.process_time()
        scene = build_scene(instance)
        sampling.append(middle - begin)
        building.append(time.process_time() - middle)
        overlap = max(overlap, deepest_overlap(scene))
        drift = max(drift, *drifts(scene).values(), 0.0)
    return {
        "name": f"handloom {task.name}",
        "sample_ms": 1e3 * statistics.median(sampling),
        "build_ms": 1e3 * statistics.median(building),
        "deepest_overlap_mm": 1e3 * overlap,
        "drift_in_2_s_mm": 1e3 * drift,
        "episodes": episodes,
    }


def deepest_overlap(scene: Scene) -> float:
    """Return the largest overlap of two objects at the start of a scene [m]."""
    names = {obj.name for obj in scene.instance.objects}
    owners = [
        (contact.distance, {body.partition("/")[0] for body in (contact.body_a, contact.body_b)})
        for contact in scene.world.contacts()
    ]
    return max((-distance for distance, pair in owners if len(pair) == 2 and pair <= names), default=0.0)


def drifts(scene: Scene) -> dict[str, float]:
    """Simulate two seconds and return the largest motion of an object [m], except those that roll or lie on belts."""
    instance, world = scene.instance, scene.world
    moving = [
        obj.name for obj in instance.objects if not (obj.fixed or any(obj.rolling) or obj.name in _carried(scene))
    ]
    start = {name: scene.object_pose(name)[:3, 3] for name in moving}
    world.step(round(REST_SECONDS / instance.timestep))
    return {name: float(np.linalg.norm(scene.object_pose(name)[:3, 3] - start[name])) for name in moving}


def _carried(scene: Scene) -> set[str]:
    """Return the objects that touch a moving belt."""
    belts = {
        scene.world.geoms.label(g)
        for g in np.flatnonzero(np.abs(scene.world.model.geom_surfacevel).max(axis=1) > 0).tolist()
    }
    contacts = [c for c in scene.world.contacts() if c.geom_a in belts or c.geom_b in belts]
    return {body.partition("/")[0] for c in contacts for body in (c.body_a, c.body_b)}


def _reading(folder: Path, count: int) -> dict[str, Any]:
    paths = write_task_files(folder, count)
    begin = time.process_time()
    for path in paths:
        load_task(path)
    seconds = time.process_time() - begin
    return {"name": f"handloom check {count} files", "cpu_s": seconds, "cpu_ms_per_file": 1e3 * seconds / count}
