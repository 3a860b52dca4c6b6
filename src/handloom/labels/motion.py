"""The poses of everything in every frame of a demonstration, from one pass over the recorded states."""

from collections.abc import Iterator
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.episode.columns import robot_series
from handloom.render.cameras import camera_body
from handloom.scene import Scene, SceneArm
from handloom.values import CameraSpec, EpisodeRecord

STATE = mujoco.mjtState.mjSTATE_INTEGRATION


@dataclass(frozen=True, kw_only=True, eq=False)
class Contacts:
    """All contacts of an episode, one row each."""

    frame: NDArray[np.int64]
    """Frame (n,)."""
    geoms: NDArray[np.int64]
    """The two geoms (n, 2)."""
    position: Array
    """Point between the surfaces in the world (n, 3) [m]."""
    normal: Array
    """Unit vector in the world from the first geom to the second (n, 3)."""
    distance: Array
    """Distance of the surfaces (n,) [m]; negative where they overlap."""


@dataclass(frozen=True, kw_only=True, eq=False)
class EpisodeMotion:
    """The motion of a demonstration of k frames."""

    scene: Scene
    record: EpisodeRecord
    T_world_body: Array
    """Poses of all bodies (k, nbody, 4, 4)."""
    T_world_base: Array
    """Pose of the first robot's base (k, 4, 4); the frame that labels call base."""
    qpos: Array
    """Joint positions (k, nq)."""
    contacts: Contacts
    """Empty unless contacts were requested."""

    @property
    def frames(self) -> int:
        """Number of frames k."""
        return len(self.T_world_body)

    def T_world_camera(self, camera: CameraSpec) -> Array:  # noqa: N802 - frame notation
        """Return the poses (k, 4, 4) of a camera, OpenCV axes."""
        body = camera_body(self.scene.world.model, camera)
        return self.T_world_body[:, body] @ camera.T_parent_camera

    def T_world_tcp(self, arm: SceneArm) -> Array:  # noqa: N802 - frame notation
        """Return the poses (k, 4, 4) of an arm's tool centre, axes of the end effector."""
        return self.T_world_body[:, self.scene.world.body_index(arm.tool_body)] @ arm.spec.T_tool_tcp

    def arms(self) -> Iterator[tuple[str, SceneArm]]:
        """Yield every arm with the name of its robot."""
        for name, robot in self.scene.robots.items():
            for arm in robot.arms:
                yield name, arm


def motion_of(scene: Scene, record: EpisodeRecord, *, contacts: bool = False) -> EpisodeMotion:
    """Return the motion of a recorded episode; the state of the scene is overwritten.

    Args:
        scene: The scene of the record's instance.
        record: The recorded episode.
        contacts: Also find contacts, which doubles the cost.
    """
    world = scene.world
    model, data = world.model, world.data
    kept = record.kept
    T = np.zeros((len(kept), model.nbody, 4, 4))
    T[..., 3, 3] = 1.0
    qpos = np.zeros((len(kept), model.nq))
    found: list[tuple[NDArray[np.int64], Array, Array, Array]] = []
    for k, frame in enumerate(kept):
        mujoco.mj_setState(model, data, np.ascontiguousarray(record.states[frame]), STATE)
        mujoco.mj_kinematics(model, data)
        T[k, :, :3, :3] = data.xmat.reshape(-1, 3, 3)
        T[k, :, :3, 3] = data.xpos
        qpos[k] = data.qpos
        if contacts:
            mujoco.mj_comPos(model, data)
            mujoco.mj_collision(model, data)
            touching = data.contact
            found.append(
                (
                    np.asarray(touching.geom, np.int64).reshape(-1, 2).copy(),
                    touching.pos.reshape(-1, 3).copy(),
                    touching.frame.reshape(-1, 9)[:, :3].copy(),
                    touching.dist.reshape(-1).copy(),
                )
            )
    world.restore_state(record.states[0])
    first = next(iter(robot_series(scene, record).values()), None)
    base = np.broadcast_to(np.eye(4), (len(kept), 4, 4)) if first is None else first.T_world_robot
    return EpisodeMotion(
        scene=scene, record=record, T_world_body=T, T_world_base=base, qpos=qpos, contacts=_joined_contacts(found)
    )


def _joined_contacts(found: list[tuple[NDArray[np.int64], Array, Array, Array]]) -> Contacts:
    if not found:
        return Contacts(
            frame=np.zeros(0, np.int64),
            geoms=np.zeros((0, 2), np.int64),
            position=np.zeros((0, 3)),
            normal=np.zeros((0, 3)),
            distance=np.zeros(0),
        )
    geoms, position, normal, distance = (np.concatenate(parts) for parts in zip(*found, strict=True))
    frame = np.repeat(np.arange(len(found)), [len(part[0]) for part in found])
    return Contacts(frame=frame, geoms=geoms, position=position, normal=normal, distance=distance)
