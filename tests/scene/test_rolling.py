"""Round objects that are pushed or set down on level ground come to rest, as in life."""

from dataclasses import replace

import numpy as np
import pytest

from handloom.engine.verification.resampled import _as_recorded
from handloom.scene import build_scene
from handloom.tasks import load_task, sample_task
from handloom.values import ROLLING_RESISTANCE

TASK = """
base: setups/fr3.yaml
objects: [{{name: thing, target_class: RigidObject, category: {category}{more}}}]
regions: [{{object: thing, target: table, random_config: {{pos_range: [[0.0, 0.0, 0], [0.1, 0.1, 0]]}}}}]
skills: [{{home: left}}]
"""


def instance_with(tmp_path, category: str, more: str = ""):
    (file := tmp_path / "task.yaml").write_text(TASK.format(category=category, more=more))
    return sample_task(load_task(file), 3, 0)


def rolls_on(instance, seconds: float = 2.0) -> float:
    """Return how far [m] the object goes in the second after it was pushed to 3 cm/s and given time."""
    scene = build_scene(instance)
    world = scene.world
    world.step(round(0.5 / world.timestep))
    dof = world.model.jnt_dofadr[world.model.body_jntadr[world.body_index(scene.body_of("thing"))]]
    world.data.qvel[dof] = 0.03
    world.invalidate()
    world.step(round(seconds / world.timestep))
    before = scene.object_pose("thing")[:3, 3].copy()
    world.step(round(1.0 / world.timestep))
    return float(np.linalg.norm(scene.object_pose("thing")[:3, 3] - before))


def rolling_friction(instance) -> set[float]:
    """Return the levers [m] of all geoms of the object whose contacts resist rolling."""
    model = build_scene(instance).world.model
    own = [g for g in range(model.ngeom) if model.body(model.geom_bodyid[g]).name.startswith("thing/")]
    return {float(model.geom_friction[g, 2]) for g in own if model.geom_condim[g] == 6}


@pytest.mark.parametrize("category", ["orange", "bread_roll", "tomato"])
def test_a_fruit_that_was_pushed_comes_to_rest(tmp_path, category):
    instance = instance_with(tmp_path, category)
    assert rolls_on(instance) < 0.001
    assert rolling_friction(instance) == {ROLLING_RESISTANCE}


def test_older_recordings_and_cubes_keep_the_friction_of_the_library(tmp_path):
    instance = instance_with(tmp_path, "orange")
    older = replace(instance, objects=tuple(replace(obj, rolling_resistance=None) for obj in instance.objects))
    assert rolling_friction(older) == {0.0005}
    assert rolling_friction(instance_with(tmp_path, "cube")) == set()


def test_what_starts_rolling_keeps_the_friction_of_the_library(tmp_path):
    plain = instance_with(tmp_path, "orange")
    rolling = instance_with(tmp_path, "orange", ", rolling_velocity: [[0.1, 0.2], [0.0, 0.0]]")
    of = {name: next(o for o in i.objects if o.name == "thing") for name, i in (("plain", plain), ("rolling", rolling))}
    assert of["plain"].rolling_resistance == ROLLING_RESISTANCE
    assert of["rolling"].rolling_resistance is None
    assert next(o for o in plain.objects if o.name == "table").rolling_resistance is None


def test_an_older_recording_is_compared_without_the_resistance_that_it_does_not_have():
    now = {"objects": [{"name": "a", "rolling_resistance": 0.0015}, {"name": "b"}]}
    old = {"objects": [{"name": "a"}, {"name": "b"}]}
    assert _as_recorded(now, old) == old
    assert _as_recorded(now, now) == now
