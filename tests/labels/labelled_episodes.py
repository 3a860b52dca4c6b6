"""Recorded episodes with all of their labels."""

from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

from handloom.engine.attempt import Stopwatch, simulate
from handloom.episode.columns import rendered_frames
from handloom.labels import EpisodeLabeller, EpisodeLabels
from handloom.scene import Scene
from handloom.tasks import load_task
from handloom.values import EpisodeRecord

STATE = mujoco.mjtState.mjSTATE_INTEGRATION


@dataclass(frozen=True)
class Labelled:
    """A recorded episode, its scene and its labels."""

    scene: Scene
    record: EpisodeRecord
    labels: EpisodeLabels

    def at(self, frame: int) -> tuple[mujoco.MjModel, mujoco.MjData]:
        """Put the scene into the state of a frame, by the whole forward computation."""
        world = self.scene.world
        state = np.ascontiguousarray(self.record.states[self.record.kept[frame]])
        mujoco.mj_setState(world.model, world.data, state, STATE)
        mujoco.mj_forward(world.model, world.data)
        return world.model, world.data

    @property
    def frames(self) -> list[int]:
        """A few frames of the episode."""
        return [int(k) for k in np.linspace(0, self.labels.frames - 1, 5)]


def labelled(task: str, seed: int, folder: Path, *overrides: str) -> Labelled:
    """Carry a task out and write all of its labels."""
    scene, record = simulate(load_task(task, overrides=overrides), seed, 0, Stopwatch())
    assert record.failure is None, record.failure
    labeller = EpisodeLabeller(scene, record, ("all",), folder)
    for number, images in enumerate(rendered_frames(scene, record, preset="fast", kinds=labeller.images)):
        labeller.add(number, images)
    labeller.finish()
    return Labelled(scene, record, EpisodeLabels(folder))
