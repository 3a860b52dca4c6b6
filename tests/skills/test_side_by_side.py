"""Objects that a task puts on or in the same target get spots that leave room for all of them."""

from pathlib import Path

import numpy as np
import pytest

from handloom.engine.front_door import run_episode
from handloom.scene import Scene, build_scene
from handloom.scene.measures import world_box
from handloom.skills.configs.places import PlaceConfig
from handloom.skills.placing.company import Company, company_of, most_that_fit, shared_spots
from handloom.skills.placing.side_by_side import LEAST, Piece, side_by_side
from handloom.tasks import load_task, sample_task
from handloom.tasks.config.task_config import placed_skills
from handloom.tasks.goal_rehearsal import crowded_targets

MUGS = """
robot: fr3
objects:
  - {{name: red, category: mug, color: red}}
  - {{name: blue, category: mug, color: blue}}
  - {{name: white, category: mug, color: white}}
  - {{name: tray, category: tray, parameters: {{length: {length}, width: {width}, style: plain}}}}
regions:
  - {{object: tray, at: [0.15, 0.05], yaw: [20, 20]}}
  - {{object: red, at: [-0.25, -0.1]}}
  - {{object: blue, at: [-0.25, 0.05]}}
  - {{object: white, at: [-0.1, -0.1]}}
skills:
  - {{pick: red}}
  - {{place: red, on: tray}}
  - {{pick: blue}}
  - {{place: blue, on: tray{at}}}
  - {{pick: white}}
  - {{place: white, on: tray}}
"""


def loaded(folder: Path, *, length: float = 0.34, width: float = 0.24, at: str = "") -> tuple[Scene, list[PlaceConfig]]:
    (file := folder / "mugs.yaml").write_text(MUGS.format(length=length, width=width, at=at))
    task = load_task(file)
    scene = build_scene(sample_task(task, 0, 0))
    return scene, [skill for _, skill in placed_skills(task.config) if isinstance(skill, PlaceConfig)]


def middle(scene: Scene, name: str) -> np.ndarray:
    return world_box(scene, name).mean(axis=0)[:2]


def place_at(scene: Scene, name: str, at: np.ndarray, height: float) -> None:
    address = scene.world.qpos_index(f"{name}/free")
    scene.world.data.qpos[address : address + 2] += at - middle(scene, name)
    scene.world.data.qpos[address + 2] += height - world_box(scene, name)[0, 2]
    scene.world.forward()


def test_boxes_in_a_row_do_not_overlap_and_keep_a_gap() -> None:
    ticks = np.arange(-0.1, 0.1001, 0.01)
    spots = np.stack(np.meshgrid(ticks, [0.0], indexing="ij"), axis=-1).reshape(-1, 2)
    sizes = (0.04, 0.02, 0.03)
    pieces = [
        Piece(
            spots=spots,
            halves=np.full((len(spots), 2), size),
            margins=np.zeros(len(spots)),
            radius=1.5 * size,
            arm=np.zeros(2),
        )
        for size in sizes
    ]
    for seed in range(5):
        layouts = side_by_side(pieces, np.empty((0, 2, 2)), np.empty(0), np.random.default_rng(seed))
        assert layouts
        for chosen in layouts:
            at = spots[chosen][:, 0]
            gaps = [abs(at[i] - at[j]) - sizes[i] - sizes[j] for i in range(3) for j in range(i)]
            assert min(gaps) >= LEAST - 1e-9


def test_round_objects_are_packed_closer_than_their_boxes() -> None:
    ticks = np.arange(-0.05, 0.0501, 0.01)
    spots = np.stack(np.meshgrid(ticks, ticks, indexing="ij"), axis=-1).reshape(-1, 2)
    about = {"spots": spots, "halves": np.full((len(spots), 2), 0.05), "margins": np.zeros(len(spots))}
    discs = [Piece(**about, radius=0.05, arm=np.zeros(2)) for _ in range(2)]
    squares = [Piece(**about, radius=0.075, arm=np.zeros(2)) for _ in range(2)]
    nothing = np.empty((0, 2, 2)), np.empty(0)
    assert side_by_side(discs, *nothing, np.random.default_rng(0))
    assert not side_by_side(squares, *nothing, np.random.default_rng(0))


def test_each_arm_gets_the_spot_on_its_own_side() -> None:
    spots = np.stack(np.meshgrid(np.arange(-0.1, 0.1001, 0.01), [0.0], indexing="ij"), axis=-1).reshape(-1, 2)
    about = {"spots": spots, "halves": np.full((len(spots), 2), 0.04), "margins": np.zeros(len(spots)), "radius": 0.05}
    left, right = (Piece(**about, arm=np.array([x, -0.5])) for x in (-0.3, 0.3))
    for pieces, signs in (((left, right), (-1, 1)), ((right, left), (1, -1))):
        best = side_by_side([*pieces], np.empty((0, 2, 2)), np.empty(0), np.random.default_rng(0))[0]
        np.testing.assert_array_equal(np.sign(spots[best][:, 0]), signs)


