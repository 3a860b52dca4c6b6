"""Opt-in columns: joint speeds and efforts, tool poses and steps, object poses, reward, and the robot's other joints.

Written with ``--columns canonical detailed``. Observations are those before the frame, actions what the frame does, and
``next.*`` is what is true after it.
"""

from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.dataset import Columns, RobotSeries, column_feature
from handloom.dataset.robot_columns import POSE_NAMES, pose7
from handloom.scene import Scene, SceneArm, SceneRobot
from handloom.spatial import invert_pose, rotvec_from_matrix
from handloom.values import EpisodeRecord

STEP_NAMES = ("dx", "dy", "dz", "rx", "ry", "rz")
STATE = mujoco.mjtState.mjSTATE_INTEGRATION


def detailed_columns(scene: Scene, record: EpisodeRecord, series: dict[str, RobotSeries]) -> Columns:
    """Return the detailed columns of an episode; the state of the scene is overwritten.

    Args:
        scene: The scene of the record's instance.
        record: What happened.
        series: What each robot did, by its name.
    """
    start = scene.world.save_state()
    velocity, effort, poses = _replayed(scene, record)
    parts: list[tuple[str, tuple[str, ...], NDArray[Any], str]] = []
    for name, robot in scene.robots.items():
        prefix = f"{name}." if len(scene.robots) > 1 else ""
        columns = _robot(scene, robot, series[name], velocity, effort, record)
        parts += [(prefix + key, names, values, "float32") for key, names, values in columns]
    for k, name in enumerate(_movable(scene)):
        parts.append((f"observation.object_pose.{name}", POSE_NAMES, poses[:, k], "float32"))
    parts += _outcome(record)
    scene.world.restore_state(start)
    return Columns(
        features=tuple(column_feature(name, names, dtype=dtype) for name, names, _, dtype in parts),
        values={name: values for name, _, values, _ in parts},
    )


def mistakes(record: EpisodeRecord) -> NDArray[np.bool_]:
    """Return which frames (k, 1) of the demonstration belong to a skill that failed on purpose or by disturbance."""
    wrong = np.zeros(record.frames, bool)
    for span in record.timeline:
        if span.kind == "mistake":
            wrong[span.start : span.end] = True
    return wrong[record.kept][:, None]


def _movable(scene: Scene) -> list[str]:
    return [obj.name for obj in scene.instance.objects if not obj.fixed and obj.solid and "distractor" not in obj.name]


def _replayed(scene: Scene, record: EpisodeRecord) -> tuple[Array, Array, Array]:
    """Return joint velocities (k, nv), efforts (k, nv) and object poses (k, objects, 7) before each kept frame."""
    world, names = scene.world, _movable(scene)
    velocity, effort = np.zeros((2, len(record.kept), world.model.nv))
    T = np.zeros((len(names), len(record.kept), 4, 4))
    for k, frame in enumerate(record.kept):
        mujoco.mj_setState(world.model, world.data, np.ascontiguousarray(record.states[frame]), STATE)
        # The controls of the frame act from its first step on.
        world.data.ctrl[:] = record.applied[frame, : world.model.nu]
        mujoco.mj_forward(world.model, world.data)
        velocity[k], effort[k] = world.data.qvel, world.data.qfrc_actuator
        for n, name in enumerate(names):
            T[n, k] = scene.object_pose(name)
    poses = [pose7(T[n]) for n in range(len(names))]
    return velocity, effort, np.stack(poses, axis=1) if poses else np.zeros((len(record.kept), 0, 7))


def _robot(
    scene: Scene, robot: SceneRobot, series: RobotSeries, velocity: Array, effort: Array, record: EpisodeRecord
) -> Iterator[tuple[str, tuple[str, ...], Array]]:
    pairs = list(zip(robot.arms, series.arms, strict=True))
    joints = tuple(f"{_prefix(robot, arm)}{joint}" for arm, _ in pairs for joint in arm.spec.joint_names)
    dofs = [scene.world.dof_index(joint) for arm, _ in pairs for joint in arm.joint_names]
    yield "observation.velocity", joints, velocity[:, dofs]
    yield "observation.effort", joints, effort[:, dofs]
    pose_names = tuple(f"{_prefix(robot, arm)}{name}" for arm, _ in pairs for name in POSE_NAMES)
    yield "observation.tcp_pose.base", pose_names, np.concatenate([pose7(s.T_armbase_tcp) for _, s in pairs], axis=1)
    after = [np.concatenate([s.T_armbase_ee[1:], s.T_armbase_ee[-1:]]) for _, s in pairs]
    yield "action.ee_pose.base", pose_names, np.concatenate([pose7(T) for T in after], axis=1)
    step_names = tuple(f"{_prefix(robot, arm)}{name}" for arm, _ in pairs for name in STEP_NAMES)
    steps = [_step(s.T_armbase_ee, T) for (_, s), T in zip(pairs, after, strict=True)]
    yield "action.ee_delta", step_names, np.concatenate(steps, axis=1)
    others = _other_joints(scene, robot)
    if others:
        places = [scene.world.qpos_index(f"{robot.name}/{joint}") for joint in others]
        start = mujoco.mj_stateSize(scene.world.model, mujoco.mjtState.mjSTATE_TIME)
        yield "observation.body_joints", tuple(others), record.states[record.kept][:, [start + p for p in places]]


def _step(T: Array, T_after: Array) -> Array:
    """Return the steps (k, 6) of the end effector in its own frame: translation [m] and rotation vector [rad]."""
    change = invert_pose(T) @ T_after
    return np.concatenate([change[:, :3, 3], rotvec_from_matrix(change[:, :3, :3])], axis=1)


def _other_joints(scene: Scene, robot: SceneRobot) -> list[str]:
    """Return the driven joints that belong to no arm and no gripper: lift, torso, head, base."""
    model, prefix = scene.world.model, f"{robot.name}/"
    own = {
        name for arm in robot.arms for name in (*arm.joint_names, *(prefix + g for g in arm.spec.gripper_joint_names))
    }
    driven = {int(model.actuator_trnid[a, 0]) for a in range(model.nu) if model.actuator_trntype[a] == JOINT}
    names = [model.joint(j).name for j in sorted(driven)]
    return [name.removeprefix(prefix) for name in names if name.startswith(prefix) and name not in own]


JOINT = int(mujoco.mjtTrn.mjTRN_JOINT)


def _prefix(robot: SceneRobot, arm: SceneArm) -> str:
    return f"{arm.name}_" if len(robot.arms) > 1 else ""


def _outcome(record: EpisodeRecord) -> list[tuple[str, tuple[str, ...], NDArray[Any], str]]:
    """Return reward, done and success after each frame: 1 at the last frame of a demonstration that succeeded."""
    last = np.zeros((len(record.kept), 1), bool)
    last[-1:] = True
    success = last & record.success
    return [
        ("next.reward", ("reward",), success.astype(np.float32), "float32"),
        ("next.done", ("done",), last, "bool"),
        ("next.success", ("success",), success, "bool"),
    ]
