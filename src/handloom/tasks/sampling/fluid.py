"""The grains of a fluid, at rest in their container."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.scene.assets import asset_of
from handloom.scene.build import add_fluid, add_object, empty_spec
from handloom.scene.grains import Grains
from handloom.scene.grains.surroundings import DistanceGrid, body_solids, distance_grid, hollow_nodes
from handloom.sim import World
from handloom.skills.configs.motions import PourWaterSuccConfig
from handloom.spatial import matrix_from_quat
from handloom.tasks.config.task import Task
from handloom.tasks.config.task_config import FluidConfig, placed_skills
from handloom.tasks.sampling.settling_world import STEP, SamplingError
from handloom.values import FluidInstance, ObjectInstance

MAX_GRAINS = 500
"""More grains cost more than they show; physics of 300 takes 0.15 to 0.2 s of computing per second."""
FULL = 0.7
"""How full the vessel that stands in for the target may get, as a fraction of its hollow with grains on a lattice."""
SETTLE_SECONDS = 1.0
WATER = 1000.0
"""Density of a grain when the task gives none [kg/m^3]."""


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
    grid = _grid_of(container, radius)
    if grid is None:
        raise SamplingError(
            "no_room_for_fluid", f"{container.name} is too large to hold grains", where=task.where("fluid")
        )
    points = _lattice(config, container, grid)
    inside = points[_fits(points, container, grid, radius)]
    if len(inside) == 0:
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
        positions=_points(inside[: _most_grains(task, objects, radius)]),
    )
    return _at_rest(fluid, container)


def _most_grains(task: Task, objects: Sequence[ObjectInstance], radius: float) -> int:
    """Return how many grains there may be; no more than go into what stands in for the vessel they are poured into."""
    most = MAX_GRAINS
    for _, skill in placed_skills(task.config):
        target = next((o for o in objects if o.name == getattr(skill, "container_name", None)), None)
        if not isinstance(skill, PourWaterSuccConfig) or target is None or not asset_of(target).stands_in:
            continue
        grid = _grid_of(target, radius)
        if grid is not None:
            room = int(hollow_nodes(grid, np.array(asset_of(target).up)).sum()) * grid.cell**3
            most = min(most, round(FULL * room / (2.0 * radius) ** 3), skill.particle_num_th_max - 1)
    return most


def _grid_of(container: ObjectInstance, radius: float) -> DistanceGrid | None:
    """Return the distances to the solid parts of a container, in its own frame."""
    return distance_grid(*body_solids(asset_of(container).model, 1), 2.0 * radius)


def _lattice(config: FluidConfig, container: ObjectInstance, grid: DistanceGrid) -> Array:
    """Return the grid points (n, 3) [m] that may lie in the container, lowest first."""
    low, high = _box(container, grid, 2.0 * config.particleContactOffset)
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


def _box(container: ObjectInstance, grid: DistanceGrid, margin: float) -> Array:
    """Return the box (2, 3) around a container in the world [m]; its grid is larger by a margin [m]."""
    R = matrix_from_quat(np.array(container.quat))
    half = grid.cell * (np.array(grid.distance.shape) - 1) / 2
    middle, reach = R @ (grid.origin + half) + container.position, np.abs(R) @ (half - margin)
    return np.stack([middle - reach, middle + reach])


def _fits(points: Array, container: ObjectInstance, grid: DistanceGrid, radius: float) -> NDArray[np.bool_]:
    """Return which balls (n,) lie in the hollow: walls on four sides and a floor, none closer than their radius."""
    R = matrix_from_quat(np.array(container.quat))
    nodes, within = grid.nearest_nodes((points - container.position) @ R)
    at, hollow = tuple(nodes.T), hollow_nodes(grid, np.array(asset_of(container).up))
    return within & hollow[at] & (grid.distance[at] >= radius - grid.cell)


def _at_rest(fluid: FluidInstance, container: ObjectInstance) -> FluidInstance:
    """Let the grains settle in the container, which stays where it is; those that leave it are taken away."""
    spec = empty_spec(STEP)
    add_object(spec, container, asset_of(container), free=False)
    add_fluid(spec, fluid)
    world = World.from_spec(spec)
    grains = Grains(world, fluid, {container.name: np.array(asset_of(container).up)})
    world.step(round(SETTLE_SECONDS / STEP))
    return replace(fluid, positions=_points(grains.positions()[grains.inside(container.name)]))


def _points(rows: Array) -> tuple[tuple[float, float, float], ...]:
    return tuple((float(x), float(y), float(z)) for x, y, z in rows)
