"""Regions that refer to parts, containers and lists put things exactly where the file says."""

from pathlib import Path

import numpy as np
import pytest
from task_files import TABLE_TOP, region, thing

from handloom.errors import ConfigError
from handloom.objects import make_object
from handloom.scene import build_scene
from handloom.scene.assets import outline_of
from handloom.scene.region_config import RegionConfig
from handloom.scene.regions import Placed
from handloom.tasks import SamplingError, load_task, sample_task
from handloom.tasks.sampling.layouts.layout_sampler import ordered
from handloom.tasks.sampling.layouts.outlines import convex_outline, footprint, outline_distance


def objects_of(task, episode=0):
    return {o.name: o for o in sample_task(task, 0, episode).objects}


def test_regions_wait_for_those_that_place_their_target():
    names = [("a", "b"), ("b", "c"), ("d", "table"), ("c", "table")]
    regions = [RegionConfig.model_validate(region(name, target)) for name, target in names]
    assert [r.object for r in ordered(regions)] == ["d", "c", "b", "a"]


def test_regions_in_a_circle_keep_the_order_of_the_file():
    regions = [RegionConfig.model_validate(region(a, b)) for a, b in (("a", "b"), ("b", "a"))]
    assert [r.object for r in ordered(regions)] == ["a", "b"]


def test_what_lies_on_a_thing_that_is_placed_later_lies_on_it(make):
    task = make(
        objects=[thing("cube", "cube"), thing("board", "plate")],
        regions=[region("cube", "board", low=(0, 0, 0), high=(0, 0, 0)), region("board")],
    )
    for episode in range(5):
        things = objects_of(task, episode)
        above = np.subtract(things["cube"].position, things["board"].position)
        assert np.hypot(above[0], above[1]) < 0.002
        assert above[2] > 0.005


def test_entries_of_the_region_list_are_numbered_as_in_the_file_and_used_once(make):
    pool = [{"pos_range": [[x, 0.1, 0], [x, 0.1, 0]], "yaw_rotation": [0, 0]} for x in (-0.3, -0.1, 0.1, 0.3)]
    names = ["a", "b", "c", "d"]
    regions = [{"object": n, "target": "table", "priority": p} for n, p in zip(names, ([3], [0], [], []), strict=True)]
    task = make(objects=[thing(n, "cube") for n in names], regions=regions, random_region_list=pool)
    seen = set()
    for episode in range(12):
        x = [objects_of(task, episode)[name].position[0] for name in names]
        np.testing.assert_allclose(x[:2], [0.3, -0.3], atol=1e-3)
        np.testing.assert_allclose(sorted(x[2:]), [-0.1, 0.1], atol=1e-3)
        seen.add(x[2] > 0)
    assert seen == {True, False}


@pytest.mark.parametrize(
    ("priority", "pool", "expected"),
    [
        ([4], 2, "has 2 entries, there is no entry 4"),
        ([], 0, "random_region_list, which is empty"),
        ([0], 1, "needs pos_range"),
    ],
)
def test_a_wrong_region_list_is_found_when_the_task_is_read(make, priority, pool, expected):
    entries = [{"yaw_rotation": [0, 0]}] * pool
    with pytest.raises(ConfigError, match=expected):
        make(
            objects=[thing("a", "cube")],
            regions=[{"object": "a", "target": "table", "priority": priority}],
            random_region_list=entries,
        )


def test_a_part_of_the_target_takes_the_place_of_the_whole(make):
    shelf = make_object("shelf", rng=np.random.default_rng(0))
    task = make(
        objects=[{**thing("shelf", "shelf"), "target_class": "GeometryObject"}, thing("can", "can")],
        regions=[
            region("shelf", low=(0, 0.25, 0), high=(0, 0.25, 0), yaw=(0, 0)),
            region("can", "shelf", low=(-0.05, 0, 0), high=(0.05, 0, 0), sub_tgt_prim="/World/shelf/board_1"),
        ],
    )
    things = objects_of(task)
    board = things["shelf"].position[2] + shelf.keypoints["board_1"].position[2]
    bottom = Placed(np.array(things["can"].position), np.array(things["can"].quat), outline_of(things["can"])).box[0, 2]
    assert bottom == pytest.approx(board, abs=1e-3)


def test_a_link_can_be_the_part(make):
    cabinet = {**thing("cabinet", "drawer_cabinet", fix_base=True), "target_class": "ArticulatedObject"}
    cabinet["joint_position_range"] = [0.15, 0.15]
    drawer = make_object("drawer_cabinet", rng=np.random.default_rng(0)).joints[0].name
    task = make(
        objects=[cabinet, thing("cube", "cube")],
        regions=[
            region("cabinet", low=(0, 0.3, 0), high=(0, 0.3, 0), yaw=(0, 0)),
            region("cube", "cabinet", low=(0, 0, 0), high=(0, 0, 0), sub_tgt_prim=drawer),
        ],
    )
    things = objects_of(task)
    front = outline_of(things["cabinet"], drawer)
    middle = (front.min(axis=0) + front.max(axis=0))[1] / 2 + things["cabinet"].position[1]
    assert abs(things["cube"].position[1] - middle) < 0.1
    assert front[:, 1].min() < outline_of(things["cabinet"])[:, 1].min() + 1e-9


