"""What stands in for a missing asset makes the task possible: its size, its joints, its parts, how it lies."""

from pathlib import Path

import numpy as np
import pytest
from reference_articulated import deed, heat_food
from reference_containers import bin_trash, insert_markpen, sort_rubbish, stack_cubes, store_eggs, store_toothbrush
from reference_files import STAND_INS, written
from reference_long import clean_dirt, conveyor_package, flip_package, ham_sandwich
from reference_picks import insert_flower
from reference_pours import pour, pour_coke
from reference_rigs import on, rigid, task

from handloom.engine.attempt import Stopwatch, simulate
from handloom.episode import replay
from handloom.objects import ObjectAsset, make_object
from handloom.scene import build_scene
from handloom.scene.measures import world_box
from handloom.skills.placing.place_in import entries_into
from handloom.tasks import load_task, sample_task
from handloom.tasks.config.task_config import placed_skills
from handloom.tasks.sampling.assets import ARTICULATED
from handloom.values import TaskInstance
from spread import every

RNG = np.random.default_rng(0)


def sampled(root: Path, values: dict, name: str) -> TaskInstance:
    return sample_task(load_task(written(root, values, f"mine/{name}.yaml"), overrides=STAND_INS), 0, 0)


def test_stand_ins_are_of_a_size_that_makes_their_task_possible(checkout):
    instance = sampled(checkout, flip_package("lift2", "left", RNG), "flip")
    (package,) = [o for o in instance.objects if o.name == "package_0"]
    asset = make_object(package.category, parameters=dict(package.parameters))
    assert asset.extent.min() <= 0.7 * 0.088 + 1e-9  # A hand of 88 mm takes it.
    instance = sampled(checkout, sort_rubbish("split_aloha", "left", RNG), "rubbish")
    (can,) = [o for o in instance.objects if o.name == "gso_box_left"]
    assert can.category == "bin"  # Open, and nearly as high as the table that it stands beside.
    assert make_object(can.category, parameters=dict(can.parameters)).extent[1] == pytest.approx(0.65, abs=0.01)
    instance = sampled(checkout, deed("close_washing_machine")("lift2", "left", RNG), "washing")
    (washer,) = [o for o in instance.objects if o.name == "object"]
    assert np.prod(make_object(washer.category, parameters=dict(washer.parameters)).extent) <= 0.02 + 1e-9


def test_appliances_are_as_wide_as_published_ones(checkout):
    for word, width in (("open_microwave", 0.305), ("close_oven", 0.288), ("close_laptop", 0.265)):
        instance = sampled(checkout, deed(word)("lift2", "left", RNG), word)
        (thing,) = [o for o in instance.objects if o.name == "object"]
        assert make_object(thing.category, parameters=dict(thing.parameters)).extent[0] <= width + 1e-9


@pytest.mark.parametrize("word", ["close_cooker", "close_trash_can", "close_package", "close_laptop", "close_oven"])
def test_what_a_task_closes_does_not_fall_shut_by_itself(checkout, word):
    scene = build_scene(sampled(checkout, deed(word)("lift2", "left", RNG), word))
    joint = f"object/{scene.assets['object'].joints[0].joint}"
    start = scene.world.joint_position(joint)
    for _ in range(1000):
        scene.world.step()
    assert scene.world.joint_position(joint) > 0.5 * start


def test_what_is_put_into_a_missing_microwave_goes_through_the_front_of_its_stand_in(checkout):
    loaded = load_task(written(checkout, heat_food("lift2", "left", RNG), "mine/heat.yaml"), overrides=STAND_INS)
    (place,) = [s for _, s in placed_skills(loaded.config) if s.name == "place"]
    assert (place.relation, place.align_place_obj_axis, place.ignore_substring) == ("in", None, ())
    assert (place.success_mode, place.y_ratio_range, place.place_part_prim_path) == ("xybbox", (0.2, 0.4), "base")
    assert sum("go through the front" in line for line in loaded.stand_ins) == 1
    scene = build_scene(sample_task(loaded, 0, 0))
    entries = entries_into(scene, place)
    assert len({entry.keys["pre_place_offset"] for entry in entries}) == 2, "robots that stand close come from nearer"
    out = scene.object_pose("microwave")[:3, :3] @ np.asarray(entries[0].keys["offset_place_obj_axis"])
    np.testing.assert_allclose(out, [0.0, -1.0, 0.0], atol=1e-6)


