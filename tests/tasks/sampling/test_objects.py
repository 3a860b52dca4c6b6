"""What the keys of an object do to it."""

from dataclasses import replace

import numpy as np
import pytest
import trimesh
from task_files import region, thing

from handloom.errors import ConfigError
from handloom.objects.materials import rgb
from handloom.objects.registry import SUITE_CATEGORIES
from handloom.scene import build_scene
from handloom.tasks import load_task, sample_task
from handloom.tasks.sampling.assets import FURNITURE, small_categories


def one(make, entry, episode=0, **keys):
    task = make(objects=[entry], regions=[region(entry["name"], yaw=(0, 0))], **keys)
    return sample_task(task, 0, episode)


def body_mass(scene, name):
    model = scene.world.model
    return float(model.body_subtreemass[scene.world.body_index(f"{name}/object")])


def test_a_mass_replaces_that_of_the_library(make):
    scene = build_scene(one(make, thing("can", "can", mass=0.5)))
    assert body_mass(scene, "can") == pytest.approx(0.5)


def test_a_mass_replaces_that_of_a_file_with_its_own_inertia(make, tmp_path):
    (tmp_path / "brick.xml").write_text(
        '<mujoco><worldbody><body name="brick"><inertial pos="0 0 0" mass="2" diaginertia=".01 .01 .01"/>'
        '<geom type="box" size=".03 .02 .02"/></body></worldbody></mujoco>'
    )
    scene = build_scene(one(make, {"name": "a", "target_class": "RigidObject", "path": "brick.xml", "mass": 0.5}))
    body = scene.world.body_index("a/object")
    assert scene.world.model.body_mass[body] == pytest.approx(0.5)
    np.testing.assert_allclose(scene.world.model.body_inertia[body], 0.0025)


def test_an_absurd_mass_is_refused_with_the_line(make):
    with pytest.raises(ConfigError, match=r"task.yaml:\d+: objects.0: mass: 1e\+06 kg is not within"):
        one(make, thing("can", "can", mass=1e6))


def test_scale_counts_unless_the_suggested_size_is_wanted(make):
    sizes = [
        build_scene(one(make, thing("a", "mug", **keys))).assets["a"].extent
        for keys in ({}, {"scale": [1.3, 1.3, 1.3]}, {"scale": [1.3, 1.3, 1.3], "scale_mode": "suggested"})
    ]
    np.testing.assert_allclose(sizes[1], 1.3 * sizes[0], rtol=1e-6)
    np.testing.assert_allclose(sizes[2], sizes[0])


def test_the_scope_of_randomization_is_kept(make):
    entry = thing("a", "cube", apply_randomization=True)
    seen = {
        scope: {
            one(make, {**entry, "randomization_scope": value}, episode).objects[-1].category for episode in range(15)
        }
        for scope, value in (("category", "category"), ("list", ["apple", "can"]), ("full", "full"))
    }
    assert seen["category"] == {"cube"}
    assert seen["list"] == {"apple", "can"}
    assert len(seen["full"]) > 8
    assert seen["full"] <= set(small_categories())


def test_furniture_is_what_is_articulated_or_large():
    from handloom.objects import make_object, object_categories

    for category in object_categories():
        asset = make_object(category, rng=np.random.default_rng(2))
        if asset.articulated or asset.extent.max() > 0.45:
            assert category in FURNITURE or category in SUITE_CATEGORIES  # None of them is drawn as clutter.


def test_files_are_swapped_within_their_category(make, tmp_path):
    for name, half in (("b0", 0.02), ("b1", 0.03), ("b2", 0.025)):
        folder = tmp_path / "assets" / "brick" / name
        folder.mkdir(parents=True)
        (folder / "model.xml").write_text(
            f'<mujoco><worldbody><body><geom type="box" size="{half} .02 .02"/></body></worldbody></mujoco>'
        )
    entry = {
        "name": "a",
        "target_class": "RigidObject",
        "path": "brick/b0/model.xml",
        "category": "brick",
        "apply_randomization": True,
    }
    task = {"asset_root": str(tmp_path / "assets")}
    paths = {one(make, entry, episode, **task).objects[-1].parameters["path"] for episode in range(20)}
    assert len(paths) == 3
    fixed = {
        one(make, {**entry, "apply_randomization": False}, e, **task).objects[-1].parameters["path"] for e in range(4)
    }
    assert len(fixed) == 1