def test_a_part_nobody_has_is_named_with_those_that_exist(make):
    task = make(objects=[thing("can", "can")], regions=[region("can", sub_tgt_prim="leg_9")])
    with pytest.raises(ConfigError, match=r"task.yaml:\d+: regions.1.sub_tgt_prim: no part of table named 'leg_9'"):
        sample_task(task, 0, 0)


def test_objects_in_a_container_take_its_gaps_each_once(make):
    gap = [-0.1, 0.0, 0.1]
    names = ["a", "b", "c"]
    task = make(
        objects=[thing("tray", "tray", gap=gap, parameters={"length": 0.35}), *(thing(n, "cube") for n in names)],
        regions=[
            *({"object": n, "target": "tray", "container": "tray", "z_init": 0.06} for n in names),
            region("tray", yaw=(-10, 10)),
        ],
    )
    orders = set()
    for episode in range(8):
        things = objects_of(task, episode)
        offsets = [things[n].position[0] - things["tray"].position[0] for n in names]
        np.testing.assert_allclose(sorted(offsets), gap, atol=2e-3)
        orders.add(tuple(np.argsort(offsets)))
    assert len(orders) > 1


def test_library_containers_bring_their_own_places_and_hold_what_is_put_there(make):
    names = [f"tube_{i}" for i in range(4)]
    task = make(
        objects=[thing("rack", "test_tube_rack"), *(thing(n, "test_tube") for n in names)],
        regions=[*({"object": n, "target": "rack", "container": "rack"} for n in names), region("rack")],
    )
    scene = build_scene(sample_task(task, 0, 0))
    scene.world.step(500)
    for name in names:
        assert scene.object_pose(name)[2, 2] > np.cos(np.deg2rad(12))


def test_a_full_container_says_so(make):
    task = make(
        objects=[thing("tray", "tray", gap=[0.0]), thing("a", "cube"), thing("b", "cube")],
        regions=[region("tray"), *({"object": n, "target": "tray", "container": "tray"} for n in "ab")],
    )
    with pytest.raises(SamplingError, match="b goes into tray, whose 1 places are taken"):
        sample_task(task, 0, 0)


def test_z_init_is_the_height_above_the_container(make):
    task = make(
        objects=[
            {**thing("table2", "cutting_board"), "target_class": "GeometryObject"},
            {**thing("sign", "cube"), "target_class": "GeometryObject"},
        ],
        regions=[region("table2"), {"object": "sign", "target": "table2", "container": "table2", "z_init": 0.3}],
    )
    things = objects_of(task)
    assert things["sign"].position[2] - things["table2"].position[2] == pytest.approx(0.3)


def test_footprints_stay_apart_when_the_task_asks_for_it(make):
    """A spoon under the overhang of a bowl touches nothing, and is still hidden from above."""
    places = {"low": (-0.12, 0.0, 0.0), "high": (0.12, 0.2, 0.0)}
    for spread in (True, False):
        task = make(
            objects=[thing("bowl", "bowl"), thing("spoon", "spoon", optimize_2d_layout=spread)],
            regions=[region("bowl", **places), region("spoon", **places)],
        )
        gaps = []
        for episode in range(25):
            things = objects_of(task, episode)
            outlines = [
                footprint(Placed(np.array(o.position), np.array(o.quat), outline_of(o)))
                for o in (things["bowl"], things["spoon"])
            ]
            gaps.append(outline_distance(*outlines))
        assert (min(gaps) > -1e-9 and sum(g <= 0 for g in gaps) == 0) == spread


def test_outline_distance_agrees_with_brute_force():
    rng = np.random.default_rng(0)
    for _ in range(200):
        a, b = (convex_outline(rng.uniform(-0.1, 0.1, (9, 2)) + rng.uniform(-0.15, 0.15, 2)) for _ in range(2))
        weights = rng.dirichlet(np.full(9, 0.3), 4000)[:, : len(a)], rng.dirichlet(np.full(9, 0.3), 4000)[:, : len(b)]
        inside = [w / w.sum(axis=1, keepdims=True) @ p for w, p in zip(weights, (a, b), strict=True)]
        edges = [np.concatenate([p + t * (np.roll(p, -1, axis=0) - p) for t in np.linspace(0, 1, 40)]) for p in (a, b)]
        brute = np.linalg.norm(edges[0][:, None] - edges[1][None], axis=2).min()
        found = outline_distance(a, b)
        if found > 0:
            assert found == pytest.approx(brute, abs=4e-3)
            assert found <= brute + 1e-12
            near = np.linalg.norm(inside[0][:, None] - inside[1][None, :200], axis=2).min()
            assert near >= found - 1e-9
        else:
            assert brute < 5e-3 or _contains(a, b) or _contains(b, a)


