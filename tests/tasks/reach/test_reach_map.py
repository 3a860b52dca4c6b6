"""Reach maps: they ship for every workplace, say the same as inverse kinematics, and cut regions."""

import re
from dataclasses import replace

import numpy as np
import pytest

from handloom.robots import load_robot
from handloom.scene.assets import outline_of
from handloom.scene.measures import world_box
from handloom.scene.region_config import RandomConfig, RegionConfig
from handloom.scene.regions import Placed
from handloom.skills.arms.arm_controller import ArmController
from handloom.tasks import SamplingError, load_task, sample_task
from handloom.tasks.config.deed_form import CLEAR, workplaces
from handloom.tasks.config.loading import shipped
from handloom.tasks.config.task import Task
from handloom.tasks.reach.reach_map import (
    LEVELS,
    LONGEST,
    ReachMap,
    _bare_scene,
    beyond_tool_centre,
    computed,
    reach_key,
    reach_map,
    shipped_maps,
)
from handloom.tasks.reach.within_reach import TaskReach
from handloom.tasks.region_proposals import Proposal
from handloom.tasks.work_area import reached_stepwise

ROBOTS = sorted(workplaces(shipped()))


def table_of(map_: ReachMap) -> np.ndarray:
    return np.ptp(map_.table, axis=0)


@pytest.mark.parametrize("robot", ROBOTS)
def test_every_work_place_ships_with_its_map(robot):
    task = load_task("pick_place", robot=robot)
    assert (shipped_maps() / f"table_{robot}_{reach_key(task)}.txt").is_file(), "make it anew: tools/reach_maps.py"
    found = reach_map(task)
    assert set(found.arms) <= {"left", "right"}
    x, y = task.config.work_point or (0.0, 0.0)
    for arm in found.arms:
        assert found.free(arm, LEVELS[0], LEVELS[1]).sum() > 10
    assert any(found.gets_to(arm, (x, y), 0.03, 0.1) for arm in found.arms), "its work point is within reach"


@pytest.mark.parametrize("robot", ROBOTS)
def test_level_hands_reach_handles_over_most_of_the_work_area(robot):
    task = load_task("pick_place", robot=robot)
    found = reach_map(task)
    if task.config.robots[0].robot_config_file == "so101":
        pytest.skip("five joints: its work areas are cut to where the short arm points")
    corners = np.add(task.config.work_area, task.config.work_point)
    x, y = found.spots()
    inside = np.ix_((x >= corners[0, 0]) & (x <= corners[1, 0]), (y >= corners[0, 1]) & (y <= corners[1, 1]))
    level = np.any([found.free(arm, LEVELS[1], LEVELS[2], ("side",))[inside] for arm in found.arms], axis=0)
    assert level.mean() > 0.9, "doors, lids and drawers have their handles there"


@pytest.mark.parametrize("robot", ["fr3", "lift2"])
def test_a_map_survives_its_text_and_agrees_with_inverse_kinematics(robot):
    task = load_task("pick_place", robot=robot)
    found = reach_map(task)
    again = ReachMap.from_text(found.to_text("key"))
    assert all(np.array_equal(again.arms[arm], free) for arm, free in found.arms.items())
    scene = _bare_scene(task)
    box = world_box(scene, "table")
    x, y = found.spots()
    arm = next(iter(scene.robots.values())).arms[0]
    rows = np.arange(3, len(x), 7)
    points = np.column_stack([x[rows] + box.mean(axis=0)[0], np.full(len(rows), y[6]), np.full(len(rows), box[1, 2])])
    points[:, 1] += box.mean(axis=0)[1]
    points[:, 2] += LEVELS[1]
    assert (
        reached_stepwise(ArmController(scene, arm), points, "slanted").tolist()
        == found.arms[arm.name][0, 1, rows, 6].tolist()
    )


def test_objects_are_drawn_only_where_the_chosen_arm_gets_to_all_it_needs(tmp_path):
    file = tmp_path / "deed.yaml"
    file.write_text(
        "robot: lift2\nobjects: [{name: cube, category: cube}, {name: plate, category: plate}]\n"
        "regions: [{object: plate, at: [[-0.6, -0.2], [0.6, 0.5]]}, {object: cube, at: [[-0.6, -0.2], [0.6, 0.5]]}]\n"
        "skills: [{pick: cube}, {place: cube, on: plate}]\n"
    )
    task = load_task(file)
    found = reach_map(task)
    for episode in range(6):
        instance = sample_task(task, 0, episode)
        for obj in instance.objects:
            if obj.name in ("cube", "plate"):
                assert found.gets_to(instance.arms[0], obj.position[:2], 0.03, 0.1), (episode, obj.name)


def test_a_region_out_of_reach_is_refused_with_numbers_and_the_way_to_the_map(tmp_path):
    file = tmp_path / "deed.yaml"
    file.write_text("robot: lift2\nobjects: [{name: cube, category: cube}]\nregions: [{object: cube, at: [0, 0.5]}]\n")
    with file.open("a") as text:
        text.write("skills: [{pick: cube}]\n")
    with pytest.raises(SamplingError) as error:
        sample_task(load_task(file), 0, 0)
    said = str(error.value)
    assert f"{file}:3: regions.0" in said
    assert "y 0.50 and 0.50 m in the work frame" in said, "as the file has it"
    assert re.search(r"the nearest of \d+ spots where it does: \[", said)
    assert "handloom robot show lift2 --reach" in said


