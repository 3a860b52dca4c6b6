"""An object that is put at a spot stands there: not on a rim, not over an edge, not half on something else."""

from pathlib import Path

import numpy as np
import pytest

from handloom.scene import Scene, build_scene
from handloom.scene.measures import world_box
from handloom.skills.configs.places import PlaceConfig
from handloom.skills.placing.footing import MOST, steady_shifts
from handloom.skills.placing.spots import shift_beside_others
from handloom.tasks import load_task, sample_task
from handloom.tasks.config.task_config import placed_skills

TASK = """
base: setups/fr3.yaml
objects:
  - {name: cup, target_class: RigidObject, category: cup}
  - {name: ball, target_class: RigidObject, category: ball}
  - {name: book, target_class: RigidObject, category: book}
  - {name: tray, target_class: RigidObject, category: tray, parameters: {length: 0.34, width: 0.24, style: plain}}
regions:
  - {object: tray, target: table, random_config: {pos_range: [[0, 0.1, 0], [0, 0.1, 0]], yaw_rotation: [0, 0]}}
  - {object: cup, target: table, random_config: {pos_range: [[0.3, -0.1, 0], [0.3, -0.1, 0]]}}
  - {object: ball, target: table, random_config: {pos_range: [[0.4, -0.1, 0], [0.4, -0.1, 0]]}}
  - {object: book, target: table, random_config: {pos_range: [[-0.4, 0.1, 0], [-0.4, 0.1, 0]]}}
skills: [{pick: cup}, {place: cup, on: tray}]
"""


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    (file := tmp_path_factory.mktemp("footing") / "task.yaml").write_text(TASK)
    return build_scene(sample_task(load_task(file), 0, 0))


def shift_at(scene: Scene, name: str, target: str, x: float, y: float) -> tuple[np.ndarray, bool]:
    pose = scene.object_pose(name).copy()
    pose[:3, 3] = scene.object_pose(target)[:3, 3] + [x, y, 0.2]
    shifts, steady = steady_shifts(scene, name, pose[None])
    return shifts[0], bool(steady[0])


@pytest.mark.parametrize("name", ["cup", "ball"])
def test_a_spot_on_flat_ground_is_kept(scene: Scene, name: str) -> None:
    shift, steady = shift_at(scene, name, "tray", 0.05, 0.02)
    assert steady
    np.testing.assert_allclose(shift, 0.0, atol=1e-12)


def test_a_spot_on_the_rim_moves_inside(scene: Scene) -> None:
    shift, steady = shift_at(scene, "cup", "tray", 0.0, 0.09)
    assert steady
    assert shift[1] < 0.0
    assert np.linalg.norm(shift) <= MOST + 1e-9


def test_a_spot_in_the_middle_of_the_rim_is_refused(scene: Scene) -> None:
    assert not shift_at(scene, "cup", "tray", 0.0, 0.115)[1]


def test_an_edge_needs_the_centre_of_mass_over_it(scene: Scene) -> None:
    across = [shift_at(scene, "cup", "book", 0.0, y) for y in np.arange(0.0, 0.2, 0.01)]
    kept = [bool(steady) and float(np.linalg.norm(shift)) < 1e-9 for shift, steady in across]
    assert kept[0]
    # At the edge of the book the cup is moved back onto it or beside it, and farther out it stands on the table.
    assert not all(kept)
    assert kept[-1]


def test_a_tilted_object_settles_on_its_whole_foot(scene: Scene) -> None:
    pose = scene.object_pose("cup").copy()
    pose[:3, 3] = scene.object_pose("tray")[:3, 3] + [0.0, 0.02, 0.2]
    angle = np.deg2rad(8.0)
    tilt = np.array([[1, 0, 0], [0, np.cos(angle), -np.sin(angle)], [0, np.sin(angle), np.cos(angle)]])
    pose[:3, :3] = tilt @ pose[:3, :3]
    shifts, steady = steady_shifts(scene, "cup", pose[None])
    assert steady[0]
    np.testing.assert_allclose(shifts, 0.0, atol=1e-12)


TWO = """
robot: fr3
objects:
  - {name: apple, category: apple}
  - {name: can, category: can}
  - {name: tray, category: tray}
regions:
  - {object: tray, at: [0.0, 0.05], yaw: [0, 0]}
  - {object: apple, on: tray, at: [0.0, 0.0]}
  - {object: can, at: [0.25, 0.0]}
skills: [{pick: can}, {place: can, on: tray}]
"""


def test_what_lies_on_a_tray_is_left_alone(tmp_path: Path) -> None:
    (file := tmp_path / "two.yaml").write_text(TWO)
    task = load_task(file)
    scene = build_scene(sample_task(task, 0, 0))
    config = next(skill for _, skill in placed_skills(task.config) if isinstance(skill, PlaceConfig))
    pose, tray = scene.object_pose("can").copy(), world_box(scene, "tray")
    pose[:3, 3] = [*scene.object_pose("apple")[:2, 3], tray[1, 2] + 0.1]
    shift = shift_beside_others(scene, config, pose, tray)
    assert np.linalg.norm(shift) > 0.05
    middle = pose[:2, 3] + shift
    assert np.all(middle > tray[0, :2])
    assert np.all(middle < tray[1, :2])
    pose[:2, 3] = middle
    np.testing.assert_array_equal(shift_beside_others(scene, config, pose, tray), 0.0)
