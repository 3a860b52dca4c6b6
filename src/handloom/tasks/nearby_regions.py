"""Regions near those that a file gives: moved to where the hands reach, or around the places of successful tries."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from handloom.arrays import Array
from handloom.scene import build_scene
from handloom.scene.measures import world_box
from handloom.scene.region_config import RegionConfig
from handloom.tasks.config.task import Task
from handloom.tasks.reach.within_reach import spread_out
from handloom.tasks.region_proposals import SCENES, Proposal, region_line
from handloom.tasks.sampling.layouts.settling_world import SamplingError
from handloom.tasks.sampling.sample_task import sample_task
from handloom.tasks.search_time import unlimited
from handloom.values import TaskInstance

NEARBY = 3
"""Number of places near its region that are tried for an object out of reach."""
HALF = 0.04
"""Largest half side length of a region around such a place [m]."""
LEAST = 0.02
"""Least distance from the place of a successful try to the edge of a region around it [m]."""


def nearby_proposals(task: Task, step: Callable[[str], None] = unlimited) -> Iterator[Proposal]:
    """Yield a task's regions with those out of reach moved to where the hands reach, by the reach map, nearest first.

    Args:
        task: The task.
        step: Called before every trial; it may end them.
    """
    for number in range(NEARBY):
        moved = _moved(task, number, step)
        if moved:
            yield Proposal(tuple(moved.values()), 0)


def _moved(task: Task, number: int, step: Callable[[str], None]) -> dict[str, RegionConfig]:
    """Return the moved regions by object, the first of them at a spot by its rank; empty if that does not help."""
    moved: dict[str, RegionConfig] = {}
    for _ in range(len(task.config.regions) + 1):
        step("regions nearby")
        regions = tuple(moved.get(region.object, region) for region in task.config.regions)
        fitted = replace(task, config=task.config.model_copy(update={"regions": regions}))
        try:
            for episode in range(SCENES):
                sample_task(fitted, 0, episode)
        except SamplingError as error:
            name, spots = error.near
            places = spread_out(spots, number + 1)
            own = next((region for region in task.config.regions if region.object == name), None)
            rank = 0 if moved else number
            if own is None or name in moved or len(places) <= rank:
                return {}
            moved[name] = _around(own, np.array(places[rank]))
        else:
            return moved
    return {}


def _around(region: RegionConfig, spot: Array) -> RegionConfig:
    """Return a region of at most its own size around a spot (2,) from the middle of its table."""
    ranges = region.random_config
    assert ranges is not None
    assert ranges.pos_range is not None
    low, high = (np.array(corner[:2]) for corner in ranges.pos_range)
    half = np.clip((high - low) / 2.0, 0.0, HALF)
    (a, b), (c, d) = (spot - half).round(3).tolist(), (spot + half).round(3).tolist()
    return region.model_copy(
        update={"random_config": ranges.model_copy(update={"pos_range": ((a, b, 0.0), (c, d, 0.0))})}
    )


def regions_of_tries(task: Task, good: Sequence[TaskInstance], bad: Sequence[TaskInstance]) -> list[str]:
    """Return regions for objects that the file gives none, around places of successful tries, as lines to copy.

    They span as many successful tries as possible without any of the others.

    Args:
        task: The task.
        good: Scenes in which the expert succeeded.
        bad: Scenes in which it failed.
    """
    surface, config = task.config.work_surface, task.config
    own = [r for i, r in enumerate(config.regions) if not task.wrote("regions", i, "object") and r.target == surface]
    own = [region for region in own if region.random_config is not None and region.random_config.pos_range is not None]
    if not own or not good:
        return []
    scene = build_scene(good[0])
    middle = world_box(scene, surface).mean(axis=0)[:2]

    def spots(instance: TaskInstance) -> Array:
        at = {obj.name: obj.position[:2] for obj in instance.objects}
        return np.array([at[region.object] for region in own]) - middle

    low, high = _span([spots(instance) for instance in good], [spots(instance) for instance in bad])
    return [region_line(_between(region, *ends), task) for region, *ends in zip(own, low, high, strict=True)]


def _span(good: Sequence[Array], bad: Sequence[Array]) -> tuple[Array, Array]:
    """Return the corners of the box with the most good points (k, 2) that holds no bad one."""
    best: tuple[int, Array, Array] = (0, good[0], good[0])
    for first in good:
        low, high, count = first, first, 0
        for spot in sorted(good, key=lambda other: float(np.linalg.norm(other - first))):
            wider = np.minimum(low, spot), np.maximum(high, spot)
            if not any(np.all((wider[0] <= other) & (other <= wider[1])) for other in bad):
                (low, high), count = wider, count + 1
        if count > best[0]:
            best = count, low, high
    _, low, high = best
    short = np.maximum(LEAST - (high - low) / 2.0, 0.0)
    return low - short, high + short


def _between(region: RegionConfig, low: Array, high: Array) -> RegionConfig:
    """Return a region from one corner (2,) to another."""
    ranges = region.random_config
    assert ranges is not None
    (a, b), (c, d) = low.round(2).tolist(), high.round(2).tolist()
    corners = ((a, b, 0.0), (c, d, 0.0))
    return region.model_copy(update={"random_config": ranges.model_copy(update={"pos_range": corners})})