@pytest.mark.parametrize("category", ["microwave", "laptop", "drawer_cabinet", "safe", "oven"])
def test_the_main_joint_starts_in_its_range_and_stays_there(make, category):
    entry = {**thing("a", category, fix_base=True), "target_class": "ArticulatedObject"}
    from handloom.objects import make_object

    low, high = make_object(category, rng=np.random.default_rng(0)).joints[0].range
    entry["joint_position_range"] = [low + 0.3 * (high - low), low + 0.6 * (high - low)]
    values = set()
    for episode in range(3):
        instance = one(make, entry, episode)
        scene = build_scene(instance)
        joint = next(iter(instance.objects[-1].joints))
        start = scene.world.joint_position(f"a/{joint}")
        assert entry["joint_position_range"][0] <= start <= entry["joint_position_range"][1]
        scene.world.step(500)
        assert scene.world.joint_position(f"a/{joint}") == pytest.approx(start, abs=0.02)
        values.add(start)
    assert len(values) == 3


def test_strict_init_sets_chosen_joints(make):
    entry = {**thing("a", "drawer_cabinet", fix_base=True), "target_class": "ArticulatedObject"}
    entry["strict_init"] = {"joint_positions": [0.1, 0.05], "joint_indices": [1, 0]}
    instance = one(make, entry)
    first, second = (link.joint for link in build_scene(instance).assets["a"].joints[:2])
    assert instance.objects[-1].joints == {first: 0.05, second: 0.1}


def test_joints_that_are_tied_start_together(make):
    entry = {**thing("a", "trash_can"), "target_class": "ArticulatedObject", "joint_position_range": [0.5, 0.5]}
    instance = one(make, entry)
    pedal = next(link for link in build_scene(instance).assets["a"].joints if link.drives)
    assert instance.objects[-1].joints == pytest.approx({"lid_joint": 0.5, pedal.joint: 0.5 / pedal.ratio})


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"joint_position_range": [5.0, 6.0]}, r"door_joint of a .*microwave goes from"),
        ({"strict_init": {"joint_positions": [0.1], "joint_indices": [7]}}, "has 1 joint.s., there is no joint 7"),
    ],
)
def test_joint_starts_that_cannot_be_are_refused(make, keys, expected):
    entry = {**thing("a", "microwave", **keys), "target_class": "ArticulatedObject"}
    with pytest.raises(ConfigError, match=expected):
        one(make, entry)


def test_hidden_objects_are_there_but_not_seen(make):
    task = make(
        objects=[thing("a", "cube", visible=False), thing("b", "cube"), thing("c", "cube", visible=False)],
        regions=[region("a"), region("b", visible=False), region("c", visible=True)],
    )
    scene = build_scene(sample_task(task, 0, 0))
    model = scene.world.model
    shown = {
        name: bool(np.any(model.geom_group[model.geom_bodyid == scene.world.body_index(f"{name}/object")] < 3))
        for name in "abc"
    }
    assert shown == {"a": False, "b": True, "c": False}  # Published regions say visible, and nobody reads it.
    assert sum("visible has no effect here" in line for line in task.notices) == 2


def test_what_is_only_seen_touches_nothing(make):
    entry = {**thing("ghost", "bowl"), "target_class": "XFormObject"}
    task = make(
        objects=[entry, thing("cube", "cube")],
        regions=[region(name, low=(0, 0.1, 0), high=(0, 0.1, 0)) for name in ("ghost", "cube")],
    )
    scene = build_scene(sample_task(task, 0, 0))
    assert not [c for c in scene.world.contacts() if "ghost" in c.body_a + c.body_b]


def test_a_texture_or_a_colour_covers_the_whole_object(make):
    for keys in ({"texture": {"texture_lib": "wood"}}, {"color": [1.0, 0.0, 0.0]}):
        scene = build_scene(one(make, thing("a", "mug", **keys)))
        model = scene.world.model
        geoms = np.flatnonzero((model.geom_bodyid == scene.world.body_index("a/object")) & (model.geom_group < 3))
        assert len({int(model.geom_matid[g]) for g in geoms}) == 1
        material = int(model.geom_matid[geoms[0]])
        assert (model.mat_texid[material].max() >= 0) == ("texture" in keys)


def write_stl(file, sides):
    """Write a box as an STL file, its sides in the unit of the file."""
    trimesh.creation.box(sides).export(file)


@pytest.mark.parametrize("keys", [{"color": "red"}, {"colors": ["red"]}])
def test_a_colour_word_paints_a_mesh_file_and_is_said(make, tmp_path, keys):
    write_stl(tmp_path / "block.stl", (0.04, 0.06, 0.03))
    entry = {"name": "a", "target_class": "RigidObject", "path": "block.stl", "category": "block", **keys}
    plain, painted = one(make, {**entry, "color": None, "colors": []}), one(make, entry)
    assert (plain.objects[-1].words, painted.objects[-1].words) == ("block", "red block")
    assert replace(painted.objects[-1], look={}, words="block") == plain.objects[-1]
    scene = build_scene(painted)
    model = scene.world.model
    drawn = np.flatnonzero((model.geom_bodyid == scene.world.body_index("a/object")) & (model.geom_group < 3))
    assert len(drawn)
    for geom in drawn:
        np.testing.assert_allclose(model.mat_rgba[model.geom_matid[geom]][:3], rgb("red"))


