"""Clutter keeps its distance, measured by brute force."""

import copy

import numpy as np
import pytest
import yaml
from task_files import ARENA, region, thing

from handloom.errors import ConfigError
from handloom.scene import build_scene
from handloom.scene.assets import outline_of
from handloom.scene.regions import Placed
from handloom.spatial import quat_rotate
from handloom.tasks import load_task, sample_task
from handloom.tasks.sampling.layouts.outlines import footprint

CLUTTER = {
    "target": "table",
    "min_num": 4,
    "max_num": 7,
    "pos_range": [[-0.5, -0.1, 0], [0.5, 0.4, 0]],
    "min_object_distance": 0.04,
    "distractor_buffer": 0.02,
    "max_attempts": 50,
}


def clutter_task(make, **keys):
    return make(
        objects=[thing("cube", "cube"), thing("plate", "plate")],
        regions=[region("cube"), region("plate")],
        distractors={**CLUTTER, **keys},
    )


def boundary(o):
    """Return many points of the outline seen from above."""
    corners = footprint(Placed(np.array(o.position), np.array(o.quat), outline_of(o)))
    return np.concatenate([corners + t * (np.roll(corners, -1, axis=0) - corners) for t in np.linspace(0, 1, 30)])


def test_distractors_lie_in_their_rectangle_apart_from_everything(make):
    task = clutter_task(make)
    counts = set()
    for episode in range(4):
        things = sample_task(task, 0, episode).objects
        clutter = [o for o in things if o.name.startswith("distractor_")]
        mine = [o for o in things if o.name in ("cube", "plate")]
        counts.add(len(clutter))
        for i, o in enumerate(clutter):
            assert -0.51 <= o.position[0] <= 0.51
            assert -0.11 <= o.position[1] <= 0.41
            for others, room in ((mine, 0.04), (clutter[:i], 0.02)):
                for other in others:
                    gap = np.linalg.norm(boundary(o)[:, None] - boundary(other)[None], axis=2).min()
                    assert gap > room - 0.006  # What settles may lean or roll a little.
    assert counts <= set(range(3, 8))
    assert len(counts) > 1


def test_distractors_leave_the_way_of_a_rolling_ball_free(make):
    ball = thing("ball", "ball", rolling_velocity=[[0.3, 0.3], [0.05, 0.05]])
    task = make(objects=[ball], regions=[region("ball")], distractors=CLUTTER)
    for episode in range(4):
        things = {o.name: o for o in sample_task(task, 0, episode).objects}
        start = np.array(things["ball"].position[:2])
        way = start + np.linspace(0.0, 2.0, 100)[:, None] * np.array([0.3, 0.05])
        for name in (name for name in things if name.startswith("distractor_")):
            assert np.linalg.norm(boundary(things[name])[:, None] - way[None], axis=2).min() > 0.04


def test_categories_of_the_task_and_those_excluded_are_not_used(make):
    task = clutter_task(
        make, exclude_keywords=["box", "toy", "tool"], exclude_categories=["can", "mug"], max_num=10, min_num=10
    )
    seen = {o.category for episode in range(3) for o in sample_task(task, 0, episode).objects if "distr" in o.name}
    assert len(seen) > 15
    assert not seen & {"cube", "plate", "can", "mug", "table"}
    assert not [category for category in seen if "box" in category or "toy" in category]
    family = {"hammer", "screwdriver", "wrench", "pliers", "scissors", "flashlight", "tape_roll"}
    assert not seen & family, "a keyword leaves out a whole family"


def test_what_finds_no_room_is_left_out(make):
    task = clutter_task(make, min_num=30, max_num=30, pos_range=[[-0.2, 0.0], [0.2, 0.2]], max_attempts=5)
    things = sample_task(task, 0, 0).objects
    assert 0 < sum(o.name.startswith("distractor_") for o in things) < 30


def test_there_are_as_many_as_the_task_asks_for_at_least(make):
    task = clutter_task(make, min_num=3, max_num=3, pos_range=[[-0.05, 0.2], [0.2, 0.4]], max_attempts=10)
    for episode in range(3):
        assert sum("distr" in o.name for o in sample_task(task, 0, episode).objects) == 3


def test_nothing_is_left_to_draw_from(make):
    with pytest.raises(ConfigError, match="leave no category"):
        sample_task(clutter_task(make, exclude_keywords=["a", "e", "i", "o", "u"]), 0, 0)


def test_a_folder_of_assets_is_used_and_a_missing_one_is_named(make, tmp_path):
    with pytest.raises(ConfigError, match=r"task.yaml:\d+: distractors.path: lib has no assets"):
        sample_task(clutter_task(make, path="lib"), 0, 0)
    for name in ("stone_0", "stone_1"):
        folder = tmp_path / "lib" / "real-stone" / name
        folder.mkdir(parents=True)
        (folder / "model.xml").write_text(
            '<mujoco><worldbody><body><geom type="box" size=".02 .02 .02"/></body></worldbody></mujoco>'
        )
    seen = {o.category for o in sample_task(clutter_task(make, path="lib"), 0, 0).objects if "distr" in o.name}
    assert seen == {"stone"}


def test_distractors_stay_out_of_the_robot(make):
    task = clutter_task(make, pos_range=[[-0.3, -0.48], [0.3, 0.0]], min_num=10, max_num=10)
    for o in sample_task(task, 0, 0).objects:
        if o.name.startswith("distractor_"):
            points = quat_rotate(np.array(o.quat), outline_of(o)) + o.position
            assert np.linalg.norm(points[:, :2] - [0.0, -0.42], axis=1).min() > 0.06


def test_distractors_stay_out_of_fixtures_too(write, tmp_path):
    arena = copy.deepcopy(ARENA)
    shelf = {"name": "shelf", "target_class": "GeometryObject", "category": "shelf", "translation": [0.0, 0.2, 1.05]}
    arena["fixtures"].append(shelf)
    file = write(distractors={**CLUTTER, "min_num": 12, "max_num": 12, "pos_range": [[-0.3, 0.0], [0.3, 0.4]]})
    (tmp_path / "arena.yaml").write_text(yaml.safe_dump(arena))
    for episode in range(2):
        scene = build_scene(sample_task(load_task(file), 0, episode))
        depths = [-c.distance for c in scene.world.contacts() if "shelf" in c.body_a + c.body_b]
        assert max(depths, default=0.0) < 5e-4
