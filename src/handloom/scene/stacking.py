"""Questions about stacks: is one object on another, is a gripper open, does everything lie still."""

from collections.abc import Sequence

import numpy as np

from handloom.scene.scene import Scene


def stacked(
    scene: Scene, *, lower: str, upper: str, gap: float, xy_tolerance: float = 0.04, z_tolerance: float = 0.005
) -> bool:
    """Return whether one object stands on another: its centre above, at the right height on both sides.

    The published test bounds the height from above only, so that an object pressed into the lower one passes.

    Args:
        scene: The scene.
        lower: Object below.
        upper: Object above.
        gap: Height of the upper centre over the lower one [m].
        xy_tolerance: Largest horizontal distance of the centres [m].
        z_tolerance: Largest deviation from ``gap`` [m], up or down.
    """
    offset = scene.object_pose(upper)[:3, 3] - scene.object_pose(lower)[:3, 3]
    return bool(np.hypot(offset[0], offset[1]) < xy_tolerance and abs(offset[2] - gap) < z_tolerance)


def gripper_open(scene: Scene, *, robot: str, arm: str, tolerance: float = 0.05) -> bool:
    """Return whether every drive joint of a gripper is near its open position.

    The published test asks for 1e-4, which a driven joint under load does not reach.

    Args:
        scene: The scene.
        robot: Name of the robot.
        arm: ``left`` or ``right``.
        tolerance: Largest distance from open [m or rad].
    """
    side = scene.robot(robot).arm(arm)
    measured = scene.world.data.qpos[side.gripper_qpos_index]
    return bool(np.all(np.abs(measured - side.spec.gripper_open) < tolerance))


def lying_still(scene: Scene, *, objects: Sequence[str], speed: float = 0.05) -> bool:
    """Return whether every object's centre moves slower than ``speed`` [m/s]."""
    world = scene.world
    return all(float(np.linalg.norm(world.body_velocity(scene.body_of(name))[:3])) < speed for name in objects)
