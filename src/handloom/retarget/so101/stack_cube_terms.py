"""Observations, subtasks, success and failure of the stacking scene."""

from itertools import pairwise

import numpy as np

from handloom.arrays import Array
from handloom.retarget.so101.so101_action_controller import SO101ActionController
from handloom.retarget.so101.stack_cube_scene import CUBES, ROBOT, StackCubeConfig
from handloom.scene import Scene
from handloom.scene.measures import stacked
from handloom.spatial import pos_quat_from_pose
from handloom.values import Check

FALLEN = -0.05
"""A cube below this height has left the table [m]."""
GRASP_DISTANCE = 0.06
"""A grasped cube is nearer to the tool than this [m]."""
GRASP_JAW = 0.2
"""A jaw that grasps is farther from open than this [rad]."""


def stack_cube_checks(config: StackCubeConfig | None = None) -> tuple[Check, ...]:
    """Return the success terms as data: 2 on 1, 3 on 2, the jaw open, every cube slower than 0.05 m/s."""
    edge = (config or StackCubeConfig()).edge
    return (
        *(Check(name="stacked", arguments={"lower": a, "upper": b, "gap": edge}) for a, b in pairwise(CUBES)),
        Check(name="gripper_open", arguments={"robot": ROBOT, "arm": "left"}),
        Check(name="lying_still", arguments={"objects": list(CUBES)}),
    )


def stack_cube_subtasks(
    scene: Scene, controller: SO101ActionController, config: StackCubeConfig | None = None
) -> dict[str, bool]:
    """Return which of ``grasp_1`` (cube 2), ``stack_1`` (2 on 1) and ``grasp_2`` (cube 3) hold now."""
    edge = (config or StackCubeConfig()).edge
    return {
        "grasp_1": _near_and_closed(scene, controller, CUBES[1]),
        "stack_1": stacked(scene, lower=CUBES[0], upper=CUBES[1], gap=edge),
        "grasp_2": _near_and_closed(scene, controller, CUBES[2]),
    }


def fallen_cubes(scene: Scene) -> tuple[str, ...]:
    """Return the cubes that have left the table."""
    return tuple(name for name in CUBES if scene.object_pose(name)[2, 3] < FALLEN)


def stack_cube_observations(scene: Scene, controller: SO101ActionController, *, last_action: Array) -> dict[str, Array]:
    """Return the published observations; positions are in the world [m], quaternions wxyz.

    ``joint_pos`` and ``joint_vel`` are arm and jaw, positions relative to the start of the episode. ``object``
    (39,) is position and quaternion of each cube, tool to each cube, and cube to cube (1-2, 2-3, 1-3).
    """
    world, arm = scene.world, controller.arm
    index = np.concatenate([arm.qpos_index, arm.gripper_qpos_index])
    names = (*arm.joint_names, *(arm.prefix + name for name in arm.spec.gripper_joint_names))
    start = scene.instance.robots[0].joints
    first = np.array([start[name.removeprefix(arm.prefix)] for name in names])
    poses = [pos_quat_from_pose(scene.object_pose(name)) for name in CUBES]
    tool, tool_quat = pos_quat_from_pose(controller.T_world_tool)
    places = [position for position, _ in poses]
    between = [places[b] - places[a] for a, b in ((0, 1), (1, 2), (0, 2))]
    return {
        "actions": np.asarray(last_action, float),
        "joint_pos": world.data.qpos[index] - first,
        "joint_vel": np.array([world.joint_velocity(name) for name in names]),
        "object": np.concatenate([*(np.concatenate(pose) for pose in poses), *(p - tool for p in places), *between]),
        "cube_positions": np.concatenate(places),
        "cube_orientations": np.concatenate([quat for _, quat in poses]),
        "eef_pos": tool,
        "eef_quat": tool_quat,
        "gripper_pos": world.data.qpos[arm.gripper_qpos_index],
    }


def _near_and_closed(scene: Scene, controller: SO101ActionController, cube: str) -> bool:
    distance = np.linalg.norm(scene.object_pose(cube)[:3, 3] - controller.T_world_tool[:3, 3])
    jaw = scene.world.data.qpos[controller.arm.gripper_qpos_index[0]]
    return bool(distance < GRASP_DISTANCE and abs(jaw - controller.jaw.open) > GRASP_JAW)
