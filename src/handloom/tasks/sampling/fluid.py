"""The grains of a fluid, at rest in their container."""

import math
from collections.abc import Sequence
from dataclasses import replace

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.scene.assets import asset_of
from handloom.scene.build import add_fluid, add_object, empty_spec
from handloom.sim import World
from handloom.tasks.config.task import Task
from handloom.tasks.config.task_config import FluidConfig
from handloom.tasks.sampling.settling_world import STEP, SamplingError
from handloom.values import FluidInstance, ObjectInstance

MAX_GRAINS = 200
"""More grains cost more than they show: 200 take 0.4 s (one layer) to 2.4 s (a heap) of computing per second."""
SETTLE_SECONDS = 1.0
WATER = 1000.0
"""Density of a grain when the task gives none [kg/m^3]."""

_SIDES = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, -1]], float)
"""Directions in which a point inside a container meets it."""


def sample_fluid(task: Task, objects: Sequence[ObjectInstance]) -> FluidInstance | None:
    """Return the fluid of a task, if it has one; there is nothing to draw, since the grid is given.

    Raises:
        SamplingError: No grain fits into the container.
    """
    config = task.config.fluid
    if config is None:
        return None
    container = next(obj for obj in objects if obj.name == config.container_name)
    radius = config.particleContactOffset
    world = _world_with(container, None)
    inside = [point for point in _grid(config, world, container) if _is_inside(world, point, radius)]
    if not inside:
        raise SamplingError(
            "no_room_for_fluid",
            f"no grain of radius {1000 * radius:.1f} mm fits into {container.name}; make particleContactOffset smaller "
            "or the container larger",
            where=task.where("fluid"),
        )
    volume = 4.0 / 3.0 * math.pi * radius**3
    fluid = FluidInstance(
        container=container.name,
        radius=radius,
        mass=config.mass or (config.density or WATER) * volume,
        color=config.color or FluidInstance.color,
        opacity=config.opacity,
        positions=_points(np.array(inside[:MAX_GRAINS])),
    )
    return _at_rest(fluid, container)


def _grid(config: FluidConfig, world: World, container: ObjectInstance) -> Array:
    """Return the grid points (n, 3) [m] that may lie in the container, lowest first."""
    low, high = _box(world)
    spacing = 2.0 * config.particleContactOffset * config.spacing_scale
    middle = np.array(container.position)
    axes = []
    for k, count in ((0, config.numParticlesX), (1, config.numParticlesY)):
        fitting = min(count, int((high[k] - low[k]) / spacing) + 1)
        axes.append(middle[k] + spacing * (np.arange(fitting) - (fitting - 1) / 2))
    layers = min(config.numParticlesZ, int((high[2] - low[2]) / spacing) + 1)
    bottom = middle[2] - spacing * (layers - 1) / 2 if config.center_z else low[2] + spacing / 4
    axes.append(bottom + config.z_offset + spacing * np.arange(layers))
    x, y, z = np.meshgrid(*axes, indexing="ij")
    points = np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1)
    return points[np.argsort(points[:, 2], kind="stable")]


def _box(world: World) -> Array:
    """Return the box (2, 3) around the solid parts of the container."""
    model, data = world.model, world.data
    turn = data.geom_xmat.reshape(-1, 3, 3)
    centre = data.geom_xpos + np.einsum("gij,gj->gi", turn, model.geom_aabb[:, :3])
    reach = np.einsum("gij,gj->gi", np.abs(turn), model.geom_aabb[:, 3:])
    return np.stack([(centre - reach).min(axis=0), (centre + reach).max(axis=0)])


def _is_inside(world: World, point: Array, radius: float) -> bool:
    """Return whether a ball lies in the hollow: walls on four sides and a floor, none closer than its radius."""
    geom, normal = np.zeros(1, np.int32), np.zeros(3)
    for direction in _SIDES:
        distance = mujoco.mj_ray(world.model, world.data, point, direction, None, 1, -1, geom, normal)
        if distance < radius:  # -1 says that there is nothing.
            return False
    return True


def _at_rest(fluid: FluidInstance, container: ObjectInstance) -> FluidInstance:
    """Let the grains settle in the container, which stays where it is; those that leave it are taken away."""
    world = _world_with(container, fluid)
    world.step(round(SETTLE_SECONDS / STEP))
    first = world.body_index("fluid/0")
    centres = world.data.xpos[first : first + len(fluid.positions)]
    low, high = _box(_world_with(container, None))
    kept = np.all((centres > low) & (centres < high), axis=1)
    return replace(fluid, positions=_points(centres[kept]))


def _world_with(container: ObjectInstance, fluid: FluidInstance | None) -> World:
    spec = empty_spec(STEP)
    add_object(spec, container, asset_of(container), free=False)
    if fluid is not None:
        add_fluid(spec, fluid)
    return World.from_spec(spec)


def _points(rows: Array) -> tuple[tuple[float, float, float], ...]:
    return tuple((float(x), float(y), float(z)) for x, y, z in rows)
