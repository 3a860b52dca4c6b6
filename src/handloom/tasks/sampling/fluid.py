"""The grains of a fluid, at rest in their container."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.objects import ObjectAsset
from handloom.scene.assets import asset_of
from handloom.scene.build import add_fluid, add_object, empty_spec
from handloom.scene.grains import Grains
from handloom.scene.grains.surroundings import DistanceGrid, body_solids, distance_grid, hollow_nodes
from handloom.sim import World
from handloom.skills.configs.motions import PourWaterSuccConfig
from handloom.spatial import matrix_from_quat
from handloom.tasks.config.task import Task
from handloom.tasks.config.task_config import FluidConfig, TaskConfig, placed_skills
from handloom.tasks.sampling.layouts.settling_world import STEP, SamplingError
from handloom.values import FluidInstance, ObjectInstance

WIDE = 0.1
"""Minimum width of a stand-in for a receiving vessel [m]: grains of 3 to 5 mm scatter by a few diameters."""
MAX_GRAINS = 500
"""Maximum number of grains of a stand-in; the physics of 300 takes 0.15 to 0.2 s of computing per second."""
NARROW, WALL = 1.2, 0.004
"""Inner radius of a narrow one, as a multiple of the radius within which grains count, and its wall [m]."""
SPARE = 1.5
"""Grains provided per required grain: some are spilled, and some stay behind."""
FULL = 0.7
"""Largest fill of the target's stand-in, as a fraction of its hollow with grains on a lattice."""
REST = 0.6
"""Half the distance at which particles of the published fluid come to rest, as a fraction of their contact offset."""
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
    radius = _radius(task, objects, config.particleContactOffset)
    config = config.model_copy(update={"particleContactOffset": radius})
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


def poured_into(config: TaskConfig, name: str) -> list[PourWaterSuccConfig]:
    """Return the checks that count grains in a vessel."""
    skills = (skill for _, skill in placed_skills(config) if isinstance(skill, PourWaterSuccConfig))
    return [skill for skill in skills if skill.container_name == name]


def vessel_width(asset: ObjectAsset, judged: PourWaterSuccConfig) -> float:
    """Return the width of a stand-in vessel [m] for which the task's check of a pour into it makes sense.

    It is wide enough to pour grains into, but narrow enough that sufficiently many of them lie within the counted
    radius.
    """
    wide = max(float(asset.extent[np.abs(asset.up) < 0.5].min()), WIDE)
    if grains_needed(judged, wide / 2 - WALL) <= MAX_GRAINS:
        return wide
    return 2.0 * (NARROW * judged.container_radius + WALL)


def grains_needed(judged: PourWaterSuccConfig, radius: float) -> int:
    """Return the number of grains needed so that enough of them count in a vessel of an inner radius [m]."""
    share = min(1.0, (judged.container_radius / radius) ** 2)
    return int(np.ceil(SPARE * max(judged.particle_num_th_min, 1) / share))


def _targets(task: Task, objects: Sequence[ObjectInstance]) -> Iterator[tuple[ObjectInstance, PourWaterSuccConfig]]:
    """Yield the stand-ins of receiving vessels, with the checks of the pour."""
    for obj in objects:
        for judged in poured_into(task.config, obj.name):
            if asset_of(obj).stands_in:
                yield obj, judged


def _room(target: ObjectInstance, radius: float) -> float:
    """Return the volume of grains of a radius [m] in a vessel filled to its limit [m^3]."""
    grid = _grid_of(target, radius)
    if grid is None:
        return math.inf
    return FULL * int(hollow_nodes(grid, np.array(asset_of(target).up)).sum()) * grid.cell**3


def _radius(task: Task, objects: Sequence[ObjectInstance], offset: float) -> float:
    """Return the radius of a grain [m]: the contact offset, unless too few of that size go into a stand-in.

    In that case it is as small as needed, but at least half the resting distance of the file's particles.
    """
    radius = offset
    for target, judged in _targets(task, objects):
        extent = asset_of(target).extent[np.abs(asset_of(target).up) < 0.5]
        count = grains_needed(judged, float(extent.min()) / 2 - WALL)
        radius = min(radius, 0.5 * (_room(target, offset) / count) ** (1 / 3))
    return max(radius, REST * offset)


def _most_grains(task: Task, objects: Sequence[ObjectInstance], radius: float) -> int:
    """Return the largest number of grains, limited by the stand-in of the receiving vessel."""
    most = MAX_GRAINS
    for target, judged in _targets(task, objects):
        most = min(most, round(min(_room(target, radius) / (2.0 * radius) ** 3, most)), judged.particle_num_th_max - 1)
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
    """Let the grains settle in the container, which is fixed; grains that leave it are removed."""
    spec = empty_spec(STEP)
    add_object(spec, container, asset_of(container), free=False)
    add_fluid(spec, fluid)
    world = World.from_spec(spec)
    grains = Grains(world, fluid, {container.name: np.array(asset_of(container).up)})
    world.step(round(SETTLE_SECONDS / STEP))
    return replace(fluid, positions=_points(grains.positions()[grains.inside(container.name)]))


def _points(rows: Array) -> tuple[tuple[float, float, float], ...]:
    return tuple((float(x), float(y), float(z)) for x, y, z in rows)