def test_what_has_a_joint_is_stood_in_for_by_what_has_one(checkout):
    for word, category in (("close_package", "lidded_box"), ("pull_drawer", "drawer_cabinet")):
        loaded = load_task(
            written(checkout, deed(word)("lift2", "left", RNG), f"mine/{word}.yaml"), overrides=STAND_INS
        )
        (line,) = [line for line in loaded.stand_ins if "(object)" in line]
        assert f"our {category} stands in" in line
    assert all(make_object(c, rng=np.random.default_rng(0)).articulated for c in ARTICULATED)


def test_a_part_of_a_missing_file_is_what_moves_of_its_stand_in_or_what_does_not(checkout):
    scene = build_scene(sampled(checkout, deed("push_drawer")("lift2", "left", RNG), "drawer"))
    link = scene.assets["object"].joints[0].name
    np.testing.assert_allclose(world_box(scene, "object", "contact_link1"), world_box(scene, "object", link))
    base = world_box(scene, "object", "base")
    assert base[0, 1] > world_box(scene, "object")[0, 1] + 0.05, "the open drawer is no part of it"


def test_stand_ins_are_never_upside_down(checkout):
    regions = [on(f"bottle_{i}", [-0.4 + 0.2 * i, 0.1, 0], [-0.4 + 0.2 * i, 0.1, 0]) for i in range(5)]
    objects = [rigid(f"bottle_{i}", f"basic/bottle/bottle_0{i}") for i in range(5)]
    values = task("franka", objects, regions, [{"franka": [{"left": [{"name": "home"}]}]}])
    loaded = load_task(written(checkout, values, "mine/bottles.yaml"), overrides=STAND_INS)
    for episode in range(3):
        scene = build_scene(sample_task(loaded, 0, episode))
        assert all(scene.object_pose(obj["name"])[2, 1] > -0.5 for obj in objects)


def test_round_stand_ins_that_lie_in_any_way_come_to_rest(checkout):
    names = {"garlic": -0.3, "egg": -0.1, "lemon": 0.1, "apple": 0.3}
    regions = [on(name, [x, 0.1, 0], [x, 0.1, 0]) for name, x in names.items()]
    objects = [rigid(name, f"pick_and_place/{name}/{name}_01", orientation_mode="random") for name in names]
    values = task("franka", objects, regions, [{"franka": [{"left": [{"name": "home"}]}]}])
    loaded = load_task(written(checkout, values, "mine/round.yaml"), overrides=STAND_INS)
    poses = [build_scene(sample_task(loaded, 0, episode)).object_pose("garlic") for episode in range(6)]
    assert np.ptp(poses, axis=0)[:3, :3].max() > 0.5, "it lies in several ways"


def test_a_stand_in_is_long_along_the_axis_that_a_skill_names(checkout):
    instance = sampled(checkout, insert_flower("lift2", "left", RNG), "flower")
    (flower,) = [o for o in instance.objects if o.name == "flower"]
    asset = make_object(flower.category, parameters=dict(flower.parameters))
    assert int(np.argmax(asset.extent)) == 1
    np.testing.assert_allclose(
        np.sort(asset.extent),
        np.sort(
            make_object("flower", parameters={k: v for k, v in flower.parameters.items() if k != "long_axis"}).extent
        ),
    )


@pytest.mark.parametrize(
    ("rig", "word"),
    every(
        [
            ("franka", "open_microwave"),
            ("franka", "open_pot"),
            ("split_aloha", "close_microwave"),
            # Its arms do not reach the handle square: the door is taken by its upper edge.
            ("split_aloha", "open_microwave"),
            # Nor do these get above a lid or before an oven: over the edge from the front, under the handle.
            ("lift2", "close_cooker"),
            ("split_aloha", "close_oven"),
        ],
        2,
    ),
)
def test_doors_that_stand_in_are_moved_by_their_own_keypoints_as_far_as_the_task_asks(checkout, rig, word):
    values = deed(word)(rig, "left", RNG)
    threshold = values["tasks"][0]["skills"][0][rig][0]["left"][0]["planner_setting"]["success_threshold"]
    loaded = load_task(written(checkout, values, f"mine/{word}.yaml"), overrides=STAND_INS)
    for attempt in range(3):
        _, record = simulate(loaded, 2, attempt, Stopwatch())
        if record.success:
            break
    assert record.success, record.failure
    (span,) = record.timeline
    (state,) = [check for check in span.checks if check.name == "joint_state"]
    assert state.arguments["threshold"] == threshold
    again = replay(record)
    assert (again.exact, again.success_again) == (True, True)


