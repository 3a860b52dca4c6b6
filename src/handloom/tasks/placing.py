"""Where everything lies: regions, no interpenetration, a stable rest."""

from collections.abc import Sequence
from dataclasses import replace

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.scene.assets import asset_of
from handloom.scene.build import add_object, empty_spec
from handloom.scene.region_config import RandomConfig, RegionConfig
from handloom.scene.regions import Placed, sample_region
from handloom.sim import World
from handloom.tasks.loading import Task
from handloom.tasks.sampling_error import SamplingError
from handloom.values import ObjectInstance, RobotInstance

Array = NDArray[np.float64]

MAX_TRIES = 60
"""How often a layout is drawn before the regions are called impossible."""
MAX_PENETRATION = 0.0005
"""Deepest overlap of two objects at their start [m]."""
SETTLE_SECONDS = 0.5
"""How long objects may come to rest before the episode starts."""
CALM = 0.02
"""Objects that still move faster than this after settling are not at rest [m/s or rad/s]."""
SETTLE_STEP = 0.002


def sample_layout(
    task: Task, props: Sequence[ObjectInstance], robots: Sequence[RobotInstance], rng: np.random.Generator
) -> tuple[tuple[ObjectInstance, ...], tuple[RobotInstance, ...]]:
    """Place everything by the task's regions and let it come to rest.

    Raises:
        SamplingError: No layout without overlap was found, or something does not come to rest.
    """
    blame: dict[str, int] = {}
    for _ in range(MAX_TRIES):
        objects, placed_robots = _draw(task, props, robots, rng)
        settled = _settle(objects)
        if isinstance(settled, tuple):
            return settled, placed_robots
        blame[settled] = blame.get(settled, 0) + 1
    worst = max(blame, key=lambda name: blame[name])
    raise SamplingError(
        "no_layout",
        f"{worst} had no free or stable place in {blame[worst]} of {MAX_TRIES} layouts; widen the pos_range of its "
        "region, or move other objects away",
    )


def _draw(
    task: Task, props: Sequence[ObjectInstance], robots: Sequence[RobotInstance], rng: np.random.Generator
) -> tuple[tuple[ObjectInstance, ...], tuple[RobotInstance, ...]]:
    """Draw one layout, regions in their order; a region may use what an earlier one placed."""
    places = {thing.name: _place_of_object(thing) for thing in props}
    places |= {robot.name: Placed(np.array(robot.position), np.array(robot.quat), np.zeros((1, 3))) for robot in robots}
    pool = list(task.config.random_region_list)
    for region in task.config.regions:
        ranges = _ranges(region, pool, rng)
        c = places[region.target2] if region.target2 else None
        places[region.object] = sample_region(region, ranges, places[region.object], places[region.target], rng, c=c)
    objects = tuple(replace(thing, **_pose(places[thing.name])) for thing in props)
    return objects, tuple(replace(robot, **_pose(places[robot.name])) for robot in robots)


def _ranges(region: RegionConfig, pool: list[RandomConfig], rng: np.random.Generator) -> RandomConfig:
    """Return the ranges of a region: its own, or one of the task's list, each used at most once."""
    if not region.draws_from_pool:
        return region.random_config or RandomConfig()
    wanted = region.priority if isinstance(region.priority, tuple) and region.priority else range(len(pool))
    free = [i for i in wanted if i < len(pool)]
    if not free:
        raise SamplingError(
            "region_list_empty", f"{region.object} draws from random_region_list, which has no entry left for it"
        )
    return pool.pop(free[int(rng.integers(len(free)))])


def _settle(objects: tuple[ObjectInstance, ...]) -> tuple[ObjectInstance, ...] | str:
    """Return the objects at rest, or the name of one that overlaps another or does not come to rest."""
    spec = empty_spec(SETTLE_STEP)
    for thing in objects:
        add_object(spec, thing, asset_of(thing))
    world = World.from_spec(spec)
    moving = [thing for thing in objects if not thing.fixed]
    if not moving:
        return objects
    deepest = min(world.contacts(), key=lambda contact: contact.distance, default=None)
    if deepest is not None and deepest.distance < -MAX_PENETRATION:
        return _movable_of(deepest.body_a, deepest.body_b, moving)
    world.step(round(SETTLE_SECONDS / SETTLE_STEP))
    for thing in moving:
        velocity = world.body_velocity(f"{thing.name}/object")
        if np.abs(velocity).max() > CALM:
            return thing.name
    return tuple(thing if thing.fixed else replace(thing, **_world_pose(world, thing.name)) for thing in objects)


def _movable_of(body_a: str, body_b: str, moving: Sequence[ObjectInstance]) -> str:
    names = [thing.name for thing in moving]
    for body in (body_b, body_a):
        if body.partition("/")[0] in names:
            return body.partition("/")[0]
    return body_a


def _place_of_object(thing: ObjectInstance) -> Placed:
    vertices, _ = asset_of(thing).collision_triangles()
    return Placed(np.array(thing.position), np.array(thing.quat), vertices)


def _pose(place: Placed) -> dict[str, tuple[float, ...]]:
    return {"position": tuple(place.position.tolist()), "quat": tuple(place.quat.tolist())}


def _world_pose(world: World, name: str) -> dict[str, tuple[float, ...]]:
    address = world.qpos_index(f"{name}/free")
    qpos = world.data.qpos[address : address + 7]
    quat = qpos[3:].copy()
    mujoco.mju_normalize4(quat)
    return {"position": tuple(qpos[:3].tolist()), "quat": tuple(quat.tolist())}