def test_a_colour_word_paints_a_stand_in_and_a_table(make):
    absent = {"name": "a", "target_class": "RigidObject", "path": "gone/apple.usd", "category": "apple"}
    instance = one(make, {**absent, "color": "blue"}, proxy_assets=True)
    assert instance.objects[-1].words == "blue apple"
    plane = {"name": "p", "target_class": "PlaneObject", "size": [0.2, 0.2], "color": "blue"}
    assert one(make, plane).objects[-1].parameters["color"] == list(rgb("blue"))


def test_a_colour_that_nobody_knows_is_refused_for_files_too(make):
    with pytest.raises(ConfigError, match=r"objects.0.color: no color named 'rde'; did you mean 'red'"):
        one(make, {"name": "a", "target_class": "RigidObject", "path": "block.stl", "color": "rde"})


def test_the_unit_of_a_mesh_file_is_a_parameter(make, tmp_path):
    write_stl(tmp_path / "block.stl", (40.0, 60.0, 30.0))
    entry = {"name": "a", "target_class": "RigidObject", "path": "block.stl", "parameters": {"unit": "mm"}}
    instance = one(make, entry)
    assert instance.objects[-1].parameters["unit"] == "mm"
    np.testing.assert_allclose(build_scene(instance).assets["a"].extent, [0.04, 0.06, 0.03], atol=1e-6)
    with pytest.raises(ConfigError, match=r"longest side is 60 m; .* --unit mm makes it 60 mm.*parameters: {unit: mm}"):
        one(make, {**entry, "parameters": {}})
    with pytest.raises(ConfigError, match=r"no option of an asset file named 'units'; did you mean 'unit'"):
        one(make, {**entry, "parameters": {"units": "mm"}})


def test_a_conveyor_moves_as_fast_as_the_task_says(make):
    belt = {**thing("belt", "conveyor", linear_velocity=[-0.05]), "target_class": "ConveyorObject"}
    task = make(
        objects=[belt, thing("can", "can")],
        regions=[
            region("belt", low=(0, 0.1, 0), high=(0, 0.1, 0), yaw=(0, 0)),
            region("can", "belt", low=(0.2, 0, 0), high=(0.2, 0, 0)),
        ],
    )
    instance = sample_task(task, 0, 0)
    scene = build_scene(instance)
    start = scene.object_pose("can")[0, 3]
    scene.world.step(round(2.0 / instance.timestep))
    assert (scene.object_pose("can")[0, 3] - start) / 2.0 == pytest.approx(-0.05, abs=0.005)


def test_gains_vary_within_their_range(make):
    task = make(physics={"gain_scale": [0.8, 1.2]})
    plain = build_scene(sample_task(make(), 0, 0)).world.model
    factors = []
    for episode in range(4):
        instance = sample_task(task, 0, episode)
        model = build_scene(instance).world.model
        factors.append(model.actuator_gainprm[0, 0] / plain.actuator_gainprm[0, 0])
        assert factors[-1] == pytest.approx(instance.robots[0].gain_scale)
        np.testing.assert_allclose(model.actuator_biasprm[0], plain.actuator_biasprm[0] * factors[-1])
    assert 0.8 <= min(factors) < max(factors) <= 1.2


def test_an_object_can_start_in_a_closed_gripper_which_holds_it(make):
    held = thing(
        "cube", "cube", parameters={"edge": 0.04}, init_parent="franka/panda_hand", init_translation=[0, 0, -0.1]
    )
    held["init_orientation"] = [1, 0, 0, 0]
    robot = {"name": "franka", "robot_config_file": "fr3", "euler": [0, 0, 90], "left_gripper_home": [0.0]}
    instance = sample_task(make(objects=[held], robots=[robot]), 0, 0)
    scene = build_scene(instance)
    arm = scene.robots["franka"].arms[0]
    hand = scene.world.body_pose(arm.tool_body)
    np.testing.assert_allclose(scene.object_pose("cube")[:3, 3], hand[:3, 3] + [0, 0, -0.1], atol=1e-6)
    opening = scene.world.data.qpos[arm.gripper_qpos_index]
    assert np.all((opening > 0.01) & (opening < 0.03))
    scene.world.data.ctrl[arm.gripper_ctrl_index] = 0.0
    scene.world.step(500)
    assert np.linalg.norm(scene.object_pose("cube")[:3, 3] - hand[:3, 3] - [0, 0, -0.1]) < 0.01
    assert not [c for c in scene.world.contacts() if c.distance < -0.002]


