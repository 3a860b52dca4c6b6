"""Turns a Handloom dataset into training arrays, one file per episode.

    python data.py RUN/dataset prepared --pictures draw --size 128

Columns come from the dataset, which has the LeRobot v3 layout. Pictures come from its videos, or are drawn anew at
another size from the recorded states (``draw``): a picture is a pure function of the state. True object poses come
from the recorded states, too.
"""

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
from handloom.episode.observer import chosen_cameras, movable_objects
from handloom.motion.kinematics import Chain
from handloom.render import Renderer
from handloom.scene import Scene, build_scene
from handloom.spatial import pose_from_pos_quat
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


def prepare(
    dataset: tyro.conf.Positional[Path],
    out: tyro.conf.Positional[Path],
    *,
    pictures: str = "draw",
    size: int = 128,
    cameras: tuple[str, ...] = (),
    episodes: int | None = None,
    workers: int = 2,
) -> None:
    """Prepare the episodes of a dataset.

    Args:
        dataset: The dataset.
        out: Folder of the prepared files.
        pictures: video, draw or none.
        size: Width and height of the pictures [px].
        cameras: Names of the cameras; none given: all of them.
        episodes: How many; all when not given.
        workers: Processes.
    """
    out.mkdir(parents=True, exist_ok=True)
    how = Preparation(str(dataset), str(out), pictures, size, cameras)
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
    arm = next(iter(scene.robots.values())).arms[0]
    model, start = scene.world.model, scene.world.data.qpos
    chain = Chain.from_model(model, arm.tool_body, arm.base_body, arm.joint_names, qpos=start)
    measured = columns["observation.ee_pose.base"].astype(float)
    action = columns["action"].astype(float)
    # Another place to begin in every episode: all frames are seen when there are many.
    frames = np.arange(number % STRIDE, len(action), STRIDE)
    arrays = {
        "T_base_tcp": pose_from_pos_quat(measured[:, :3], measured[:, 3:]) @ arm.spec.T_tool_tcp,
        "T_base_tcp_asked": chain.T_base_tool(action[:, :-1], threads=1) @ arm.spec.T_tool_tcp,
        "opening": columns["observation.state"][:, -1],
        "opening_asked": action[:, -1],
        "frames": frames,
        "objects": np.array(handled_objects(scene, record)),
        "T_base_object": np.linalg.inv(arm.T_world_base) @ object_poses(scene, record, frames),
        "T_tool_tcp": arm.spec.T_tool_tcp,
        "joints": len(arm.joint_names),
    }
    if how.pictures != "none":
        cameras = how.cameras or tuple(camera.name for camera in record.instance.cameras)
        arrays["cameras"] = np.array(cameras)
        arrays["pictures"] = (
            drawn(scene, record, frames, cameras, how.size)
            if how.pictures == "draw"
            else from_video(dataset, number, frames, cameras, how.size)
        )
    part = Path(how.out) / f".{number:06d}.npz"
    np.savez(part, **arrays)
    part.rename(Path(how.out) / f"{number:06d}.npz")


def handled_objects(scene: Scene, record: EpisodeRecord) -> tuple[str, ...]:
    """Return the movable objects that the task's skills name; those that only lie about differ from scene to scene."""
    named = {name for span in record.timeline for name in span.objects}
    return tuple(name for name in movable_objects(scene) if name in named)


def object_poses(scene: Scene, record: EpisodeRecord, frames: Array) -> Array:
    """Return T_world_object (frames, objects, 4, 4) of the handled objects."""
    names = handled_objects(scene, record)
    return np.array([[scene.object_pose(name) for name in names] for _ in states(scene, record, frames)])


def drawn(scene: Scene, record: EpisodeRecord, frames: Array, cameras: tuple[str, ...], size: int) -> NDArray[np.uint8]:
    """Return pictures (frames, cameras, size, size, 3) drawn from the recorded states."""
    renderer = Renderer(scene.world.model, "balanced")
    specs = chosen_cameras(record.instance.cameras, cameras, (size, size))
    return np.array(
        [
            [images["rgb"] for images in renderer.render(scene.world.data, specs).values()]
            for _ in states(scene, record, frames)
        ]
    )


def states(scene: Scene, record: EpisodeRecord, frames: Array):
    """Put the scene into the state before each frame of the demonstration, one after the other."""
    model, data = scene.world.model, scene.world.data
    for state in record.states[record.kept[frames]]:
        mujoco.mj_setState(model, data, np.ascontiguousarray(state), mujoco.mjtState.mjSTATE_INTEGRATION)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_camlight(model, data)
        yield


def from_video(
    dataset: DatasetReader, number: int, frames: Array, cameras: tuple[str, ...], size: int
) -> NDArray[np.uint8]:
    """Return pictures (frames, cameras, size, size, 3) from the videos of the dataset."""
    wanted, streams = set(frames.tolist()), []
    for camera in cameras:
        images = dataset.images(number, f"observation.images.{camera}")
        kept = [Image.fromarray(image) for frame, image in enumerate(images) if frame in wanted]
        streams.append([np.asarray(image.resize((size, size), Image.Resampling.BOX)) for image in kept])
    return np.stack([np.array(stream) for stream in streams], axis=1)


if __name__ == "__main__":
    tyro.cli(prepare)
