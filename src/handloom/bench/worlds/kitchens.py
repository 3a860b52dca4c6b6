"""Sampled kitchens: whether furniture fits and opens, motion at rest, and the cost of building and rendering."""

import time
from collections.abc import Sequence
from statistics import median
from typing import Any

import numpy as np

from handloom.bench.result import BenchResult
from handloom.errors import InputError
from handloom.render import Renderer
from handloom.scene.build import build_scene
from handloom.scene.scene import Scene
from handloom.tasks import Task, load_task, sample_task
from handloom.tasks.rooms.room_check import RoomCheck
from handloom.values import CameraSpec, TaskInstance

TASK = "kitchen_dish_rack"
"""A task of the library whose kitchens are sampled: any layout, any style."""
STILL = 0.01
"""Speed [m/s or rad/s] below which everything counts as at rest after a second."""
DRAWN = 4
"""Number of kitchens whose images are timed."""
SIDE = 224
"""Width and height of an image [px]."""
PRESETS = ("fast", "balanced")
VIEWS = (("right", (0.8, -0.9, 1.6), (0.0, 0.2, 0.9)), ("left", (-0.7, -1.0, 1.5), (0.3, 0.3, 0.9)))
"""Name of a camera, its position and the point it looks at [m]."""


def run(names: Sequence[str] = (), seeds: int = 200, seed: int = 11) -> BenchResult:
    """Sample cluttered kitchens and measure each of them.

    Args:
        names: Presets of the renderer to time; none means fast and balanced.
        seeds: Number of kitchens.
        seed: Seed of the run.
    """
    if seeds < 1:
        raise InputError(f"at least 1 kitchen is needed, got {seeds}")
    task = load_task(TASK, overrides=["room.clutter=much", "data.variant=clean"])
    build_scene(sample_task(task, seed, seeds))  # Data read and compiled once for all kitchens.
    looked = [_looked_at(task, seed, episode) for episode in range(seeds)]
    row: dict[str, Any] = {
        "name": "handloom kitchens",
        "kitchens": seeds,
        "layouts": len({each["layout"] for each in looked}),
        "styles": len({each["style"] for each in looked}),
        "objects_median": median(each["objects"] for each in looked),
        "overlapping": sum(each["overlapping"] for each in looked),
        "blocked_joints": sum(each["blocked"] for each in looked),
        "restless": sum(each["restless"] for each in looked),
        "replayed": sum(each["replayed"] for each in looked) / seeds,
        "built_median_s": median(each["seconds"] for each in looked),
        "built_worst_s": max(each["seconds"] for each in looked),
    }
    return BenchResult(bench="kitchens", rows=(row, *(_drawn(task, seed, preset) for preset in names or PRESETS)))


def _looked_at(task: Task, seed: int, episode: int) -> dict[str, Any]:
    start = time.process_time()
    instance = sample_task(task, seed, episode)
    scene = build_scene(instance)
    seconds = time.process_time() - start
    own = {entry.name for entry in task.config.objects}
    furniture = [obj for obj in instance.objects if obj.solid and obj.name not in own]
    check = RoomCheck(furniture, resting=[obj.name for obj in furniture if obj.name.startswith("clutter_")])
    return {
        "layout": instance.room["layout"],
        "style": instance.room["style"],
        "objects": len(instance.objects),
        "overlapping": len(check.overlaps()),
        "blocked": len(check.blocked()),
        "replayed": _replays(instance, scene),
        "restless": _restless(scene),
        "seconds": seconds,
    }


def _replays(instance: TaskInstance, scene: Scene) -> bool:
    """Return whether the serialized instance builds the same world with the same motion."""
    again = build_scene(TaskInstance.from_json(instance.to_json()))
    scene.world.step(50)
    again.world.step(50)
    return bool(np.array_equal(scene.world.data.qpos, again.world.data.qpos))


def _restless(scene: Scene) -> bool:
    """Return whether anything but the robot still moves after a second."""
    world = scene.world
    robots = tuple(f"{name}/" for name in scene.robots)
    world.step(round(1.0 / world.model.opt.timestep))
    dofs = [d for d in range(world.model.nv) if not world.model.joint(world.model.dof_jntid[d]).name.startswith(robots)]
    return bool(np.abs(world.data.qvel[dofs]).max() > STILL)


def _drawn(task: Task, seed: int, preset: str) -> dict[str, Any]:
    """Return images per second of one core, with two cameras in each kitchen while the arm moves."""
    count, spent, objects = 0, 0.0, []
    for episode in range(DRAWN):
        instance = sample_task(task, seed, episode)
        scene = build_scene(instance)
        objects.append(len(instance.objects))
        cameras = tuple(
            CameraSpec.looking_at(name, target, eye=eye, width=SIDE, height=SIDE, focal=0.8 * SIDE)
            for name, eye, target in VIEWS
        )
        renderer = Renderer(scene.world.model, preset, looks=scene.looks)
        renderer.render(scene.world.data, cameras)
        arm = scene.robot("franka").arms[0].qpos_index
        for frame in range(12):
            scene.world.data.qpos[arm] += 0.02 * np.cos(0.5 * frame)
            scene.world.forward()
            start = time.process_time()
            renderer.render(scene.world.data, cameras)
            spent += time.process_time() - start
            count += len(cameras)
    return {"name": f"handloom {preset}", "objects_median": median(objects), "fps_per_core": count / spent}
