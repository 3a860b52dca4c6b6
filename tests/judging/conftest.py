"""Scenes of a few things on a table, put where a test wants them."""

from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np
import pytest

from handloom.scene import Scene, build_scene
from handloom.tasks import load_task, sample_task
from handloom.values import TaskInstance

TASK = """
base: setups/fr3.yaml
objects: [{objects}]
regions: [{regions}]
skills: [home]
"""
TABLE = 0.75
"""Height of the table top in these scenes [m]."""

Make = Callable[..., Scene]


@pytest.fixture
def table(tmp_path: Path) -> Make:
    """Return a function that makes a scene with things by name > keys of their lines."""

    def make(**things: str) -> Scene:
        objects = ", ".join(f"{{name: {name}, {keys}}}" for name, keys in things.items())
        spots = "{{object: {0}, target: table, random_config: {{pos_range: [[{1}, 0.3, 0], [{1}, 0.3, 0]]}}}}"
        regions = ", ".join(spots.format(name, -0.4 + 0.35 * k) for k, name in enumerate(things))
        (file := tmp_path / "task.yaml").write_text(TASK.format(objects=objects, regions=regions))
        return build_scene(sample_task(load_task(file), 0, 0))

    return make


def put(scene: Scene, name: str, position, quat=(1.0, 0.0, 0.0, 0.0), *, settle: float = 0.0) -> None:
    """Put an object at a place (3,) [m], at rest, and let time pass [s]."""
    world = scene.world
    joint = world.model.body_jntadr[world.body_index(scene.body_of(name))]
    start, dof = world.model.jnt_qposadr[joint], world.model.jnt_dofadr[joint]
    world.data.qpos[start : start + 3] = position
    world.data.qpos[start + 3 : start + 7] = np.array(quat) / np.linalg.norm(quat)
    world.data.qvel[dof : dof + 6] = 0.0
    mujoco.mj_forward(world.model, world.data)
    world.invalidate()
    if settle:
        world.step(round(settle / world.timestep))


@pytest.fixture(scope="session")
def plate_instance() -> TaskInstance:
    """Return one sampled scene of fr3_pick_place."""
    return sample_task(load_task("fr3_pick_place"), 0, 1)
