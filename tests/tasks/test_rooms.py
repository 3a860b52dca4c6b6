"""Rooms: generated from layout and style, all choices in the instance, everything fits, opens and rests."""

from dataclasses import replace

import numpy as np
import pytest

from handloom.errors import ConfigError
from handloom.scene.build import build_scene
from handloom.scene.rooms.floor_plan import floor_plan
from handloom.scene.rooms.norms import COUNTER, HOOD, UPPER
from handloom.scene.rooms.room_config import RoomConfig
from handloom.scene.rooms.room_files import KINDS, layout_names, read_layout, read_style, style_names
from handloom.tasks import load_task, sample_task
from handloom.tasks.rooms.room_check import RoomCheck
from handloom.values import TaskInstance
from spread import every

EVERY_KITCHEN = (
    *("drawers", "cabinet", "upper_cabinet", "sink", "tap", "sink_counter", "sink_cabinet", "stove", "oven", "hood"),
    *("dishwasher", "fridge", "microwave", "shelf", "counter", "counter_2", "window", "floor", "wall_back"),
)
ROOM = """
base: setups/kitchen_fr3.yaml
room: {{kind: {kind}, layout: {layout}, style: {style}{more}}}
robots:
  - {{name: franka, translation: [0.0, -0.7, 0.6]}}
objects:
  - {{name: stand, parameters: {{height: 0.6}}, translation: [0.0, -0.7, 0.3]}}
  {objects}
skills: {skills}
"""


@pytest.fixture
def make(tmp_path):
    def write(kind="kitchen", layout="any", style="any", more="", objects="", skills="[home]"):
        file = tmp_path / "mine.yaml"
        text = ROOM.format(kind=kind, layout=layout, style=style, more=more, objects=objects, skills=skills)
        file.write_text(text, encoding="utf-8")
        return load_task(file)

    return write


def furniture(instance: TaskInstance):
    return [obj for obj in instance.objects if obj.solid and not obj.name.startswith("stand")]


def clutter(instance: TaskInstance):
    return [obj.name for obj in instance.objects if obj.name.startswith("clutter_")]


def test_there_are_ten_kitchens_in_ten_styles_and_two_by_four_of_each_other_place():
    assert len(layout_names("kitchen")) >= 10
    assert len(style_names("kitchen")) >= 10
    for kind in KINDS:
        assert len(layout_names(kind)) >= 2
        assert len(style_names(kind)) >= 4


@pytest.mark.parametrize("kind", KINDS)
def test_every_layout_and_style_can_be_read_and_says_what_it_is(kind):
    for layout in layout_names(kind):
        assert read_layout(kind, layout).words
        assert floor_plan(read_layout(kind, layout)).fixture(read_layout(kind, layout).at) is not None
    for style in style_names(kind):
        assert read_style(kind, style).words


@pytest.mark.parametrize("layout", layout_names("kitchen"))
def test_every_kitchen_has_what_tasks_name(layout):
    room = RoomConfig(layout=layout).example()
    names = {entry.name for entry in room.arena().fixtures}
    assert names.issuperset(EVERY_KITCHEN)


@pytest.mark.parametrize("layout", layout_names("kitchen"))
def test_heights_follow_the_norms(layout):
    for standing in RoomConfig(layout=layout).example().standing:
        low, high = standing.T_world_object[2, 3] + standing.asset.aabb[:, 2]
        if standing.fixture.category == "worktop":
            assert high == pytest.approx(COUNTER, abs=1e-6)
        if standing.fixture.category == "upper_cabinet":
            assert low == pytest.approx(UPPER, abs=1e-6)
        if standing.fixture.category == "hood":
            assert low == pytest.approx(HOOD, abs=0.002)
        if standing.fixture.category == "kitchen_cabinet":
            assert high < COUNTER
    assert HOOD - COUNTER >= 0.65
    assert UPPER - COUNTER >= 0.45


