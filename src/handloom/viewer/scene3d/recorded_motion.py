"""The motion in a recorded episode, frame by frame, for the 3D view: bodies, hands, contacts, cameras, grasps."""

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.episode.columns import STATE, asked_controls
from handloom.episode.demonstration import tcp_chain
from handloom.errors import FileError
from handloom.grasping import GripperShape, grasps_for
from handloom.render.cameras import camera_body
from handloom.robots import tool_poses_of_grasps
from handloom.scene import Scene, SceneArm
from handloom.spatial import quat_from_matrix
from handloom.values import CameraSpec, EpisodeRecord, SkillSpan
from handloom.viewer.scene3d.container import Container
from handloom.viewer.scene3d.scene_geometry import body_poses

STILL = 1e-6
"""Bodies whose poses change by less than this over the whole episode are sent once [m, or quaternion]."""
MOST_CONTACTS = 48
"""Maximum number of contact points sent per frame; those with the largest forces."""
MOST_GRASPS = 60
"""Maximum number of grasps shown per object, best first."""
RESTING, GRIPPED, HIT = 0, 1, 2
"""Kinds of contact: between objects, a finger on an object, and any other contact of a robot."""


def recorded_motion(scene: Scene, record: EpisodeRecord) -> bytes:
    """Return the motion of an episode's demonstration as one file; frame k matches the images.

    Args:
        scene: The scene of the record's instance; its state is overwritten.
        record: The recorded episode.

    Raises:
        FileError: The states do not match the scene.
    """
    world = scene.world
    if record.states.shape[1:] != world.save_state().shape:
        raise FileError(
            "its states do not match the scene of its instance: it was recorded by another version of Handloom or with "
            "another robot folder, so it cannot be shown in 3D"
        )
    states, container = record.states[record.kept], Container()
    poses = np.zeros((len(states), world.model.nbody, 7), np.float32)
    arms = [arm for robot in scene.robots.values() for arm in robot.arms]
    tips, bases = np.zeros((len(arms), len(states), 3)), np.zeros((len(arms), len(states), 4, 4))
    contacts = _Contacts(scene)
    for k, state in enumerate(states):
        mujoco.mj_setState(world.model, world.data, np.ascontiguousarray(state), STATE)
        mujoco.mj_forward(world.model, world.data)
        poses[k] = body_poses(world.data)
        contacts.look()
        for i, arm in enumerate(arms):
            tips[i, k] = world.data.site(arm.prefix + arm.spec.tcp_site).xpos
            bases[i, k] = arm.T_world_base
    asked = asked_controls(scene, record)[record.kept]
    header = {
        "version": 1,
        "fps": record.instance.fps,
        "frames": len(states),
        **moving_poses(container, poses),
        "cameras": [camera_entry(world.model, camera) for camera in record.instance.cameras],
        "tools": [
            _tool(container, scene, arm, tips[i], bases[i], asked[:, arm.ctrl_index]) for i, arm in enumerate(arms)
        ],
        "contacts": contacts.written(container),
        "grasps": [entry for span in record.timeline for entry in _grasps(container, scene, span, record)],
    }
    return container.packed(header)


def moving_poses(container: Container, poses: NDArray[np.float32]) -> dict[str, Any]:
    """Write poses (frames, bodies, 7); those of static bodies only once.

    Returns:
        ``moving``: numbers of the bodies whose poses are in ``poses`` (frames, moving, 7), and ``resting`` (bodies, 7):
        the poses of all bodies in the first frame. Each pose is x, y, z [m] and w, x, y, z.
    """
    moves = np.any(np.ptp(poses, axis=0) > STILL, axis=1) if len(poses) else np.zeros(poses.shape[1], bool)
    return {
        "moving": np.flatnonzero(moves).tolist(),
        "poses": container.add(poses[:, moves]),
        "resting": container.add(poses[0] if len(poses) else np.zeros((poses.shape[1], 7), np.float32)),
    }


def camera_entry(model: mujoco.MjModel, camera: CameraSpec) -> dict[str, Any]:
    """Return a camera for the view: intrinsics [px], parent body, pose in the parent (OpenCV axes, wxyz)."""
    return {
        "name": camera.name,
        "width": camera.width,
        "height": camera.height,
        "focal": [camera.fx, camera.fy],
        "center": [camera.cx, camera.cy],
        "near": camera.near,
        "body": camera_body(model, camera),
        "position": list(camera.position),
        "quat": list(camera.quat),
    }


def _tool(container: Container, scene: Scene, arm: SceneArm, tips: Array, bases: Array, asked: Array) -> dict[str, Any]:
    """Return the path of a tool, executed and commanded."""
    T_world_tip = bases @ tcp_chain(scene, arm).T_base_tool(asked, threads=1)
    return {
        "robot": arm.robot_name,
        "arm": arm.name,
        "executed": container.add(tips.astype(np.float32)),
        "planned": container.add(T_world_tip[:, :3, 3].astype(np.float32)),
    }