def _contains(a, b):
    edges = np.roll(a, -1, axis=0) - a
    offset = b[:, None] - a[None]
    return bool(np.all(edges[:, 0] * offset[..., 1] - edges[:, 1] * offset[..., 0] > -1e-9, axis=1).any())


def test_nothing_is_placed_inside_the_robot(make):
    task = make(objects=[thing("cube", "cube")], regions=[region("cube", low=(0, -0.37, 0), high=(0, -0.36, 0))])
    with pytest.raises(SamplingError, match="inside the robot franka"):
        sample_task(task, 0, 0)


def test_the_table_top_is_where_it_was_said_to_be(make):
    task = make(objects=[thing("cube", "cube", parameters={"edge": 0.04})], regions=[region("cube")])
    assert objects_of(task)["cube"].position[2] == pytest.approx(TABLE_TOP + 0.02, abs=5e-4)


def box_of(o):
    return Placed(np.array(o.position), np.array(o.quat), outline_of(o)).box


def test_circle_samplers_of_a_task_keep_their_distances(make):
    """One fixed block is the centre; what lies around it is fixed too, so that nothing settles."""
    names = ("ring", "face", "along")
    fixed = [
        {**thing(name, "cube", parameters={"edge": 0.03}), "target_class": "GeometryObject"}
        for name in (*names, "b", "c")
    ]
    task = make(
        objects=fixed,
        regions=[
            region("b", low=(0, 0.1, 0), high=(0, 0.1, 0), yaw=(30, 30)),
            region("c", low=(0.3, 0.1, 0), high=(0.3, 0.1, 0), yaw=(0, 0)),
            {
                "object": "ring",
                "target": "b",
                "random_type": "A_by_B_circle_sampler",
                "random_config": {"r_range": [0.1, 0.2], "theta_range": [100, 160], "yaw_rotation": [0, 0]},
            },
            {
                "object": "face",
                "target": "b",
                "random_type": "A_face_B_circle_sampler",
                "random_config": {"r_range": [0.1, 0.15], "yaw_rotation": [0, 0]},
            },
            {
                "object": "along",
                "target": "b",
                "target2": "c",
                "random_type": "A_along_B_C_circle_sampler",
                "random_config": {"r_range": [0.0, 0.05], "yaw_rotation": [0, 0]},
            },
        ],
    )
    for episode in range(20):
        things = objects_of(task, episode)
        middle = box_of(things["b"]).mean(axis=0)
        offsets = {name: np.array(things[name].position) - middle for name in names}
        radius = {name: float(np.hypot(*offset[:2])) for name, offset in offsets.items()}
        theta = {name: float(np.rad2deg(np.arctan2(offset[1], offset[0]))) for name, offset in offsets.items()}
        assert 0.1 <= radius["ring"] <= 0.2
        assert 100 <= theta["ring"] <= 160
        assert 0.1 <= radius["face"] <= 0.15
        assert 0.3 <= radius["along"] <= 0.35 + 1e-9
        assert theta["face"] == pytest.approx(30, abs=1e-6)
        assert theta["along"] == pytest.approx(30, abs=1e-6)
        for name in names:
            assert box_of(things[name])[0, 2] == pytest.approx(box_of(things["b"])[0, 2], abs=1e-6)


def test_what_is_put_in_something_ends_on_or_in_it(make):
    """The sampler sinks A 5 mm into B's top; a hollow B lets it in, a solid one pushes it out."""
    for category, inside in (("bowl", True), ("cutting_board", False)):
        task = make(
            objects=[thing("b", category), thing("cube", "cube", parameters={"edge": 0.03})],
            regions=[
                region("b", low=(0, 0.1, 0), high=(0, 0.1, 0)),
                {
                    "object": "cube",
                    "target": "b",
                    "random_type": "A_in_B_region_sampler",
                    "random_config": {"z_bias": 0.0},
                },
            ],
        )
        for episode in range(4):
            things = objects_of(task, episode)
            assert (box_of(things["cube"])[0, 2] < box_of(things["b"])[1, 2] - 0.004) == inside


@pytest.mark.parametrize(("shift", "stays"), [(0.0, True), (0.3, False)])
def test_an_object_that_does_not_stay_where_its_region_puts_it_is_no_start(tmp_path: Path, shift: float, stays: bool):
    (file := tmp_path / "task.yaml").write_text(f"""
robot: fr3
objects:
  - {{name: cube, category: cube, parameters: {{edge: 0.04}}}}
  - {{name: book, category: book}}
regions:
  - {{object: book, at: [0.0, 0.0], yaw: [0, 0]}}
  - {{object: cube, on: book, at: [{shift}, 0.0]}}
skills: [{{pick: cube}}]
""")
    task = load_task(file)
    if stays:
        placed = {obj.name: obj.position for obj in sample_task(task, seed=0, episode=0).objects}
        assert placed["cube"][2] > placed["book"][2] + 0.01
    else:
        with pytest.raises(SamplingError, match="did not stay on book"):
            sample_task(task, seed=0, episode=0)
