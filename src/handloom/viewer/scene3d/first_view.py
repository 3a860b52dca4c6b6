"""From where a scene is looked at first: across the work place, towards the robots."""

from typing import Any

import numpy as np

from handloom.arrays import Array
from handloom.scene import Scene

UP = 0.62
"""Height of the viewpoint over its level distance."""
ASIDE = np.deg2rad(38.0)
"""How far to the side of the line from the robots to the objects the viewpoint lies [rad]."""
NEAREST, FURTHEST = 0.42, 2.5
"""Bounds of the radius of what is looked at [m]."""


def first_view(scene: Scene) -> dict[str, Any]:
    """Return what is looked at first: ``center`` (3,) and ``radius`` [m], and the ``direction`` to the viewpoint."""
    objects = np.array(
        [
            scene.object_pose(obj.name)[:3, 3]
            for obj in scene.instance.objects
            if not obj.fixed and obj.visible and obj.name in scene.assets and obj.position[2] > -1.0
        ]
    ).reshape(-1, 3)
    bases = np.array([arm.T_world_base[:3, 3] for robot in scene.robots.values() for arm in robot.arms]).reshape(-1, 3)
    points = np.concatenate([objects, bases])
    if not len(points):
        return {"center": [0.0, 0.0, 0.5], "radius": 1.0, "direction": _direction(np.array([1.0, 0.0]))}
    work = objects.mean(axis=0) if len(objects) else bases.mean(axis=0)
    center = work if not len(bases) else 0.6 * work + 0.4 * bases.mean(axis=0)
    away = (work - bases.mean(axis=0))[:2] if len(bases) else np.array([1.0, 0.0])
    if np.linalg.norm(away) < 0.05:
        away = np.array([1.0, 0.0])
    radius = float(np.clip(np.linalg.norm(points - center, axis=1).max() + 0.12, NEAREST, FURTHEST))
    return {
        "center": (center + np.array([0.0, 0.0, 0.08])).tolist(),
        "radius": radius,
        "direction": _direction(away / np.linalg.norm(away)),
    }


def _direction(away: Array) -> list[float]:
    c, s = np.cos(ASIDE), np.sin(ASIDE)
    x, y = c * away[0] - s * away[1], s * away[0] + c * away[1]
    found = np.array([x, y, UP])
    return (found / np.linalg.norm(found)).tolist()
