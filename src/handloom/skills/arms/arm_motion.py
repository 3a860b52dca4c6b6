"""Motions that an arm can carry out: poses for arms of few joints, joint paths at true speed, start states."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from handloom.arrays import Array
from handloom.motion.kinematics import Chain, IkOptions, IkSolver
from handloom.motion.planning import ArmPlanner, PointAndAxis
from handloom.motion.trajectory import MotionLimits, jerk_limited
from handloom.scene import Scene, SceneArm
from handloom.spatial import invert_pose, pos_quat_from_pose

POSE = 6
"""Number of joints an arm needs to take any pose within its reach."""
SEEDS = 8
"""Starting points per pose: most candidates are out of reach, and the rest are solved from the first few."""
LIMIT_MARGIN = 0.01
"""Goals stay this far inside the joint limits [rad]: joints sag by up to 6 mrad under load, but not past a limit."""
ROUNDING = 0.01
"""Largest distance of rounded corners from the waypoints [rad or m]."""


def attainable(
    chain: Chain,
    T_base_tool: Array,
    *,
    point_tool: ArrayLike,
    axis_tool: ArrayLike,
    seed: Array,
    angle: float = IkOptions.rotation_tolerance,
) -> tuple[Array, NDArray[np.bool_]]:
    """Return hand poses (n, 4, 4) that the arm can take, and which of them were found (n,).

    An arm of six or more joints can take any pose, so these come back as they are. An arm of five joints keeps the
    position of one point of the hand and the direction of one axis through that point, and gives up the rotation about
    the axis: fingers that close on two faces may come from another side, and a cube may be put down at another yaw.

    Args:
        chain: The arm, from its base to the end-effector frame.
        T_base_tool: Wanted poses (n, 4, 4).
        point_tool: Point in the hand that stays (3,) [m].
        axis_tool: Axis in the hand whose direction stays (3,).
        seed: Configuration to start from (dof,).
        angle: Largest turn of the axis [rad].
    """
    if chain.dof >= POSE or len(T_base_tool) == 0:
        return T_base_tool, np.ones(len(T_base_tool), bool)
    kept = PointAndAxis(point=np.asarray(point_tool, float), axis=np.asarray(axis_tool, float), angle=angle)
    options = kept.options(IkOptions(max_seeds=SEEDS, threads=1))
    found = IkSolver(kept.chain(chain), options).solve(kept.poses(T_base_tool), seed=seed)
    return chain.T_base_tool(found.q), found.solved


def play(path: ArrayLike, limits: MotionLimits, *, fps: int) -> Array:
    """Return joint targets (frames, n) along a path from rest to rest, one per frame; the last row is the end.

    Differences of targets are averages of speeds and accelerations between frames, so they also keep the limits.

    Args:
        path: Waypoints (k, n) [rad or m], joined by straight joint motions.
        limits: Velocity, acceleration and jerk limits.
        fps: Frames per second.
    """
    motion, end = jerk_limited(path, limits, deviation=ROUNDING), np.asarray(path, float)[-1]
    # Stretched to whole frames.
    frames = max(1, int(np.ceil(motion.duration * fps - 1e-9)))
    targets = motion.sample(np.arange(1, frames + 1) * (motion.duration / frames))[0]
    targets[-1] = end
    return targets


def planned_state(scene: Scene, fingers: Mapping[str, float]) -> mujoco.MjData:
    """Return the current state with some joints, such as fingers, where planning assumes them [m or rad]."""
    world = scene.world
    if not fingers:
        return world.data
    imagined = mujoco.MjData(world.model)
    imagined.qpos[:], imagined.mocap_pos[:], imagined.mocap_quat[:] = (
        world.data.qpos,
        world.data.mocap_pos,
        world.data.mocap_quat,
    )
    for name, value in fingers.items():
        imagined.qpos[world.model.jnt_qposadr[world.joint_index(name)]] = value
    mujoco.mj_kinematics(world.model, imagined)
    return imagined


@contextmanager
def imagined_at(scene: Scene, arm: SceneArm, joints: Array, name: str, T_world_object: Array) -> Iterator[None]:
    """Temporarily show the scene with an arm at joints (n,) [rad] and an object at a pose (4, 4)."""
    model, data = scene.world.model, scene.world.data
    present = mujoco.MjData(model)
    mujoco.mj_copyData(present, model, data)
    start = int(model.jnt_qposadr[model.body_jntadr[scene.world.body_index(scene.body_of(name))]])
    data.qpos[[model.jnt_qposadr[scene.world.joint_index(joint)] for joint in arm.joint_names]] = joints
    data.qpos[start : start + 7] = np.concatenate(pos_quat_from_pose(T_world_object))
    mujoco.mj_kinematics(model, data)
    try:
        yield
    finally:
        mujoco.mj_copyData(data, model, present)


def attach_solids(
    planner: ArmPlanner, solids: Iterable[str], holder: str, T_world_holder: Array, *, may_touch: Iterable[str] = ()
) -> None:
    """Make solids of an object, given by the planner's names, part of the robot at their current poses.

    Args:
        planner: The planner.
        solids: Names of its obstacles.
        holder: Body that holds them.
        T_world_holder: Pose of that body.
        may_touch: Further bodies that the object may touch.
    """
    T_holder_world = invert_pose(T_world_holder)
    for name in solids:
        solid = planner.world[name]
        planner.attach(name, solid.shape, holder, T_holder_world @ solid.T_world_obstacle, may_touch=may_touch)


def inside_limits(chain: Chain, home: Array) -> Chain:
    """Return the chain with limits tightened by LIMIT_MARGIN, but not past the home (n,) [rad] of a folded arm."""
    lower = np.minimum(chain.lower + LIMIT_MARGIN, np.maximum(chain.lower, home))
    upper = np.maximum(chain.upper - LIMIT_MARGIN, np.minimum(chain.upper, home))
    return replace(chain, lower=lower, upper=upper)
