"""``bench scenes``: sampling and building scenes of every task, how well they rest, and reading many task files."""

import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from handloom.bench.result import BenchResult
from handloom.bench.task_files import crowded_task, write_task_files
from handloom.scene import Scene, build_scene
from handloom.tasks import Task, library, load_task, sample_task

REST_SECONDS = 2.0
"""How long a scene is watched."""
CROWD = 15
"""Objects of the generated scene."""


def run(*, episodes: int = 10, files: int = 1000, tasks: Sequence[str] = ()) -> BenchResult:
    """Measure in processor time.

    Args:
        episodes: Scenes of every task.
        files: Task files to read.
        tasks: Tasks to measure; all of the library when empty.
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
    """Return how deep [m] two objects of a scene are in each other at its start."""
    names = {obj.name for obj in scene.instance.objects}
    owners = [
        (contact.distance, {body.partition("/")[0] for body in (contact.body_a, contact.body_b)})
        for contact in scene.world.contacts()
    ]
    return max((-distance for distance, pair in owners if len(pair) == 2 and pair <= names), default=0.0)


def drifts(scene: Scene) -> dict[str, float]:
    """Run physics for two seconds and return how far [m] each movable object went; what lies on a belt is left out."""
    instance, world = scene.instance, scene.world
    moving = [obj.name for obj in instance.objects if not obj.fixed and obj.name not in _carried(scene)]
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
