"""A task's object regions and its arms' reach, as shapes on the table."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from handloom.arrays import Array
from handloom.scene import Scene
from handloom.scene.measures import world_box
from handloom.scene.region_config import RandomConfig, RegionConfig
from handloom.skills.arms.arm_controller import ArmController
from handloom.tasks import Task
from handloom.tasks.work_area import reached_points

STEPS = 24
"""Corners of an arc."""
GRID = 0.075
"""Distance between tested positions [m]."""
ABOVE = 0.03
"""Height of the fingertips above the surface [m], about that of a grasp."""
LIFT = 0.002
"""Height of shapes above their surface [m]."""


def drawn_regions(task: Task, scene: Scene) -> Iterator[dict[str, Any]]:
    """Yield the shape of every region: ``object``, ``target``, ``index`` in the file, ``corners`` (n, 3) [m], flat.

    Regions refer to the target's pose in the scene. Regions in a container have no shape.
    """
    for index, region in enumerate(task.config.regions):
        if region.container is not None or region.target not in scene.assets:
            continue
        pool = task.config.random_region_list
        choices = pool if region.draws_from_pool else (region.random_config or RandomConfig(),)
        for ranges in choices:
            corners = _corners(scene, region, ranges)
            if corners is not None:
                entry = {"object": region.object, "target": region.target, "index": index, "distractors": False}
                yield {**entry, "corners": corners.round(5).tolist()}
    clutter = task.config.distractors
    if clutter is not None and clutter.max_num > 0 and clutter.target in scene.assets:
        box = world_box(scene, clutter.target)
        low, high = (np.asarray(corner, float)[:2] for corner in clutter.pos_range)
        corners = _rectangle(box.mean(axis=0)[:2], low, high, box[1, 2])
        entry = {"object": "distractors", "target": clutter.target, "index": -1, "distractors": True}
        yield {**entry, "corners": corners.round(5).tolist()}


def _corners(scene: Scene, region: RegionConfig, ranges: RandomConfig) -> Array | None:
    """Return the corners (n, 3) of a region, or None if it is a single point that needs no shape."""
    box = world_box(scene, region.target, _body(scene, region))
    middle, position = box.mean(axis=0)[:2], scene.object_pose(region.target)[:2, 3]
    kind = region.random_type
    if kind in ("A_on_B_region_sampler", "A_by_B_region_sampler") and ranges.pos_range is not None:
        low, high = (np.asarray(corner, float) for corner in ranges.pos_range)
        height = box[1, 2] + low[2] if kind == "A_on_B_region_sampler" else box[0, 2]
        return _rectangle(middle, low[:2], high[:2], height)
    if kind == "A_in_B_region_sampler":
        around = position + np.array([ranges.x_bias, ranges.y_bias])
        return _ring(around, 0.0, 0.02, 0.0, 2 * np.pi, box[1, 2])
    if ranges.r_range is None:
        return None
    low, high = ranges.r_range
    x = scene.object_pose(region.target)[:2, 0]
    yaw = float(np.arctan2(x[1], x[0]))
    first, last = yaw - 0.02, yaw + 0.02
    if kind == "A_by_B_circle_sampler":
        first, last = np.deg2rad(ranges.theta_range or (0.0, 360.0))
    elif kind == "A_along_B_C_circle_sampler":
        if region.target2 not in scene.assets:
            return None
        gap = float(
            np.linalg.norm(scene.object_pose(region.target)[:3, 3] - scene.object_pose(str(region.target2))[:3, 3])
        )
        low, high = low + gap, high + gap
    return _ring(middle, low, high, first, last, box[0, 2])


def _body(scene: Scene, region: RegionConfig) -> str | None:
    """Return the part of the target that a region names, if it is one of the target's bodies."""
    if region.sub_tgt_prim is None:
        return None
    name = region.sub_tgt_prim.rstrip("/").rpartition("/")[2]
    return name if f"{region.target}/{name}" in scene.world.subtree(scene.body_of(region.target)) else None


def _rectangle(middle: Array, low: Array, high: Array, height: float) -> Array:
    (x0, y0), (x1, y1) = middle + low, middle + high
    return np.array([[x, y, height + LIFT] for x, y in ((x0, y0), (x1, y0), (x1, y1), (x0, y1))])


def _ring(middle: Array, low: float, high: float, first: float, last: float, height: float) -> Array:
    """Return a ring segment, or a fan if it starts at the centre."""
    angles = np.linspace(first, last, STEPS + 1)
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    outer, inner = middle + high * directions, middle + low * directions[::-1]
    flat = np.concatenate([outer, inner if low > 0 else middle[None]])
    return np.column_stack([flat, np.full(len(flat), height + LIFT)])


def surface_of(task: Task, scene: Scene) -> str | None:
    """Return the surface of most regions; None if the task has no regions."""
    targets = [region.target for region in task.config.regions if region.target in scene.assets]
    return max(targets, key=targets.count) if targets else None


def reach_of_arms(task: Task, scene: Scene) -> Iterator[dict[str, Any]]:
    """Yield the positions on the task's work surface that the fingertips of each arm can reach.

    Objects are excluded from the collision check, because they will be elsewhere in the next scene.

    Yields:
        ``robot``, ``arm``, ``step`` [m] and the positions (n, 3) [m] reachable from ``above`` and only from the
        ``side``.
    """
    surface = surface_of(task, scene)
    if surface is None:
        return
    box = world_box(scene, surface)
    half = np.ptp(box, axis=0)[:2] / 2
    axes = [np.arange(-side + GRID / 2, side, GRID) for side in half]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2) + box.mean(axis=0)[:2]
    points = np.column_stack([grid, np.full(len(grid), box[1, 2] + ABOVE)])
    loose = tuple(f"{obj.name}/" for obj in scene.instance.objects if obj.name != surface)
    for robot in scene.robots.values():
        for arm in robot.arms:
            controller = ArmController(scene, arm)
            controller.ignored = loose
            near = np.linalg.norm(points - arm.T_world_base[:3, 3], axis=1) < FURTHEST
            above, side = np.zeros(len(points), bool), np.zeros(len(points), bool)
            if near.any():
                above[near] = reached_points(controller, points[near], "down")
                rest = near & ~above
                if rest.any():
                    side[rest] = reached_points(controller, points[rest], "side")
            flat = points - [0.0, 0.0, ABOVE - LIFT / 2]
            places = {"above": flat[above].round(4).tolist(), "side": flat[side].round(4).tolist()}
            yield {"robot": robot.name, "arm": arm.name, "step": GRID, **places}


FURTHEST = 1.4
"""Positions further than this from an arm's base are not tested [m]."""
