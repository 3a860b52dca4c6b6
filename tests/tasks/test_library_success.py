"""Every task of the library succeeds on at least 95 % of 50 seeds."""

import pytest

from handloom.episode import run_episode
from handloom.scene import build_scene
from handloom.seeding import generator
from handloom.skills import Schedule
from handloom.tasks import load_task, sample_task
from handloom.tasks.loading import library


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(library()))
def test_a_task_of_the_library_succeeds(name: str) -> None:
    task = load_task(name)
    reasons = []
    for episode in range(50):
        scene = build_scene(sample_task(task, 0, episode))
        record = run_episode(scene, Schedule(scene, task.config.skills, generator(0, episode, "skills")))
        reasons += [str(record.failure)] if record.failure else []
    assert len(reasons) <= 2, reasons
