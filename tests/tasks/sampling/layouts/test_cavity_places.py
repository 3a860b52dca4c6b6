"""Objects that start inside a drawer, a microwave or a basket: at rest, between the walls, and still there later."""

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from handloom.errors import ConfigError
from handloom.objects.geometry import vertices_of
from handloom.scene import Scene, build_scene
from handloom.tasks import SamplingError, load_task, sample_task

SCENES = 4


def task_file(folder: Path, inside: str, region: str, target: str = "{name: box, category: basket}") -> Path:
    file = folder / "start_inside.yaml"
    file.write_text(f"""
robot: fr3
objects:
  - {target}
  - {inside}
regions:
  - {region}
skills: [{{pick: soap}}]
""")
    return file


SOAP = "{name: soap, category: soap}"
DRAWERS = "{name: box, category: drawer_cabinet, parameters: {drawers: 2, handle: bar}}"
OPEN_DRAWERS = DRAWERS[:-1] + ", joint_position_range: [0.15, 0.2]}"


def geoms_box(scene: Scene, body: str) -> np.ndarray:
    """Return the box (2, 3) of a body's colliding geoms in the frame of the object ``box`` [m]."""
    model, data = scene.world.model, scene.world.data
    mujoco.mj_forward(model, data)
    solid = (model.geom_contype | model.geom_conaffinity) > 0
    mine = [g for g in range(model.ngeom) if solid[g] and model.body(model.geom_bodyid[g]).name == body]
    T = scene.object_pose("box")
    points = (np.concatenate([vertices_of(model, data, g) for g in mine]) - T[:3, 3]) @ T[:3, :3]
    return np.stack([points.min(axis=0), points.max(axis=0)])


@pytest.mark.parametrize(
    ("target", "region", "part"),
    [
        (DRAWERS, "{object: soap, in: box.drawer_1}", "drawer_1"),
        (DRAWERS, "{object: soap, in: {box: drawer_0}, yaw: [-20, 20]}", "drawer_0"),
        (OPEN_DRAWERS, "{object: soap, in: box.drawer_1}", "drawer_1"),
        (
            DRAWERS,
            "{object: soap, target: box, sub_tgt_prim: drawer_1, random_type: A_in_B_region_sampler}",
            "drawer_1",
        ),
        ("{name: box, category: microwave}", "{object: soap, in: box}", "object"),
        ("{name: box, category: lidded_box}", "{object: soap, in: box}", "object"),
        ("{name: box, category: basket}", "{object: soap, in: box}", "object"),
        ("{name: box, category: tray}", "{object: soap, in: box}", "object"),
        ("{name: box, category: fridge}", "{object: soap, in: box.level_1}", "object"),
    ],
)
def test_an_object_starts_between_the_walls_of_its_cavity_and_stays_there(tmp_path, target, region, part):
    task = load_task(task_file(tmp_path, SOAP, region, target))
    spots = []
    for episode in range(SCENES):
        instance = sample_task(task, seed=23, episode=episode)
        assert instance == sample_task(task, seed=23, episode=episode)
        # Without commands, a robot would sink into the scene.
        scene = build_scene(replace(instance, robots=(), cameras=()))
        for _ in range(2):
            soap, walls = geoms_box(scene, "soap/object"), geoms_box(scene, f"box/{part}")
            assert (soap[0] > walls[0] - 1e-3).all(), "within the walls, and on their floor"
            assert (soap[1] < walls[1] + 1e-3).all()
            spots.append(scene.object_pose("soap")[:3, 3])
            scene.world.step(500)
        assert np.linalg.norm(spots[-1] - spots[-2]) < 2e-3, "it is at rest"
    assert len({tuple(spot.round(3)) for spot in spots[::2]}) == SCENES


def test_in_a_closed_drawer_it_lies_where_pulling_the_drawer_brings_it_out_from_under_the_cabinet(tmp_path):
    task = load_task(task_file(tmp_path, SOAP, "{object: soap, in: box.drawer_1}", DRAWERS))
    for episode in range(SCENES):
        scene = build_scene(sample_task(task, seed=23, episode=episode))
        travel = float(scene.world.model.joint("box/drawer_1_joint").range[1])
        assert geoms_box(scene, "soap/object")[1, 1] - 0.6 * travel < geoms_box(scene, "box/object")[0, 1] + 1e-3


def test_a_place_counts_from_the_middle_of_the_cavity(tmp_path):
    for x in (-0.06, 0.06):
        region = f"{{object: soap, in: box.drawer_1, at: [{x}, 0.0], yaw: 0}}"
        scene = build_scene(sample_task(load_task(task_file(tmp_path, SOAP, region, DRAWERS)), seed=0, episode=0))
        soap, walls = geoms_box(scene, "soap/object"), geoms_box(scene, "box/drawer_1")
        assert soap.mean(axis=0)[0] - walls.mean(axis=0)[0] == pytest.approx(x, abs=5e-3)


@pytest.mark.parametrize(
    ("target", "region", "said"),
    [
        (DRAWERS, "{object: soap, in: box}", r"several cavities: drawer_0, drawer_1; .*in: box\.drawer_0"),
        (DRAWERS, "{object: soap, in: box.drawer_7}", r"no cavity 'drawer_7'; .*drawer_"),
        ("{name: box, category: cutting_board}", "{object: soap, in: box}", r"no cavity .* on: box"),
        (DRAWERS, "{object: soap, in: box.drawer_1, on: box}", "on or in, not both"),
        (
            DRAWERS,
            "{object: soap, target: box, sub_tgt_prim: nowhere, random_type: A_in_B_region_sampler}",
            "no cavity 'nowhere'",
        ),
    ],
)
def test_a_cavity_that_is_not_there_is_refused_with_what_to_write(tmp_path, target, region, said):
    with pytest.raises(ConfigError, match=said):
        sample_task(load_task(task_file(tmp_path, SOAP, region, target)), seed=0, episode=0)


@pytest.mark.parametrize(
    ("inside", "region", "said"),
    [
        (SOAP, "{object: soap, on: box.drawer_1}", r"to start it inside, write {object: soap, in: box\.drawer_1}"),
        ("{name: soap, category: bottle}", "{object: soap, in: box.drawer_1}", "take a smaller soap or a larger box"),
        (SOAP, "{object: soap, in: box.drawer_1, at: [0.5, 0.0]}", r"at counts from the middle of drawer_1 of box"),
    ],
)
def test_a_layout_that_cannot_be_is_refused_with_what_to_write(tmp_path, inside, region, said):
    with pytest.raises(SamplingError, match=said):
        sample_task(load_task(task_file(tmp_path, inside, region, DRAWERS)), seed=0, episode=0)