DRAWER = """
robot: {robot}
objects:
  - {{name: cabinet, category: drawer_cabinet, parameters: {{drawers: 1{size}}}}}
  - {{name: eraser, category: eraser}}
skills: [{{open: cabinet}}, {{pick: eraser}}, {{place: eraser, in: cabinet}}]
"""


@pytest.mark.parametrize(
    ("robot", "size"), [("so101", ", width: 0.2, depth: 0.18, drawer_height: 0.07"), ("genie1", "")]
)
def test_a_low_handle_at_the_end_of_the_reach_is_tried_rather_than_refused(tmp_path, robot, size):
    file = tmp_path / "drawer.yaml"
    file.write_text(DRAWER.format(robot=robot, size=size))
    instance = sample_task(load_task(file), 0, 0)
    assert {obj.name for obj in instance.objects} >= {"cabinet", "eraser"}
    assert all(arm in ("left", "right") for arm in instance.arms)


def test_a_refusal_names_the_skill_that_no_arm_gets_to(tmp_path):
    file = tmp_path / "tower.yaml"
    file.write_text(DRAWER.format(robot="so101", size=", width: 0.5, depth: 0.4, drawer_height: 0.6"))
    with pytest.raises(SamplingError, match="no spot suits all of them"):
        sample_task(load_task(file), 0, 0)
    task = load_task("pick_place", robot="fr3")
    instance = sample_task(task, 0, 0)
    places = {obj.name: Placed(np.array(obj.position), np.array(obj.quat), outline_of(obj)) for obj in instance.objects}
    reach = TaskReach(task, instance.objects, ("left",))
    reach.map = replace(reach.map, arms={arm: np.zeros_like(free) for arm, free in reach.map.arms.items()})
    picked = next(
        obj.name for obj in instance.objects if any(need.object == obj.name for need in reach.groups[0].needs)
    )
    assert re.search(r"where pick needs them, \d+ cm above the table", reach.in_words(picked, np.zeros((2, 2)), places))


def test_proposed_regions_have_the_form_of_the_file(tmp_path):
    file = tmp_path / "deed.yaml"
    file.write_text("robot: lift2\nobjects: [{name: cube, category: cube}]\nskills: [{pick: cube}]\n")
    task = load_task(file)
    x, y = task.config.work_point or (0.0, 0.0)
    ranges = RandomConfig(pos_range=((x - 0.1, y, 0.0), (x, y + 0.2, 0.0)), yaw_rotation=(-8, 8))
    region = RegionConfig(object="cube", target="table", random_config=ranges)
    # The reach map would refuse a part of this place as a short region.
    (line,) = Proposal((region,), 4).lines(task)
    assert line.startswith("- {object: cube, target: table, random_config: {pos_range: ")
    (line,) = Proposal((region.model_copy(update={"clear": CLEAR}),), 4).lines(task)
    assert line == "- {object: cube, at: [[-0.1, 0], [0, 0.2]], yaw: [-8, 8]}"
    file.write_text(file.read_text() + f"regions:\n  {line}\n")
    copied = load_task(file).config.regions[0].random_config
    assert copied is not None
    assert copied.pos_range is not None
    assert copied.pos_range[0] == pytest.approx((x - 0.1, y, 0.0))


def with_tool_centre(robot: str, offset: float) -> Task:
    """Return a task of a robot with its tool centre at another place between the fingers."""
    task = load_task("pick_place", robot=robot)
    entry = task.config.robots[0]
    entry = entry.model_copy(update={"overrides": {**entry.overrides, "tcp_offset": offset}})
    return replace(task, config=task.config.model_copy(update={"robots": (entry,)}), robot_sources={})


def fingers_beyond(task: Task) -> float:
    scene = _bare_scene(task)
    return beyond_tool_centre(scene, next(iter(scene.robots.values())).arms[0])


def test_long_fingers_are_tested_as_low_as_the_table_lets_them(monkeypatch):
    offset, behind = load_robot("fr3").arms[0].tcp_offset, 0.05
    monkeypatch.setattr("handloom.tasks.reach.reach_map.STEPS", {np.inf: 0.2})
    usual, task = with_tool_centre("fr3", offset), with_tool_centre("fr3", offset - behind)
    assert fingers_beyond(task) == pytest.approx(fingers_beyond(usual) + behind)
    assert fingers_beyond(task) > LEVELS[0] + LONGEST, "with its tool centre so low, the fingers would be in the table"
    assert computed(task).free("left", LEVELS[0], LEVELS[0]).sum() >= 4
    monkeypatch.setattr("handloom.tasks.reach.reach_map.LONGEST", np.inf)
    low = computed(task).arms["left"][0, 0].sum()
    assert low < computed(usual).arms["left"][0, 0].sum() / 4


@pytest.mark.parametrize("robot", ROBOTS)
def test_no_robot_of_the_zoo_has_fingers_so_long(robot):
    scene = _bare_scene(load_task("pick_place", robot=robot))
    for arm in (arm for there in scene.robots.values() for arm in there.arms):
        assert beyond_tool_centre(scene, arm) <= LEVELS[0] + LONGEST, "its shipped map has another lowest level"
