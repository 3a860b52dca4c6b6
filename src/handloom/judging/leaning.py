"""Success term for an object that leans on another one."""

from collections.abc import Sequence

import numpy as np

from handloom.judging.checks import Nature, check
from handloom.scene import Scene
from handloom.scene.named_points import named_axis


@check(Nature.PLACED)
def leans_on(
    scene: Scene,
    *,
    object: str,
    target: str,
    axis: Sequence[float],
    along: Sequence[float],
    target_axis: str,
    angle: float,
) -> bool:
    """Return whether an object lies against the slope of a target, its long side up the slope.

    Args:
        scene: The scene.
        object: What leans.
        target: Object on which it leans.
        axis: Axis (3,) of the object that points away from the slope.
        along: Long side (3,) of the object, in either direction.
        target_axis: Axis of the target that points away from its slope.
        angle: Largest angle between the axes, and between the long side and the slope's rise [rad].
    """
    R = scene.object_pose(object)[:3, :3]
    normal = named_axis(scene, target, target_axis)
    rise = np.array([0.0, 0.0, 1.0]) - normal[2] * normal
    rise /= max(float(np.linalg.norm(rise)), 1e-9)
    leans = float(normal @ R @ np.asarray(axis, float))
    lies = abs(float(rise @ R @ np.asarray(along, float)))
    return bool(min(leans, lies) >= np.cos(angle))
