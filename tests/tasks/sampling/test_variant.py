"""The randomized variant widens what a policy should not care about, in every task."""

from functools import cache

import numpy as np
import pytest
from task_files import region, thing

from handloom.render.materials import MATERIALS
from handloom.render.textures import TEXTURES
from handloom.scene import build_scene
from handloom.tasks import library, load_task, sample_task
from handloom.tasks.sampling.variant import FLOORS, TABLES, WALLS
from handloom.values import TaskInstance
from spread import every


def sampled(name: str, episodes: int, variant: str = "randomized"):
    return [scene_of(name, episode, variant) for episode in range(episodes)]


@cache
def scene_of(name: str, episode: int, variant: str):
    return sample_task(load_task(name, overrides=[f"data.variant={variant}"]), 3, episode)


def test_scenes_vary_in_category_clutter_mass_friction_room_light_start_and_table():
    scenes = sampled("fr3_pick_place", 24)
    objects = [{obj.name: obj for obj in scene.objects} for scene in scenes]
    assert len({o["cube"].category for o in objects}) >= 3
    assert len({o["plate"].category for o in objects}) >= 2
    assert len({len([name for name in o if name.startswith("distractor")]) for o in objects}) >= 4
    assert np.ptp([o["cube"].mass_scale for o in objects]) > 0.5
    assert np.ptp([o["cube"].friction for o in objects]) > 0.3
    assert len({o["table"].parameters["material"] for o in objects}) >= 5
    assert len({scene.surroundings for scene in scenes}) == len(scenes)
    assert len({scene.cameras[0].optics for scene in scenes}) == len(scenes)
    assert len({len(scene.lights) for scene in scenes}) >= 3
    assert np.ptp([scene.robots[0].joints["fr3_joint1"] for scene in scenes]) > 0.1
    tops = [o["table"].parameters["size"][2] for o in objects]
    assert np.ptp(tops) > 0.05
    np.testing.assert_allclose([scene.robots[0].position[2] for scene in scenes], tops, atol=0.002)
    assert len({scene.cameras[0].fx for scene in scenes}) == len(scenes)


def test_a_camera_that_looks_at_objects_without_a_place_of_its_own_is_varied_too(make):
    task = make(
        objects=[thing("cube", "cube")],
        regions=[region("cube")],
        cameras=[{"name": "side", "look_at": ["cube"], "size": [64, 64]}],
        data={"variant": "randomized"},
    )
    assert len({sample_task(task, 0, episode).cameras[0].position for episode in range(3)}) == 3


def test_rooms_are_made_of_materials_and_only_extreme_ones_of_noise():
    assert set(TABLES) | set(FLOORS) | set(WALLS) <= set(MATERIALS)
    assert len(set(TABLES)) * len(set(FLOORS)) * len(set(WALLS)) > 500
    for variant, noisy in (("randomized", False), ("extreme", True)):
        scenes = sampled("fr3_pick_place", 12, variant)
        fixtures = [o for scene in scenes for o in scene.objects if o.category in ("table", "plane")]
        textures = {o.parameters.get("texture") for o in fixtures} - {None}
        assert ("noise" in textures) == noisy
        assert textures <= set(TEXTURES)


def test_an_instance_with_lens_and_surroundings_is_read_back_as_it_was():
    scene = sampled("fr3_pick_place", 1)[0]
    assert scene.surroundings is not None
    assert scene.cameras[0].optics is not None
    assert TaskInstance.from_json(scene.to_json()) == scene


def test_an_instance_of_a_clean_task_says_nothing_of_lenses_and_surroundings():
    text = sample_task(load_task("fr3_pick_place"), 3, 0).to_json()
    assert "optics" not in text
    assert "surroundings" not in text


def test_a_clean_task_is_as_before():
    plain = sample_task(load_task("fr3_pick_place"), 3, 0)
    assert plain == sample_task(load_task("fr3_pick_place", overrides=["data.variant=clean"]), 3, 0)


@pytest.mark.parametrize("name", every(library(), 3))
def test_every_task_of_the_library_has_a_randomized_variant(name: str):
    build_scene(sampled(name, 1)[0])


def test_objects_that_need_their_shape_keep_their_category():
    for name, obj, category in (("fr3_hang_mug", "mug", "mug"), ("fr3_stack_cubes", "base_block", "cube")):
        assert {next(o for o in s.objects if o.name == obj).category for s in sampled(name, 4)} == {category}
