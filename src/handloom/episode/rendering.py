"""Pictures of a recorded episode: a pure function of its states."""

from collections.abc import Iterator, Sequence

import mujoco
import numpy as np

from handloom.render import Images, Renderer
from handloom.scene import Scene
from handloom.values import EpisodeRecord

STATE = mujoco.mjtState.mjSTATE_INTEGRATION


def rendered_frames(
    scene: Scene, record: EpisodeRecord, *, preset: str, kinds: Sequence[str] = ("rgb",)
) -> Iterator[Images]:
    """Yield the images of the observation of every frame of the demonstration, by camera name and kind.

    Args:
        scene: The scene of the record's instance; its state is overwritten.
        record: What happened.
        preset: How much work goes into a picture: fast, balanced or quality.
        kinds: Which images of each camera.
    """
    world, cameras = scene.world, record.instance.cameras
    renderer = Renderer(world.model, preset)
    for state in record.states[record.kept]:
        mujoco.mj_setState(world.model, world.data, np.ascontiguousarray(state), STATE)
        mujoco.mj_kinematics(world.model, world.data)
        mujoco.mj_camlight(world.model, world.data)
        yield renderer.render(world.data, cameras, kinds)