@pytest.mark.parametrize(
    ("kind", "layout", "style"),
    every(
        [
            *(("kitchen", layout, style_names("kitchen")[k]) for k, layout in enumerate(layout_names("kitchen"))),
            *(
                (kind, layout, style_names(kind)[k])
                for kind in KINDS[1:]
                for k, layout in enumerate(layout_names(kind))
            ),
        ],
        3,
    ),
)
def test_furniture_does_not_overlap_and_every_joint_opens(make, kind, layout, style):
    instance = sample_task(make(kind, layout, style, more=", clutter: much"), 1, 3)
    check = RoomCheck(furniture(instance), resting=clutter(instance))
    assert check.overlaps() == []
    assert check.blocked() == []


@pytest.mark.parametrize("episode", range(3))
def test_everything_rests_after_a_second(make, episode):
    scene = build_scene(sample_task(make(more=", clutter: much"), 2, episode))
    world = scene.world
    free = [j for j in range(world.model.njnt) if not world.model.joint(j).name.startswith("franka/")]
    dofs = [int(world.model.jnt_dofadr[j]) for j in free]
    start = world.data.qpos.copy()
    world.step(round(1.0 / world.model.opt.timestep))
    assert np.abs(world.data.qvel[dofs]).max() < 0.01
    moved = [int(world.model.jnt_qposadr[j]) for j in free]
    assert np.abs(world.data.qpos[moved] - start[moved]).max() < 0.005


def test_all_choices_are_in_the_instance_and_come_back_from_its_json(make):
    task = make(more=", clutter: much")
    instance = sample_task(task, 5, 0)
    again = TaskInstance.from_json(instance.to_json())
    assert again == instance
    assert again.room["layout"] in layout_names("kitchen")
    assert again.room["style"] in style_names("kitchen")
    assert clutter(again)
    one, two = build_scene(instance).world, build_scene(again).world
    one.step(100)
    two.step(100)
    np.testing.assert_array_equal(one.data.qpos, two.data.qpos)


def test_the_same_episode_gives_the_same_room_and_others_give_others(make):
    task = make()
    assert sample_task(task, 5, 1) == sample_task(task, 5, 1)
    assert len({tuple(sample_task(task, 5, e).room.values()) for e in range(6)}) > 3


def test_a_room_by_its_kind_alone_is_the_usual_one_and_randomized_draws_the_rest(tmp_path):
    file = tmp_path / "plain.yaml"
    file.write_text("base: setups/kitchen_fr3.yaml\nroom: kitchen\nskills: [home]\n", encoding="utf-8")
    task = load_task(file)
    seen = {tuple(sample_task(task, 0, e).room.values()) for e in range(3)}
    assert seen == {("kitchen", "one_wall", "nordic", "counter")}
    varied = load_task(file, overrides=["data.variant=randomized"])
    rooms = [sample_task(varied, 0, e).room for e in range(5)]
    assert len({room["layout"] for room in rooms}) > 1
    assert len({room["style"] for room in rooms}) > 1


def test_the_work_place_is_at_the_origin_whatever_the_layout():
    for layout in layout_names("kitchen"):
        room = RoomConfig(layout=layout, at="stove").example()
        stove = room.find("stove")
        assert stove is not None
        low, high = stove.asset.aabb[:, 1] + stove.T_world_object[1, 3]
        assert abs(stove.T_world_object[0, 3]) < 0.02
        assert -0.05 < low < 0.05 < high
        np.testing.assert_allclose(stove.T_world_object[:3, :3], np.eye(3), atol=1e-9)


def test_short_forms_name_fixtures_and_their_parts(make):
    objects = "- {name: mug, category: mug}"
    skills = "[{open: drawer_2}, {pick: mug}, {place: mug, in: sink}, {turn: knob_1, amount: 0.3}, {close: oven}]"
    task = make(objects=objects, skills=skills, more=", at: sink")
    block = task.config.skills[0]["franka"][0]["left"]
    assert [skill.name for skill in block] == ["open", "pick", "place", "rotate", "close"]
    assert block[0].objects == ("drawers",)
    assert block[0].joint == "drawer_2"
    assert block[2].objects == ("mug", "sink")
    assert (block[3].objects, block[3].joint) == (("stove",), "knob_1")