def test_the_axis_that_must_be_up_is_up_in_the_stand_in_of_a_vessel(checkout):
    scene = build_scene(sampled(checkout, pour("pour_baijiu")("lift2", "left", RNG), "baijiu"))
    # What the judgement of the pour asks: z of the bottle, y of the glass.
    assert scene.object_pose("liquors")[2, 2] == pytest.approx(1.0, abs=1e-2)
    assert scene.object_pose("liquors_glass")[2, 1] == pytest.approx(1.0, abs=1e-2)
    assert all(scene.assets[name].stands_in for name in ("liquors", "liquors_glass"))


def test_motions_tuned_to_a_missing_vessel_are_one_pour_that_is_judged_as_given(checkout):
    loaded = load_task(written(checkout, pour_coke("lift2", "left", RNG), "mine/coke.yaml"), overrides=STAND_INS)
    (lane,) = loaded.config.skills[0]["lift2"][0].values()
    assert [skill.name for skill in lane] == ["pick", "pour", "pour__water__succ"]
    assert lane[1].objects == ("coke", "bowl")
    assert (lane[2].particle_num_th_min, lane[2].particle_num_th_max, lane[2].container_radius) == (50, 300, 0.04)
    assert sum(line.startswith("skills: our pour stands in") for line in loaded.stand_ins) == 1
    fluid = sample_task(loaded, 0, 0).fluid
    assert fluid is not None
    assert 50 < len(fluid.positions) < 300  # More than the judgement allows can never be poured well.
    as_given = load_task(written(checkout, pour_coke("lift2", "left", RNG), "mine/coke.yaml"))
    assert len(as_given.config.skills[0]["lift2"][0]["left"]) == 5


def test_a_glass_that_is_poured_into_is_narrow_enough_for_the_grains_that_must_count(checkout):
    instance = sampled(checkout, pour("pour_baijiu")("lift2", "left", RNG), "narrow")
    glass = next(o for o in instance.objects if o.name == "liquors_glass")
    asset, radius = make_object(glass.category, parameters=dict(glass.parameters)), 0.02
    inner = float(asset.extent[[0, 2]].min()) / 2 - 0.004
    assert instance.fluid is not None
    assert len(instance.fluid.positions) * (radius / inner) ** 2 > 1.3 * 150
    assert 0.0018 <= instance.fluid.radius <= 0.003  # From rest distance to contact offset of the file's particles.
    wide = sampled(checkout, pour("pour_water")("lift2", "left", RNG), "wide")
    cup = next(o for o in wide.objects if o.name == "cup")
    assert make_object(cup.category, parameters=dict(cup.parameters)).extent.min() > 0.09


def test_an_episode_says_what_stands_in_and_how_it_differs(checkout):
    instance = sampled(checkout, pour("pour_baijiu")("lift2", "left", RNG), "said")
    assert instance.stand_ins["liquors"].startswith("our carafe of ")
    assert "Aligned_obj.usd, scaled by " in instance.stand_ins["liquors_glass"]
    assert "stand in for 3600 particles of 3.0 mm contact offset" in instance.stand_ins["fluid"]
    assert instance.stand_ins["skills"].startswith("our pour stands in for the motions")
    assert TaskInstance.from_json(instance.to_json()).stand_ins == instance.stand_ins
    assert "stand_ins" not in sample_task(load_task("fr3_pick_place"), 0, 0).to_json()


