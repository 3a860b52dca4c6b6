"""Task files of the published shape load, mean what they say and are sampled; nothing is replaced without a word."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from reference_files import FAMILIES, STAND_INS, write_checkout, written
from reference_long import clean_dirt
from reference_rare import two_robot_sandwich
from reference_rigs import CONFIGS, arena, on, rigid, task
from task_files import region, thing

from handloom.cli.main import DONE, main
from handloom.engine.runs.run_settings import RunSettings
from handloom.episode import replay, run_episode
from handloom.errors import ConfigError
from handloom.objects import make_object
from handloom.scene import build_scene
from handloom.scene.measures import geom_box
from handloom.skills import Schedule
from handloom.tasks import load_task, sample_task
from handloom.values import TaskInstance
from spread import every

RNG = np.random.default_rng(0)
COUNT = len(FAMILIES)


def files_of(root: Path) -> list[Path]:
    return sorted((root / CONFIGS / "tasks").rglob("*.yaml"))


def test_every_family_loads_from_anywhere_with_and_without_stand_ins(checkout, monkeypatch, tmp_path):
    files = files_of(checkout)
    assert len(files) == COUNT
    assert {len(file.relative_to(checkout).parts) for file in files} >= {9, 10, 12}
    for file in files:
        assert load_task(file).stand_ins == load_task(file, overrides=["proxy_assets=false"]).stand_ins
    for folder in (checkout, tmp_path):
        monkeypatch.chdir(folder)
        for file in files:
            surface = "double_conveyor" if "conveyor" in str(file) else "table"
            assert any(f"our {surface} stands in" in line for line in load_task(file, overrides=STAND_INS).stand_ins)


@pytest.mark.parametrize("part", every(range(3), 3))
def test_every_family_is_sampled_with_stand_ins(checkout, part):
    alike = ("close", "open", "push", "pull", "pour", "water")
    files = [f for f in files_of(checkout) if not f.stem.startswith(alike) or "microwave" in f.stem]
    for file in files[part::3]:
        loaded = load_task(file, overrides=STAND_INS)
        instance = sample_task(loaded, 0, 0)
        assert {o.name for o in loaded.config.objects} <= {o.name for o in instance.objects}
        assert all(np.isfinite(o.position).all() for o in instance.objects)


def test_a_task_far_from_the_checkout_finds_its_files_in_the_working_folder(checkout, tmp_path, monkeypatch):
    file = tmp_path / "elsewhere" / "task.yaml"
    file.parent.mkdir()
    file.write_text(files_of(checkout)[0].read_text())
    with pytest.raises(ConfigError, match="was not found; searched") as error:
        load_task(file)
    assert str(error.value).count(",") == 2  # Three places: around the file, the working folder, the asset root.
    monkeypatch.chdir(checkout)
    assert load_task(file).arena.fixtures[0].name == "table"


def test_an_asset_root_is_found_above_the_task_and_in_the_working_folder(checkout, tmp_path, monkeypatch):
    root = tmp_path / "with_assets"
    write_checkout(root, 1)
    model = root / "workflows/simbox/assets/things/cube/cube_7/Aligned_obj.xml"
    model.parent.mkdir(parents=True)
    model.write_text("<mujoco><worldbody><body><geom type='box' size='.02 .02 .02'/></body></worldbody></mujoco>")
    obj = {**rigid("a", "things/cube/cube_001"), "path": "things/cube/cube_001/Aligned_obj.xml"}
    values = task("franka", [obj], [on("a", [0, 0, 0], [0, 0, 0])], [{"franka": [{"left": [{"name": "home"}]}]}])
    here = sample_task(load_task(written(root, values), overrides=STAND_INS), 0, 0)
    # The instance that is named does not exist; one is drawn from the folder of its category.
    assert {o.name: o.parameters.get("path") for o in here.objects}["a"] == str(model)
    outside = tmp_path / "task.yaml"
    outside.write_text(yaml.safe_dump(values))
    monkeypatch.chdir(root)
    loaded = load_task(outside, overrides=STAND_INS)
    assert loaded.config.asset_root == str(root / "workflows/simbox/assets")
    monkeypatch.chdir(tmp_path)
    assert loaded.folder("things") == root / "workflows/simbox/assets/things"


def test_robots_stand_on_their_lowest_point(checkout):
    for name in ("lift2", "split_aloha", "genie1", "franka"):
        file = next(f for f in files_of(checkout) if f"{name}/single_pick" in str(f))
        instance = sample_task(load_task(file, overrides=STAND_INS), 0, 0)
        scene = build_scene(instance)
        model, data = scene.world.model, scene.world.data
        bodies = [model.body(b).name for b in model.geom_bodyid]
        mine = [g for g, body in enumerate(bodies) if body.startswith(f"{name}/") and model.geom_group[g] < 3]
        lowest = min(geom_box(model, data, g)[0, 2] for g in mine)
        table = next(o for o in instance.objects if o.name == "table")
        top = table.position[2] + table.parameters["size"][2] / 2
        shift = {r.object: r.random_config.pos_range for r in load_task(file).config.regions}[name][0][2]
        assert lowest == pytest.approx(top + shift + 0.001, abs=1e-9)


def test_published_tables_are_as_high_and_wide_as_their_scale_says(checkout):
    sizes = {}
    for file in files_of(checkout):
        loaded = load_task(file, overrides=STAND_INS)
        if "single_pick" in str(file):
            table = next(o for o in sample_task(loaded, 0, 0).objects if o.name == "table")
            sizes[loaded.arena.fixtures[0].scale] = table
    ours = arena((0.001, 0.001053, 0.001056))["fixtures"][0]
    table = sizes[tuple(ours["scale"])]
    assert table.position[2] + table.parameters["size"][2] / 2 == pytest.approx(0.751, abs=2e-3)
    assert table.parameters["repeat"] == [1.0, 1.0]


def test_a_reversed_range_is_sorted_and_a_wrapped_one_is_opened(make):
    ranges = {"pos_range": [[0.0, 0.2, 0.0], [0.1, 0.1, 0.0]], "yaw_rotation": [0, 0]}
    loaded = make(
        objects=[thing("a", "cube")],
        regions=[{"object": "a", "target": "table", "priority": False}],
        random_region_list=[{"random_config": ranges}],
    )
    assert loaded.config.random_region_list[0].pos_range == ((0.0, 0.1, 0.0), (0.1, 0.2, 0.0))
    (a,) = [o for o in sample_task(loaded, 0, 0).objects if o.name == "a"]
    assert 0.1 <= a.position[1] <= 0.2


def test_priorities_count_in_what_is_left_of_the_list_negative_ones_from_its_end(make):
    pool = [{"pos_range": [[x, 0.1, 0], [x, 0.1, 0]], "yaw_rotation": [0, 0]} for x in (-0.3, -0.1, 0.1, 0.3)]
    places = {"a": [-1], "b": [-1], "c": [0], "d": [0]}
    loaded = make(
        objects=[thing(name, "cube") for name in places],
        regions=[{"object": name, "target": "table", "priority": wanted} for name, wanted in places.items()],
        random_region_list=pool,
    )
    found = {o.name: round(o.position[0], 2) for o in sample_task(loaded, 0, 0).objects if o.name in places}
    assert found == {"a": 0.3, "b": 0.1, "c": -0.3, "d": -0.1}


def test_offsets_of_a_gap_are_along_the_world_and_none_means_the_middle(make):
    tray = thing("tray", "tray", gap=[-0.05, 0.05], parameters={"length": 0.35})
    names = ["a", "b"]
    inside = [{"object": n, "target": "tray", "container": "tray", "z_init": 0.06} for n in names]
    task_ = make(objects=[tray, *(thing(n, "cube") for n in names)], regions=[region("tray", yaw=(20, 20)), *inside])
    things = {o.name: o for o in sample_task(task_, 0, 0).objects}
    offsets = sorted(tuple(np.subtract(things[n].position, things["tray"].position)[:2].round(3)) for n in names)
    np.testing.assert_allclose(offsets, [(-0.05, 0.0), (0.05, 0.0)], atol=4e-3)
    task_ = make(
        objects=[{**tray, "gap": False}, thing("a", "cube")], regions=[region("tray", yaw=(20, 20)), inside[0]]
    )
    things = {o.name: o for o in sample_task(task_, 0, 0).objects}
    np.testing.assert_allclose(things["a"].position[:2], things["tray"].position[:2], atol=4e-3)


def test_objects_may_be_called_as_clutter_is(make):
    clutter = {"target": "table", "min_num": 2, "max_num": 2, "pos_range": [[-0.6, -0.4], [0.6, 0.4]]}
    loaded = make(
        objects=[thing("distractor_0", "cube")],
        regions=[region("distractor_0")],
        distractors=clutter,
    )
    names = [o.name for o in sample_task(loaded, 0, 0).objects]
    assert len(names) == len(set(names))
    assert {"distractor_0", "distractor_1"} <= set(names)


def test_a_scale_of_its_own_for_each_axis_reaches_shape_mass_and_rest_poses():
    plain, wide = (make_object("mug", rng=np.random.default_rng(3), scale=s) for s in (1.0, (1.0, 1.5, 0.5)))
    np.testing.assert_allclose(wide.extent / plain.extent, [1.0, 1.5, 0.5], rtol=1e-9)
    assert wide.mass / plain.mass == pytest.approx(0.75, rel=0.03)
    again = make_object("mug", parameters=json.loads(json.dumps(dict(wide.parameters))))
    assert again.content_hash == wide.content_hash
    assert wide.rest_poses.heights[0] == pytest.approx(wide.extent[2] / 2)
    for category in ("ball", "lemon", "can"):
        round_, oval = (make_object(category, rng=np.random.default_rng(0), scale=s) for s in (1.0, (1.0, 1.0, 2.0)))
        np.testing.assert_allclose(oval.extent / round_.extent, [1.0, 1.0, 2.0], rtol=0.02)


def test_stand_ins_have_y_up_and_stand_as_the_task_turns_them(checkout):
    objects = [
        rigid(
            "upright", "basic/bottle/bottle_01", orientation_mode="keep", euler=(90, 0, 0), apply_randomization=False
        ),
        rigid(
            "turned", "basic/bottle/bottle_02", orientation_mode="keep", euler=(90, 0, 35), apply_randomization=False
        ),
    ]
    regions = [on(o["name"], [x, 0.1, 0], [x, 0.1, 0], yaw=(0, 0)) for o, x in zip(objects, (-0.2, 0.2), strict=True)]
    values = task("franka", objects, regions, [{"franka": [{"left": [{"name": "home"}]}]}])
    scene = build_scene(sample_task(load_task(written(checkout, values), overrides=STAND_INS), 0, 0))
    R = scene.object_pose("upright")[:3, :3]
    np.testing.assert_allclose(R[:, 1], [0, 0, 1], atol=0.02)  # Its own y axis is up: what container_up and axes mean.
    x = scene.object_pose("turned")[:3, 0]
    assert np.rad2deg(np.arctan2(x[1], x[0])) == pytest.approx(35, abs=2)


def test_the_folder_says_more_than_a_left_over_category(checkout):
    file = next(f for f in files_of(checkout) if "single_pnp" in str(f))
    lines = load_task(file, overrides=STAND_INS).stand_ins
    (line,) = [line for line in lines if "(container)" in line]
    assert line.endswith(
        "functional/basket/basket_01/Aligned_obj.usd is missing; our low_basket stands in, by the word 'basket'"
    )


def test_robots_without_a_file_are_known_by_name_and_cameras_keep_theirs(checkout):
    loaded = load_task(written(checkout, two_robot_sandwich("lift2", "left", RNG)), overrides=STAND_INS)
    instance = sample_task(loaded, 0, 0)
    assert [robot.robot for robot in instance.robots] == ["lift2", "lift2"]
    assert len({camera.name for camera in instance.cameras}) == 6
    wrong = two_robot_sandwich("lift2", "left", RNG)
    wrong["tasks"][0]["robots"][1]["name"] = "robby_1"
    wrong["tasks"][0]["objects"] = []
    wrong["tasks"][0]["skills"] = [{"robby_1": [{"left": [{"name": "home"}]}]}]
    wrong["tasks"][0]["cameras"], wrong["tasks"][0]["regions"] = [], []
    with pytest.raises(ConfigError, match=r"no robot named 'robby'; .*known: .*lift2"):
        load_task(written(checkout, wrong, "mine/wrong.yaml"))


def test_edited_robot_and_camera_files_are_opened(tmp_path):
    root = tmp_path / "edited"
    (file,) = write_checkout(root, 1)
    plain = sample_task(load_task(file, overrides=STAND_INS), 0, 0)
    assert plain.robots[0].robot == "lift2"
    assert "gripper_max_width" not in plain.robots[0].overrides
    for name, key, value in (
        ("robots/lift2", "gripper_max_width", 0.07),
        ("cameras/realsense_d455_v3", "resolution_width", 640),
    ):
        path = root / CONFIGS / f"{name}.yaml"
        values = yaml.safe_load(path.read_text())
        path.write_text(yaml.safe_dump({**values, key: value}))
    edited = sample_task(load_task(file, overrides=STAND_INS), 0, 0)
    assert edited.robots[0].overrides["gripper_max_width"] == 0.07
    assert {c.name: c.width for c in edited.cameras}["head"] == 640
    assert TaskInstance.from_json(edited.to_json()) == edited


def test_the_curve_beside_a_robots_usd_replaces_ours(tmp_path):
    root = tmp_path / "curve"
    write_checkout(root, 1)
    folder = root / "workflows/simbox/assets/genie1"
    folder.mkdir(parents=True)
    rows = {str(i): {"width": 0.01 * i, "offset": 0.001 * i} for i in range(8)}
    (folder / "tcp2base_offset.json").write_text(json.dumps(rows))
    values = task("genie1", [], [], [{"genie1": [{"left": [{"name": "home"}]}]}])
    robot = sample_task(load_task(written(root, values), overrides=STAND_INS), 0, 0).robots[0]
    assert robot.overrides["extra_depth"]["width"] == pytest.approx([0.0, *(0.01 * i for i in range(1, 8))])
    assert (robot.overrides["gripper_min_width"], robot.overrides["gripper_max_width"]) == (0.01, 0.07)
    (folder / "tcp2base_offset.json").write_text("[]")
    with pytest.raises(ConfigError, match="expected names with a width and an offset"):
        load_task(written(root, values, "mine/other.yaml"))


def test_published_dirt_is_seen_at_first_and_touched_by_nothing(checkout):
    loaded = load_task(written(checkout, clean_dirt("lift2", "left", RNG)), overrides=STAND_INS)
    dirt = [o for o in sample_task(loaded, 0, 0).objects if o.name.startswith("wuzi")]
    assert all(o.visible and not o.solid and o.fixed for o in dirt)


def test_what_is_wiped_away_is_gone_after_the_move_and_in_its_replay(tmp_path):
    patches = {"near": [-0.05, 0.1, 0.0], "far": [0.2, 0.15, 0.0]}
    wipe = {"name": "move", "objects": ["sponge", "near"], "invisible_object": ["near"], "success_threshold": 0.05}
    wipe |= {"delta_trans": [[0, 0, 0], [0, 0.04, 0], [0, -0.04, 0], [0, 0, 0]]}
    pick = {"name": "pick", "objects": ["sponge"], "filter_z_dir": ["downward", 155], "pre_grasp_offset": 0.08}
    pick |= {"post_grasp_offset_min": 0.05, "post_grasp_offset_max": 0.06, "lift_th": 0.03, "t_eps": 0.01, "o_eps": 0.1}
    values = {
        "base": "setups/franka_robotiq85.yaml",
        "objects": [
            thing("sponge", "sponge"),
            *({**thing(name, "place_mat", scale=[0.25] * 3), "target_class": "GeometryObject"} for name in patches),
        ],
        "regions": [
            region("sponge", low=(-0.2, 0.05, 0), high=(-0.2, 0.05, 0), yaw=(0, 0)),
            *(region(name, low=at, high=at, yaw=(0, 0)) for name, at in patches.items()),
        ],
        "skills": [{"franka": [{"left": [pick, wipe]}]}],
    }
    file = tmp_path / "wipe.yaml"
    file.write_text(yaml.safe_dump(values))
    loaded = load_task(file)
    instance = sample_task(loaded, 0, 0)
    scene = build_scene(instance)
    start = {name: scene.object_pose(name)[2, 3] for name in patches}
    record = run_episode(scene, Schedule(scene, loaded.config.skills, np.random.default_rng(0)))
    assert record.success, record.failure
    assert scene.object_pose("near")[2, 3] < start["near"] - 1.0
    assert scene.object_pose("far")[2, 3] == pytest.approx(start["far"])
    again = replay(record)
    assert (again.exact, again.success_again) == (True, True)


def test_what_stands_in_is_printed_once_and_kept_in_the_run(checkout, capsys):
    file = files_of(checkout)[0]
    loaded = load_task(file, overrides=STAND_INS)
    settings = RunSettings.of_task(loaded, seed=0)
    assert settings.stand_ins == loaded.stand_ins
    assert yaml.safe_load(settings.to_yaml())["stand_ins"] == list(loaded.stand_ins)
    assert main(["check", "--fast", str(file), "--set", "proxy_assets=true"]) == DONE
    said = capsys.readouterr().out
    assert all(said.count(f"note: {line}\n") == 1 for line in loaded.stand_ins)


def test_a_missing_arena_is_replaced_only_where_stand_ins_are_allowed(checkout):
    values = task(
        "franka", [], [], [{"franka": [{"left": [{"name": "home"}]}]}], arena_file=f"{CONFIGS}/arenas/gone.yaml"
    )
    file = written(checkout, values, "mine/gone.yaml")
    with pytest.raises(ConfigError, match=r"gone.yaml was not found; searched"):
        load_task(file)
    assert "gone.yaml is missing; our arenas/table.yaml stands in" in load_task(file, overrides=STAND_INS).stand_ins[0]


def test_a_missing_asset_without_stand_ins_says_how_to_allow_them(checkout):
    loaded = load_task(files_of(checkout)[-1])
    with pytest.raises(ConfigError, match="proxy_assets=true"):
        sample_task(loaded, 0, 0)