def test_both_instructions_name_what_the_objects_are(make):
    task = make(
        objects=[thing("fruit", "apple", apply_randomization=True)],
        regions=[region("fruit")],
        data={
            "language_instruction": "Take the {fruit}.",
            "detailed_language_instruction": "Grasp the {fruit} gently.",
        },
    )
    instance = sample_task(task, 0, 0)
    words = instance.objects[-1].words
    assert instance.instruction == f"Take the {words}."
    assert instance.detailed_instruction == f"Grasp the {words} gently."


def test_a_table_from_a_file_is_that_file_or_with_stand_ins_our_own(make, tmp_path):
    entry = {
        "name": "bench",
        "target_class": "GeometryObject",
        "path": "tables/table0/instance.xml",
        "scale": [1, 2, 1],
    }
    entry["size"] = [0.3, 0.2, 0.1]
    with pytest.raises(ConfigError, match=r"instance\.xml"):
        one(make, entry)
    assert one(make, entry, proxy_assets=True).objects[-1].category == "table"
    (tmp_path / "tables" / "table0").mkdir(parents=True)
    (tmp_path / "tables" / "table0" / "instance.xml").write_text(
        '<mujoco><worldbody><body><geom type="box" size=".3 .2 .02"/></body></worldbody></mujoco>'
    )
    with pytest.raises(
        ConfigError, match=r"objects.0: .*instance.xml: .*URDF files scale by one factor, got \[1.0, 2.0"
    ):
        one(make, entry)
    entry["scale"] = [1, 1, 1]
    assert "path" in one(make, entry, proxy_assets=True).objects[-1].parameters


def test_pictures_of_a_folder_cover_surfaces_and_a_missing_folder_is_said(make, tmp_path):
    from PIL import Image

    entry = thing("a", "cube", texture={"texture_lib": "covers", "texture_id": 1, "texture_scale": [2.0]})
    task = make(objects=[entry], regions=[region("a")])
    assert task.stand_ins == ("texture_lib: there is no folder covers with images; our plaster stands in",)
    (tmp_path / "covers").mkdir()
    for i, color in enumerate(((255, 0, 0), (0, 255, 0))):
        Image.new("RGB", (40, 30), color).save(tmp_path / "covers" / f"{i}.png")
    task = make(objects=[entry], regions=[region("a")])
    assert not task.notices
    instance = sample_task(task, 0, 0)
    assert instance.objects[-1].look == {"picture": str(tmp_path / "covers" / "1.png"), "repeat": [2.0, 2.0]}
    model = build_scene(instance).world.model
    assert tuple(model.tex_data[-3:]) == (0, 255, 0)
    entry["texture"]["apply_randomization"] = True
    task = make(objects=[entry], regions=[region("a")])
    assert len({sample_task(task, 0, e).objects[-1].look["picture"] for e in range(8)}) == 2
    entry["texture"] = {"texture_lib": "covers", "texture_id": 7}
    with pytest.raises(ConfigError, match="covers has 2 pictures"):
        sample_task(make(objects=[entry], regions=[region("a")]), 0, 0)


@pytest.mark.parametrize("category", sorted(FURNITURE - {"room_sheet", "room_table"}))  # Larger than the table.
def test_articulated_things_and_furniture_start_half_open_without_a_bang(make, category):
    from handloom.objects import make_object

    asset = make_object(category, rng=np.random.default_rng(0))
    kind = "ArticulatedObject" if asset.articulated else "GeometryObject"
    entry = {**thing("a", category), "target_class": kind, "fix_base": True}
    if asset.articulated:
        low, high = asset.joints[0].range
        entry["joint_position_range"] = [(low + high) / 2, (low + high) / 2]
    task = make(objects=[entry], regions=[region("a", low=(0, 0.25, 0), high=(0, 0.3, 0), yaw=(0, 0))])
    scene = build_scene(sample_task(task, 0, 0))
    scene.world.step(500)
    assert np.abs(scene.world.data.qvel).max() < 3.0


def test_the_scale_of_a_plane_may_differ_by_axis(make):
    plane = {"name": "mat", "target_class": "PlaneObject", "size": [0.2, 0.1], "scale": [2.0, 3.0, 1.0]}
    instance = sample_task(make(objects=[plane]), 0, 0)
    assert instance.objects[-1].parameters["size"][:2] == pytest.approx([0.4, 0.3])


@pytest.mark.parametrize("velocity", ["[[0.3, 0.2], [0, 0]]", "[[2.5, 3.0], [0, 0]]"])
def test_a_rolling_velocity_out_of_order_or_too_high_is_refused(velocity: str) -> None:
    with pytest.raises(ConfigError, match="rolling_velocity"):
        load_task("fr3_catch_ball", overrides=[f"objects.0.rolling_velocity={velocity}"])