def test_slices_of_food_lie_flat_on_the_racks_that_hold_them(checkout):
    instance = sampled(checkout, ham_sandwich("split_aloha", "left", np.random.default_rng(3)), "ham")
    scene = build_scene(instance)
    slices = [o for o in instance.objects if o.name.count("_") == 1 and o.name != "conveyor"]
    assert len(slices) == 16
    racks = {o.name: o.name.split("_") for o in instance.objects if o not in slices}
    for food in slices:
        kind, number = food.name.split("_")
        (rack,) = [name for name, words in racks.items() if (words[0], words[-1]) == (kind, number)]
        own, under = world_box(scene, food.name), world_box(scene, rack)
        middle = own.mean(axis=0)
        assert (under[0, :2] < middle[:2]).all()
        assert (middle[:2] < under[1, :2]).all()
        assert middle[2] > under.mean(axis=0)[2]
        assert np.ptp(own[:, 2]) < 0.8 * np.ptp(own[:, :2], axis=0).max()


def test_a_cloth_that_a_hand_takes_is_something_that_fingers_can_hold(checkout):
    values = clean_dirt("split_aloha", "left", np.random.default_rng(1))
    values["tasks"][0]["objects"][0]["path"] = "long_horizon/clean_dirt/white_cloth/cloth_01/Aligned_obj.usd"
    instance = sampled(checkout, values, "cloth")
    assert {o.name: o.category for o in instance.objects}["tool"] == "sponge"


def test_filters_of_a_pick_from_a_belt_are_widened_for_a_stand_in(checkout):
    values = conveyor_package("split_aloha", "left", np.random.default_rng(0))
    pick = values["tasks"][0]["skills"][0]["split_aloha"][0]["left"][0]
    # Nothing lies so that a hand could take it from straight above and reach forward with another of its axes.
    pick |= {"filter_z_dir": ["downward", 175], "filter_y_dir": ["forward", 5]}
    values["tasks"][0]["skills"][0]["split_aloha"][0]["left"] = [pick]
    loaded = load_task(written(checkout, values, "mine/belt.yaml"), overrides=STAND_INS)
    _, record = simulate(loaded, 0, 0, Stopwatch())
    assert record.failure is None or record.failure.reason != "filters_leave_nothing"


def stand_in(instance: TaskInstance, name: str) -> ObjectAsset:
    (obj,) = [o for o in instance.objects if o.name == name]
    return make_object(obj.category, parameters=dict(obj.parameters))


def test_rubbish_is_something_to_throw_away_and_an_egg_box_holds_eggs(checkout):
    rubbish = sampled(checkout, sort_rubbish("lift2", "left", RNG), "thrown")
    assert {o.category for o in rubbish.objects if o.name.startswith("pick_object")} == {"can"}
    eggs = sampled(checkout, store_eggs("genie1", "left", RNG), "eggs")
    assert [o.category for o in eggs.objects if o.name == "gso_box"] == ["egg_box"]


def test_a_pen_that_stands_in_its_holder_overlaps_as_much_as_the_task_asks(checkout):
    instance = sampled(checkout, insert_markpen("lift2", "left", RNG), "pen")
    pen, holder = stand_in(instance, "oo3d_object1"), stand_in(instance, "oo3d_object2")
    (wide,) = {round(float(w), 3) for w in holder.extent[[0, 2]]}
    thick, depth = float(pen.extent[[0, 2]].min()), float(holder.extent[1])
    common = thick**2 * (depth - 0.004)  # Quite upright: leaning, its box is wider.
    assert common / (wide**2 * depth + thick**2 * pen.extent[1] - common) > 0.15
    assert pen.extent[1] > 1.5 * depth  # The fingers that hold its upper part stay outside.


def test_what_is_stood_in_a_mug_is_slender_enough_for_two(checkout):
    instance = sampled(checkout, store_toothbrush("lift2", "left", RNG), "brush")
    for name in ("tooth_brush", "tooth_paste"):
        assert stand_in(instance, name).extent[[0, 2]].max() < 0.025


def test_a_lid_that_starts_open_stays_open_until_it_is_shut(checkout):
    scene = build_scene(sampled(checkout, bin_trash("frankarobotiq", "left", RNG), "lid"))
    start = scene.world.joint_position("trashcan/lid_joint")
    assert start > 1.2
    scene.world.step(1000)
    assert scene.world.joint_position("trashcan/lid_joint") == pytest.approx(start, abs=0.1)


def test_a_dish_that_hands_take_from_straight_above_has_a_wall(checkout):
    instance = sampled(checkout, stack_cubes("split_aloha", "left", RNG), "dish")
    assert [o.category for o in instance.objects if o.name == "place_object"] == ["tray"]