class _Contacts:
    """Collects the contact points frame by frame."""

    def __init__(self, scene: Scene) -> None:
        self._world = scene.world
        model = scene.world.model
        names = [model.body(int(body)).name for body in model.geom_bodyid]
        robots = tuple(f"{name}/" for name in scene.robots)
        fingers = {body for robot in scene.robots.values() for arm in robot.arms for body in arm.finger_bodies}
        fixed = np.array([int(model.body_weldid[body]) == 0 for body in model.geom_bodyid])
        self._grain = np.array([name.startswith("fluid/") for name in names])
        self._robot = np.array([name.startswith(robots) for name in names])
        self._finger = np.array([name in fingers for name in names])
        self._loose = ~fixed & ~self._robot & ~self._grain
        self._starts, self._points, self._forces = [0], list[Array](), list[Array]()
        self._kinds = list[NDArray[np.uint8]]()

    def look(self) -> None:
        """Record contacts of the current state, except between grains."""
        model, data = self._world.model, self._world.data
        contact, wrench = data.contact, np.zeros(6)
        geoms = contact.geom.reshape(-1, 2)
        pressing = np.flatnonzero((contact.efc_address >= 0) & np.all(geoms >= 0, axis=1))
        pressing = pressing[~np.any(self._grain[geoms[pressing]], axis=1)]
        forces = np.zeros((len(pressing), 3))
        for row, index in enumerate(pressing):
            mujoco.mj_contactForce(model, data, int(index), wrench)
            forces[row] = wrench[:3] @ contact.frame[index].reshape(3, 3)
        strongest = np.argsort(-np.linalg.norm(forces, axis=1), kind="stable")[:MOST_CONTACTS]
        kept = pressing[strongest]
        first, second = geoms[kept].T
        touched = self._robot[first] | self._robot[second]
        gripped = (self._finger[first] & self._loose[second]) | (self._finger[second] & self._loose[first])
        self._points.append(contact.pos[kept])
        self._forces.append(forces[strongest])
        self._kinds.append(np.where(gripped, GRIPPED, np.where(touched, HIT, RESTING)).astype(np.uint8))
        self._starts.append(self._starts[-1] + len(kept))

    def written(self, container: Container) -> dict[str, Any]:
        """Return the points (n, 3) [m], forces (n, 3) [N] and kinds (n,), and each frame's start (frames + 1)."""
        return {
            "starts": container.add(np.array(self._starts, np.uint32)),
            "points": container.add(np.concatenate([np.zeros((0, 3)), *self._points]).astype(np.float32)),
            "forces": container.add(np.concatenate([np.zeros((0, 3)), *self._forces]).astype(np.float32)),
            "kinds": container.add(np.concatenate([np.zeros(0, np.uint8), *self._kinds])),
        }


def hand_entry(container: Container, T: Array, arm: SceneArm, **facts: Any) -> dict[str, Any]:
    """Return hand poses T (n, 4, 4) in some frame, with the data for drawing a small fork at each."""
    spec = arm.spec
    return {
        **facts,
        "robot": arm.robot_name,
        "arm": arm.name,
        "poses": container.add(
            np.concatenate([T[:, :3, 3], quat_from_matrix(T[:, :3, :3])], axis=1).astype(np.float32)
        ),
        "approach": np.asarray(spec.approach, float).tolist(),
        "closing": np.asarray(spec.R_ee_graspnet[:, 1], float).tolist(),
        "tip": spec.T_tool_tcp[:3, 3].tolist(),
        "opening": float(spec.gripper_max_width or 0.0),
    }


def _grasps(container: Container, scene: Scene, span: SkillSpan, record: EpisodeRecord) -> Sequence[dict[str, Any]]:
    """Return the best known grasps of a picked object, in the object's frame, and the one that was used."""
    if not span.skill.endswith("pick") or not span.objects or span.objects[0] not in scene.assets or not span.success:
        return ()
    arm, name, world = scene.robot(span.robot).arm(span.arm), span.objects[0], scene.world
    if arm.spec.suction is not None:
        return ()
    rows = grasps_for(scene.assets[name], GripperShape.of(scene.robot(span.robot).description, arm.spec))
    if len(rows) == 0:
        return ()
    T_object_tool, score = tool_poses_of_grasps(arm.spec, rows)
    best = np.argsort(score, kind="stable")[:MOST_GRASPS]
    world.restore_state(record.states[span.end])  # In the hand, as grasped.
    T_taken = np.linalg.inv(scene.object_pose(name)) @ world.body_pose(arm.tool_body)
    frames = np.searchsorted(record.kept, [span.start, span.end]).tolist()
    entry = hand_entry(
        container,
        np.concatenate([T_taken[None], T_object_tool[best]]),
        arm,
        body=world.body_index(scene.body_of(name)),
        object=name,
        frames=frames,
        taken=0,
    )
    return (entry,)
