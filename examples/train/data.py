"""Turns a Handloom dataset into training arrays, one file per episode.

    python data.py RUN/dataset prepared --pictures draw --size 128

Columns come from the dataset, which has the LeRobot v3 layout. Images come from its videos, or are rendered again
at another size from the recorded states (``draw``): an image is a pure function of the state. True poses of
objects and of their moving parts also come from the recorded states. Any single-robot task works: one or two
arms, with or without a driving base.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import mujoco
import numpy as np
import tyro
from numpy.typing import NDArray
from PIL import Image

from handloom.dataset import DatasetReader, record_of_archive
from handloom.engine import ProcessExecutor
from handloom.episode.observer import chosen_cameras, observed_bodies
from handloom.labels.entities import Entities
from handloom.labels.motion import motion_of
from handloom.labels.surfaces import Surfaces
from handloom.labels.words.things import SceneFacts
from handloom.labels.words.wordings import wordings
from handloom.motion.kinematics import Chain
from handloom.render import Renderer
from handloom.scene import Scene, SceneArm, build_scene
from handloom.spatial import invert_pose, pose_from_pos_quat
from handloom.values import EpisodeRecord

Array = NDArray[np.float64]
STRIDE = 3
"""Frames between two steps of the policy: 10 Hz for a dataset of 30 frames per second."""


@dataclass(frozen=True)
class Preparation:
    """How episodes are prepared."""

    dataset: str
    out: str
    pictures: str
    size: int
    cameras: tuple[str, ...]
    backend: str
    wordings: bool


def prepare(
    dataset: tyro.conf.Positional[Path],
    out: tyro.conf.Positional[Path],
    *,
    pictures: str = "draw",
    size: int = 128,
    cameras: tuple[str, ...] = (),
    episodes: int | None = None,
    workers: int = 2,
    backend: str = "cpu",
    wordings: bool = False,
) -> None:
    """Prepare the episodes of a dataset.

    Args:
        dataset: The dataset.
        out: Folder of the prepared files.
        pictures: video, draw or none.
        size: Width and height of the images [px].
        cameras: Names of the cameras; all of them if none are given.
        episodes: Number of episodes; all by default.
        workers: Processes.
        backend: Renderer: cpu or cuda.
        wordings: Also write the episode's instruction in other words, for a policy that reads them.
    """
    out.mkdir(parents=True, exist_ok=True)
    how = Preparation(str(dataset), str(out), pictures, size, cameras, backend, wordings)
    count = len(DatasetReader(dataset).episodes)
    todo = [n for n in range(min(count, episodes or count)) if not (out / f"{n:06d}.npz").exists()]
    for finished in ProcessExecutor(workers).run(partial(prepare_episode, how), iter(todo)):
        if finished.crash:
            raise SystemExit(f"episode {finished.item}: {finished.crash}")


def prepare_episode(how: Preparation, number: int) -> None:
    """Write the arrays of one episode."""
    dataset = DatasetReader(Path(how.dataset))
    columns = dataset.frames(number)
    record = record_of_archive(dataset.archive(number, check=False))
    scene = build_scene(record.instance)
    if len(scene.robots) != 1:
        raise SystemExit(f"this example supports one robot, but the task has {', '.join(scene.robots)}")
    robot = next(iter(scene.robots.values()))
    action = columns["action"].astype(float)
    ends = np.cumsum([len(arm.joint_names) + 1 for arm in robot.arms])  # Joints and opening of each arm, then the base.
    measured = columns["observation.ee_pose.base"].astype(float).reshape(len(action), len(robot.arms), 7)
    # A different start offset per episode, so that many episodes cover all frames.
    frames = np.arange(number % STRIDE, len(action), STRIDE)
    names = handled_bodies(scene, record)
    asked_of = [asked(scene, arm, action, end) for arm, end in zip(robot.arms, ends, strict=True)]
    T_tool_tcp = np.array([arm.spec.T_tool_tcp for arm in robot.arms])
    arrays = {
        "T_base_tcp": pose_from_pos_quat(measured[..., :3], measured[..., 3:]) @ T_tool_tcp,
        "T_base_tcp_asked": np.stack(asked_of, axis=1),
        "opening": columns["observation.state"][:, ends - 1],
        "opening_asked": action[:, ends - 1],
        "twist_asked": action[:, ends[-1] :],
        "frames": frames,
        "objects": np.array(list(names), dtype=str),
        "T_base_object": body_poses(scene, record, frames, tuple(names.values())),
        "T_tool_tcp": T_tool_tcp,
        "opening_index": ends - 1,
        "state_size": columns["observation.state"].shape[1],
        "instructions": np.array(instructions(scene, record) if how.wordings else [record.instance.instruction]),
    }
    if how.pictures != "none":
        cameras = how.cameras or tuple(camera.name for camera in record.instance.cameras)
        arrays["cameras"] = np.array(cameras)
        arrays["pictures"] = (
            drawn(scene, record, frames, cameras, how.size, how.backend)
            if how.pictures == "draw"
            else from_video(dataset, number, frames, cameras, how.size)
        )
    part = Path(how.out) / f".{number:06d}.npz"
    np.savez(part, **arrays)
    part.rename(Path(how.out) / f"{number:06d}.npz")


def instructions(scene: Scene, record: EpisodeRecord) -> list[str]:
    """Return the instruction, and wordings of it that say exactly which objects are meant."""
    motion = motion_of(scene, record, contacts=True)
    facts = SceneFacts(motion, Entities(motion, Surfaces(scene)), 0)
    exact = [wording.text for wording in wordings(facts, record) if wording.style == "specific"]
    return [record.instance.instruction, *exact]


def asked(scene: Scene, arm: SceneArm, action: Array, end: int) -> Array:
    """Return the commanded pose of an arm's tool centre, in the arm's base (frames, 4, 4)."""
    chain = Chain.from_model(
        scene.world.model, arm.tool_body, arm.base_body, arm.joint_names, qpos=scene.world.data.qpos
    )
    return chain.T_base_tool(action[:, end - 1 - len(arm.joint_names) : end - 1], threads=1) @ arm.spec.T_tool_tcp


def handled_bodies(scene: Scene, record: EpisodeRecord) -> dict[str, str]:
    """Return the bodies of the objects named in the task's skills; clutter differs from scene to scene."""
    named = {name for span in record.timeline for name in span.objects}
    return {name: body for name, body in observed_bodies(scene).items() if name.split(".")[0] in named}