def test_layouts_and_styles_of_ones_own_lie_beside_the_task(tmp_path, make):
    (tmp_path / "nook.yaml").write_text(
        "words: a nook\nsize: [3.0, 2.5, 2.5]\nat: drawers\nruns:\n"
        "  - {wall: back, offset: 0.5, units: [{unit: drawers, width: 0.8, above: shelf}, sink]}\n",
        encoding="utf-8",
    )
    (tmp_path / "pink.yaml").write_text("words: mine\nfront: clay_paint\nworktop: concrete\n", encoding="utf-8")
    task = make(layout="nook.yaml", style="pink.yaml", skills="[{open: drawer_3}]")
    instance = sample_task(task, 0, 0)
    assert next(o for o in instance.objects if o.name == "drawers").parameters["front_finish"] == "clay_paint"
    assert instance.room["layout"] == str(tmp_path / "nook.yaml")
    with pytest.raises(ConfigError, match=r"room\.layout.*attic\.yaml"):
        make(layout="attic.yaml")


def test_a_fixture_that_some_layouts_lack_is_named_with_those_that_have_it(make):
    with pytest.raises(ConfigError, match=r"'island'.*do not have.*name layouts that have one: island, l_island"):
        make(
            layout="[one_wall, island]",
            objects="- {name: mug, category: mug}",
            skills="[{pick: mug}, {place: mug, on: island}]",
        )


@pytest.mark.parametrize(
    ("room", "words"),
    [
        ("castle", "no kind of room 'castle'"),
        ("{kind: kitchen, layout: galey}", "has no layout 'galey'; did you mean 'galley'"),
        ("{kind: kitchen, style: norodic}", "has no style 'norodic'; did you mean 'nordic'"),
        ("{kind: kitchen, at: sofa}", "has no fixture 'sofa'"),
        ("{kind: kitchen, colour: red}", "colour"),
    ],
)
def test_a_wrong_room_is_refused_in_one_line(tmp_path, room, words):
    file = tmp_path / "wrong.yaml"
    file.write_text(f"base: setups/kitchen_fr3.yaml\nroom: {room}\nskills: [home]\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=words):
        load_task(file)


def test_clutter_leaves_out_what_the_task_has_and_keeps_the_work_place_free(make):
    pot = "- {name: pot, category: kettle, target_class: GeometryObject, translation: [0.0, -1.0, 0.2]}"
    task = make(objects=pot, more=", clutter: much, at: counter")
    for episode in range(4):
        instance = sample_task(task, 3, episode)
        strays = [obj for obj in instance.objects if obj.name.startswith("clutter_")]
        assert not any(obj.category == "kettle" for obj in strays)
        near = [obj for obj in strays if abs(obj.position[0]) < 0.5 and -0.7 < obj.position[1] < 0.3]
        assert near == []


def test_fixtures_out_of_reach_have_joints_that_cost_physics_less(make):
    instance = sample_task(make(more=", at: drawers"), 0, 0)
    calm = {obj.name for obj in instance.objects if obj.calm}
    assert calm
    assert "drawers" not in calm
    model = build_scene(instance).world.model
    for name in calm:
        joints = [j for j in range(model.njnt) if model.joint(j).name.startswith(f"{name}/")]
        assert all(model.dof_frictionloss[model.jnt_dofadr[j]] == 0.0 for j in joints)


def test_furniture_that_overlaps_or_is_blocked_is_found(make):
    instance = sample_task(make(layout="one_wall"), 0, 0)
    objects = furniture(instance)
    fridge = next(obj for obj in objects if obj.name == "fridge")
    wall = replace(fridge, name="other", position=(fridge.position[0], fridge.position[1] - 0.75, fridge.position[2]))
    inside = replace(fridge, name="twin", position=(fridge.position[0] + 0.1, *fridge.position[1:]))
    assert any(b.joint.startswith("fridge/") and b.other == "other" for b in RoomCheck([*objects, wall]).blocked())
    assert any({o.name, o.other} == {"fridge", "twin"} for o in RoomCheck([*objects, inside]).overlaps())
