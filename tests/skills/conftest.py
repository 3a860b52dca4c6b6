"""A small scene with a Franka FR3, a cube and a plate, and a way to run skills in it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from handloom.episode import run_episode
from handloom.scene import Scene, build_scene
from handloom.skills import Schedule
from handloom.skills.configs import SKILL_CONFIGS, skill_name
from handloom.tasks import load_task, sample_task
from handloom.values import EpisodeRecord, TaskInstance

RunSkills = Callable[..., tuple[Scene, EpisodeRecord]]


@pytest.fixture(scope="session")
def plate_instance() -> TaskInstance:
    """Return one sampled scene of fr3_pick_place."""
    return sample_task(load_task("fr3_pick_place"), 0, 1)


@pytest.fixture
def run_skills(plate_instance: TaskInstance) -> RunSkills:
    """Return a function that runs skills, given as keyword mappings, with the Franka's arm."""

    def run(*skills: dict[str, Any]) -> tuple[Scene, EpisodeRecord]:
        configs = tuple(SKILL_CONFIGS[skill_name(s["name"])].model_validate(s) for s in skills)
        scene = build_scene(plate_instance)
        schedule = Schedule(scene, [{"franka": [{"left": configs}]}], np.random.default_rng(0))
        return scene, run_episode(scene, schedule)

    return run