def body_poses(scene: Scene, record: EpisodeRecord, frames: Array, bodies: tuple[str, ...]) -> Array:
    """Return the poses of bodies in the base of each arm (frames, arms, bodies, 4, 4)."""
    arms = next(iter(scene.robots.values())).arms
    T = np.zeros((len(frames), len(arms), len(bodies), 4, 4))
    for row, _ in enumerate(states(scene, record, frames)):
        T_world = np.array([scene.world.body_pose(body) for body in bodies]).reshape(-1, 4, 4)
        for k, arm in enumerate(arms):
            T[row, k] = invert_pose(scene.world.body_pose(arm.base_body)) @ T_world
    return T


def drawn(
    scene: Scene, record: EpisodeRecord, frames: Array, cameras: tuple[str, ...], size: int, backend: str
) -> NDArray[np.uint8]:
    """Return images (frames, cameras, size, size, 3) rendered from the recorded states."""
    renderer = Renderer(scene.world.model, "balanced", looks=scene.looks, backend=backend)
    specs = chosen_cameras(record.instance.cameras, cameras, (size, size))
    drawings = renderer.render_each(states(scene, record, frames), specs)
    return np.array([[images["rgb"] for images in drawing.values()] for drawing in drawings])


def states(scene: Scene, record: EpisodeRecord, frames: Array) -> Iterator[mujoco.MjData]:
    """Set the scene to the state before each frame of the demonstration, in order."""
    model, data = scene.world.model, scene.world.data
    for state in record.states[record.kept[frames]]:
        mujoco.mj_setState(model, data, np.ascontiguousarray(state), mujoco.mjtState.mjSTATE_INTEGRATION)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_camlight(model, data)
        yield data


def from_video(
    dataset: DatasetReader, number: int, frames: Array, cameras: tuple[str, ...], size: int
) -> NDArray[np.uint8]:
    """Return images (frames, cameras, size, size, 3) from the videos of the dataset."""
    wanted, streams = set(frames.tolist()), []
    for camera in cameras:
        images = dataset.images(number, f"observation.images.{camera}")
        kept = [Image.fromarray(image) for frame, image in enumerate(images) if frame in wanted]
        streams.append([np.asarray(image.resize((size, size), Image.Resampling.BOX)) for image in kept])
    return np.stack([np.array(stream) for stream in streams], axis=1)


if __name__ == "__main__":
    tyro.cli(prepare)
