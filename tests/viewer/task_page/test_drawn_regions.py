"""Regions are drawn where the sampler really puts objects, and reach where an arm really gets."""

import numpy as np
import pytest

from handloom.scene import build_scene
from handloom.scene.measures import world_box
from handloom.tasks import load_task, sample_task
from handloom.viewer.task_page.drawn_regions import drawn_regions, reach_of_arms, surface_of


@pytest.mark.parametrize("name", ["fr3_pick_place", "fr3_stack_bowls", "franka_robotiq85_arrange_tableware"])
def test_objects_lie_in_their_regions(name: str) -> None:
    task = load_task(name)
    seen = 0
    for episode in range(5):
        scene = build_scene(sample_task(task, 5, episode))
        own = {entry.name for entry in task.config.objects}
        for region in drawn_regions(task, scene):
            if region["object"] not in own or len(region["corners"]) != 4:
                continue
            corners = np.array(region["corners"])
            place = world_box(scene, region["object"]).mean(axis=0)
            # Objects settle after they were put, so they may slide a little.
            assert np.all(place[:2] > corners[:, :2].min(axis=0) - 0.03)
            assert np.all(place[:2] < corners[:, :2].max(axis=0) + 0.03)
            assert corners[0, 2] == pytest.approx(world_box(scene, region["target"])[1, 2], abs=0.01)
            seen += 1
    assert seen >= 5


def test_the_reach_covers_what_the_expert_takes_and_not_the_whole_table() -> None:
    task = load_task("fr3_pick_place")
    scene = build_scene(sample_task(task, 0, 0))
    (reach,) = reach_of_arms(task, scene)
    assert surface_of(task, scene) == "table"
    above, base = np.array(reach["above"]), scene.robot("franka").arms[0].T_world_base[:3, 3]
    cube = scene.object_pose("cube")[:3, 3]
    assert np.linalg.norm(above[:, :2] - cube[:2], axis=1).min() < reach["step"]
    box = world_box(scene, "table")
    assert len(above) < 0.95 * np.prod(np.ptp(box, axis=0)[:2] / reach["step"])
    assert np.linalg.norm((above - base)[:, :2], axis=1).max() < 0.95


def test_a_ring_goes_around_its_target() -> None:
    task = load_task("fr3_pick_place")
    region = task.config.regions[2].model_copy(
        update={
            "target": "cube",
            "random_type": "A_by_B_circle_sampler",
            "random_config": task.config.regions[2].random_config.model_copy(
                update={"pos_range": None, "r_range": (0.1, 0.2), "theta_range": (0.0, 90.0)}
            ),
        }
    )
    from dataclasses import replace

    config = task.config.model_copy(update={"regions": (region,)})
    scene = build_scene(sample_task(task, 0, 0))
    (shape,) = drawn_regions(replace(task, config=config), scene)
    away = np.array(shape["corners"])[:, :2] - world_box(scene, "cube").mean(axis=0)[:2]
    assert np.linalg.norm(away, axis=1).min() == pytest.approx(0.1, abs=1e-3)
    assert np.linalg.norm(away, axis=1).max() == pytest.approx(0.2, abs=1e-3)
    assert np.all(away > -1e-3)
