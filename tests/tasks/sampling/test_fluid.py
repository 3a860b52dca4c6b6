"""Grains lie in their container and stay there."""

import numpy as np
import pytest
from task_files import region, thing

from handloom.scene import build_scene
from handloom.tasks import SamplingError, sample_task


def fluid_task(make, container="cup", **keys):
    return make(
        objects=[thing("vessel", container)],
        regions=[region("vessel")],
        fluid={"container_name": "vessel", "numParticlesX": 5, "numParticlesY": 5, "numParticlesZ": 20, **keys},
    )


@pytest.mark.parametrize("container", ["cup", "bowl"])
def test_grains_start_at_rest_in_the_container_and_stay(make, container):
    instance = sample_task(fluid_task(make, container), 0, 0)
    scene = build_scene(instance)
    start = scene.grain_positions()
    assert len(start) == len(instance.fluid.positions) > 10
    scene.world.step(round(1.0 / instance.timestep))
    now = scene.grain_positions()
    middle, size = scene.object_pose("vessel")[:3, 3], scene.assets["vessel"].extent
    assert np.all(np.hypot(*(now - middle)[:, :2].T) < size[0] / 2)
    assert np.all(now[:, 2] > middle[2] - size[2] / 2)
    assert np.linalg.norm(now - start, axis=1).mean() < 0.003
    assert max(np.abs(scene.world.data.qvel[-3 * len(start) :])) < 0.2


def test_radius_mass_and_number_are_those_of_the_task(make):
    instance = sample_task(fluid_task(make, particleContactOffset=0.008, mass=0.002), 0, 0)
    scene = build_scene(instance)
    body = scene.world.body_index("fluid/0")
    assert scene.world.model.body_mass[body] == pytest.approx(0.002)
    assert scene.world.model.geom_size[scene.world.model.body_geomadr[body], 0] == pytest.approx(0.008)
    few = sample_task(fluid_task(make, numParticlesX=2, numParticlesY=2, numParticlesZ=2), 0, 0)
    assert 0 < len(few.fluid.positions) <= 8
    heavy = sample_task(fluid_task(make, density=2000.0), 0, 0).fluid
    assert heavy.mass == pytest.approx(2000.0 * 4 / 3 * np.pi * heavy.radius**3)


def test_robots_do_not_plan_around_grains(make):
    assert "fluid" in sample_task(fluid_task(make), 0, 0).robots[0].ignore_obstacles


def test_grains_that_do_not_fit_are_an_error(make):
    with pytest.raises(SamplingError, match=r"no grain of radius 40.0 mm fits into vessel"):
        sample_task(fluid_task(make, particleContactOffset=0.04), 0, 0)
