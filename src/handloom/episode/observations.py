"""The columns of a dataset, as a pure function of a recorded episode."""

from collections.abc import Mapping
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.dataset import Feature, FeatureTable, column_feature, video_feature
from handloom.motion.kinematics import Chain
from handloom.scene import Scene, SceneArm
from handloom.spatial import pos_quat_from_pose
from handloom.values import CameraSpec, EpisodeRecord

Array = NDArray[np.float64]

IMAGES = "observation.images."
"""Start of every camera's feature name."""
POSE = ("x", "y", "z", "qw", "qx", "qy", "qz")


@dataclass(frozen=True, eq=False)
class ArmColumns:
    """Where an arm's numbers are found in states and inputs, and what they are called."""

    arm: SceneArm
    label: str
    """Start of the entry names: empty for the only arm of the only robot."""
    chain: Chain

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the entries: joints, then the gripper's drive joints."""
        joints = (*self.arm.arm.joint_names, *self.arm.arm.gripper_joint_names)
        return tuple(f"{self.label}{name}" for name in joints)


def arm_columns(scene: Scene) -> tuple[ArmColumns, ...]:
    """Return the arms of a scene in the order of the dataset's columns."""
    arms = [arm for robot in scene.robots.values() for arm in robot.arms]
    several_robots = len(scene.robots) > 1
    return tuple(
        ArmColumns(
            arm=arm,
            label=(f"{arm.robot_name}." if several_robots else "") + (f"{arm.name}." if len(arms) > 1 else ""),
            chain=Chain.from_model(
                scene.world.model,
                tip=arm.ee_body,
                base=arm.base_body,
                joints=arm.joint_names,
                qpos=scene.world.data.qpos,
            ),
        )
        for arm in arms
    )


def feature_table(scene: Scene, *, video: bool, codec: str = "h264") -> FeatureTable:
    """Return what every frame of this scene's dataset holds.

    ``observation.state`` and ``action`` have the same entries: joint positions of each arm and its gripper's drive,
    measured and commanded [m or rad]. Poses are position [m] and quaternion wxyz of each end effector.
    """
    arms = arm_columns(scene)
    entries = [name for arm in arms for name in arm.names]
    poses = [f"{arm.label}{part}" for arm in arms for part in POSE]
    features: list[Feature] = [
        column_feature("observation.state", entries),
        column_feature("action", entries),
        column_feature("observation.ee_pose_base", poses),
        column_feature("observation.ee_pose_world", poses),
    ]
    if video:
        features += [
            video_feature(IMAGES + camera.name, height=camera.height, width=camera.width, codec=codec)
            for camera in scene.instance.cameras
        ]
    return FeatureTable(fps=scene.instance.fps, features=tuple(features))


def frame_columns(scene: Scene, record: EpisodeRecord) -> Mapping[str, Array]:
    """Return the values (frames, n) of every column: the observation before each frame, the command during it."""
    arms = arm_columns(scene)
    qpos = recorded_qpos(scene, record)[:-1]
    controls = record.applied[:, : scene.world.model.nu]
    state, action, in_base, in_world = [], [], [], []
    for columns in arms:
        arm = columns.arm
        state += [qpos[:, arm.qpos_index], qpos[:, arm.gripper_qpos_index]]
        action += [controls[:, arm.ctrl_index], controls[:, arm.gripper_ctrl_index]]
        T_base_ee = columns.chain.T_base_tip(qpos[:, arm.qpos_index], threads=1)
        in_base.append(np.concatenate(pos_quat_from_pose(T_base_ee), axis=1))
        in_world.append(np.concatenate(pos_quat_from_pose(arm.T_world_base @ T_base_ee), axis=1))
    return {
        "observation.state": np.concatenate(state, axis=1),
        "action": np.concatenate(action, axis=1),
        "observation.ee_pose_base": np.concatenate(in_base, axis=1),
        "observation.ee_pose_world": np.concatenate(in_world, axis=1),
    }


def recorded_qpos(scene: Scene, record: EpisodeRecord) -> Array:
    """Return the positions (frames + 1, nq) inside the recorded integration states."""
    model = scene.world.model
    # MuJoCo stores a state as its parts in the order of their bits: time comes first, then positions.
    start = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_TIME)
    return record.states[:, start : start + model.nq]


def camera_features(cameras: tuple[CameraSpec, ...]) -> dict[str, str]:
    """Return camera name > feature name."""
    return {camera.name: IMAGES + camera.name for camera in cameras}
