"""A small scene with a Franka FR3, a cube and a plate, and a way to run skills in it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from handloom.episode import run_episode
from handloom.scene import Scene, build_scene
from handloom.skills import Schedule
from handloom.skills.configs import SKILL_CONFIGS, skill_name
from handloom.tasks import load_task, sample_task
from handloom.values import EpisodeRecord, TaskInstance

RunSkills = Callable[..., tuple[Scene, EpisodeRecord]]

FRANKA = {"name": "franka", "robot_config_file": "fr3", "euler": [0, 0, 90], "ignore_substring": ["floor", "wall"],
          "left_joint_home": [0.0, -0.143, 0.0, -2.435, 0.0, 2.235, 0.789]}  # fmt: skip


def thing(name: str, category: str, at: tuple[float, float], *, yaw: float = 0.0, **keys: Any) -> dict[str, Any]:
    """Return an object of the library at a place on the table [m], turned by ``yaw`` [deg]."""
    return {"name": name, "target_class": "RigidObject", "category": category, "at": at, "yaw": yaw, **keys}


def table_instance(folder: Path, *things: dict[str, Any], robot: dict[str, Any] | None = None) -> TaskInstance:
    """Return a scene with a robot at the table and things at given places on it."""
    robot = robot or FRANKA
    places = [(robot["name"], (0.0, -0.42), 0.0), *((t["name"], t.pop("at"), t.pop("yaw")) for t in things)]
    regions = [
        {
            "object": name,
            "target": "table",
            "random_config": {"pos_range": [[*at, 0], [*at, 0]], "yaw_rotation": [yaw, yaw]},
        }
        for name, at, yaw in places
    ]
    task = {
        "name": "on_the_table", "arena_file": "arenas/table.yaml", "robots": [robot], "objects": list(things),
        "regions": regions, "data": {"language_instruction": "Do it.", "max_episode_length": 1200},
        "skills": [{robot["name"]: [{"left": [{"name": "home"}]}]}],
    }  # fmt: skip
    file = folder / "task.yaml"
    file.write_text(yaml.safe_dump({"tasks": [task]}))
    return sample_task(load_task(file), 0, 0)


def run_with(instance: TaskInstance, *skills: dict[str, Any], seed: int = 0) -> tuple[Scene, EpisodeRecord]:
    """Run skills, given as keyword mappings, with the left arm of the first robot."""
    configs = tuple(SKILL_CONFIGS[skill_name(s["name"])].model_validate(s) for s in skills)
    scene = build_scene(instance)
    stages = [{instance.robots[0].name: [{"left": configs}]}]
    return scene, run_episode(scene, Schedule(scene, stages, np.random.default_rng(seed)))


@pytest.fixture(scope="session")
def plate_instance() -> TaskInstance:
    """Return one sampled scene of fr3_pick_place."""
    return sample_task(load_task("fr3_pick_place"), 0, 1)


@pytest.fixture
def run_skills(plate_instance: TaskInstance) -> RunSkills:
    """Return a function that runs skills, given as keyword mappings, with the Franka's arm."""

    def run(*skills: dict[str, Any]) -> tuple[Scene, EpisodeRecord]:
        return run_with(plate_instance, *skills)

    return run