def test_the_first_mug_leaves_room_for_two_more(tmp_path: Path) -> None:
    scene, places = loaded(tmp_path)
    tray, arm = world_box(scene, "tray"), np.array([0.0, -0.5])
    put: list[str] = []
    for k, config in enumerate(places):
        company = Company(later=tuple((later, (0.0, -0.5)) for later in places[k + 1 :]), earlier=tuple(put))
        spots = shared_spots(scene, config, company, tray, arm)
        assert spots
        place_at(scene, config.objects[0], spots[0].at, float(scene.object_pose("tray")[2, 3]) - 0.005)
        put.append(config.objects[0])
    for i, one in enumerate(put):
        for other in put[:i]:
            assert np.linalg.norm(middle(scene, one) - middle(scene, other)) > 0.08
        inside = (middle(scene, one) - tray.mean(axis=0)[:2]) @ scene.object_pose("tray")[:2, :2]
        assert np.all(np.abs(inside) < [0.17 - 0.03, 0.12 - 0.03])
    assert shared_spots(scene, places[0], Company(later=((places[1], (0.0, -0.5)),)), tray, arm)[0].at == pytest.approx(
        shared_spots(scene, places[0], Company(later=((places[1], (0.0, -0.5)),)), tray, arm)[0].at, abs=0.0
    )


def test_a_spot_that_the_task_gives_to_another_object_stays_free(tmp_path: Path) -> None:
    scene, places = loaded(tmp_path, at=", at: [0.0, 0.0]")
    company = Company(later=tuple((later, (0.0, -0.5)) for later in places[1:]))
    spot = shared_spots(scene, places[0], company, world_box(scene, "tray"), np.array([0.0, -0.5]))[0]
    assert np.linalg.norm(spot.at - world_box(scene, "tray").mean(axis=0)[:2]) > 0.07


def test_company_ends_where_the_object_or_its_target_is_taken_away(tmp_path: Path) -> None:
    scene, places = loaded(tmp_path)
    (pick,) = [
        skill
        for _, skill in placed_skills(load_task(tmp_path / "mugs.yaml").config)
        if skill.objects[:1] == ("red",) and not isinstance(skill, PlaceConfig)
    ]
    robot = next(iter(scene.robots))
    arm = scene.robot(robot).arms[0].name
    coming = [(robot, arm, config) for config in places[1:]]
    assert [later.objects[0] for later, _ in company_of(scene, places[0], coming, ()).later] == ["blue", "white"]
    taken = [coming[0], (robot, arm, pick), coming[1]]
    assert [later.objects[0] for later, _ in company_of(scene, places[0], taken, ()).later] == ["blue"]
    literal = places[0].model_copy(update={"ratio_widest": None})  # A given place is taken literally.
    assert not company_of(scene, literal, coming, ())


def test_check_tells_how_many_a_tray_holds(tmp_path: Path) -> None:
    scene, places = loaded(tmp_path)
    task = load_task(tmp_path / "mugs.yaml")
    assert most_that_fit(scene, places, world_box(scene, "tray")) == 3
    assert not [*crowded_targets(task, scene)]
    scene, places = loaded(tmp_path, length=0.18, width=0.12)
    (line,) = crowded_targets(load_task(tmp_path / "mugs.yaml"), scene)
    assert "tray holds 2 of these 3 side by side: red, blue, white" in line
    assert f"{tmp_path / 'mugs.yaml'}:" in line


def test_the_expert_puts_three_mugs_on_a_tray(tmp_path: Path) -> None:
    loaded(tmp_path)
    done = run_episode(tmp_path / "mugs.yaml", seed=0, episode=0)
    assert done.success, done.failure


@pytest.mark.parametrize(("category", "level"), [("tray", True), ("crate", True), ("bowl", False)])
def test_things_keep_their_spots_on_a_level_floor_and_roll_to_the_middle_of_a_bowl(
    tmp_path: Path, category: str, level: bool
) -> None:
    (file := tmp_path / "fruit.yaml").write_text(
        f"robot: fr3\nobjects: [{{name: a, category: strawberry}}, {{name: b, category: hex_nut}}, "
        f"{{name: into, category: {category}}}]\nregions: [{{object: into, at: [0.1, 0.05]}}]\n"
        "skills: [{pick: a}, {place: a, in: into}, {pick: b}, {place: b, in: into}]\n"
    )
    task = load_task(file)
    for episode in range(3):
        scene = build_scene(sample_task(task, 2, episode))
        first, second = [skill for _, skill in placed_skills(task.config) if isinstance(skill, PlaceConfig)]
        company = company_of(scene, first, [("franka", "left", second)], [])
        assert company
        spots = shared_spots(scene, first, company, world_box(scene, "into"), np.zeros(2))
        assert bool(spots) == level
