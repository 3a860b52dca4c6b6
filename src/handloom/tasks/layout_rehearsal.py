"""The share of a task's scenes in which its objects find a place, found by sampling alone; a run fails in the rest."""

from typing import NamedTuple

from handloom.tasks.config.task import Task
from handloom.tasks.sampling.layouts.settling_world import SamplingError
from handloom.tasks.sampling.sample_task import sample_task

SCENES = 24
"""Number of scenes that are sampled."""
ENOUGH = 7
"""Scenes without a layout after which no more are sampled: more than a fifth of all fail."""


class Layouts(NamedTuple):
    """Sampled scenes of a task."""

    scenes: int
    """Number of scenes."""
    without: int
    """Number of those in which the objects find no place."""
    failed: SamplingError | None = None
    """Why, in the first of them."""

    def in_words(self) -> list[str]:
        """Return a line about the scenes without a layout; none if there is no such scene."""
        if self.failed is None:
            return []
        where, _, _ = str(self.failed).partition(f"{self.failed.failure.reason}: ")
        return [
            f"{where}in {self.without} of {self.scenes} scenes the objects find no place "
            f"({self.failed.failure.reason}): {self.failed.failure.detail}"
        ]


def sampled_layouts(task: Task, *, scenes: int = SCENES, seed: int = 0) -> Layouts:
    """Sample the first scenes of a task, without physics of the robot, and count those without a layout.

    Args:
        task: The task.
        scenes: Number of scenes.
        seed: Seed of the scenes.
    """
    without, failed = 0, None
    for episode in range(scenes):
        try:
            sample_task(task, seed, episode)
        except SamplingError as error:
            without, failed = without + 1, failed or error
            if without == ENOUGH:
                return Layouts(episode + 1, without, failed)
    return Layouts(scenes, without, failed)
