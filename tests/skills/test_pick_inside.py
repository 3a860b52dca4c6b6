"""Picks of objects inside others: from above out of a drawer, from the front under a roof."""

from pathlib import Path

import numpy as np
import pytest

from handloom.engine.attempt import Stopwatch, simulate
from handloom.scene import build_scene
from handloom.scene.measures import room_above, world_box
from handloom.tasks import load_task, sample_task


def task_file(folder: Path, container: str, region: str) -> Path:
    file = folder / "pick_inside.yaml"
    file.write_text(f"""
robot: fr3
objects:
  - {container}
  - {{name: mug, category: mug}}
  - {{name: apple, category: apple}}
regions:
  - {region}
skills:
  - {{pick: mug}}
""")
    return file


MICROWAVE = "{name: box, category: microwave, joint_position_range: [1.5, 1.7]}"


def test_the_room_above_counts_only_fixed_roofs_that_cover_the_whole_object(tmp_path):
    scene = build_scene(sample_task(task_file(tmp_path, MICROWAVE, "{object: mug, in: box}"), 0, 0))
    roof, top = world_box(scene, "box")[1, 2], world_box(scene, "mug")[1, 2]
    assert 0.02 < room_above(scene, "mug") < roof - top
    assert room_above(scene, "apple") == np.inf
    half = (world_box(scene, "box")[0] + world_box(scene, "box")[1]) / 2.0
    scene.world.set_body_pose("apple/object", _at([*half[:2], roof + 0.05]))
    assert room_above(scene, "box") == np.inf, "an apple on it is no roof"


def _at(position: list[float]) -> np.ndarray:
    T = np.eye(4)
    T[:3, 3] = position
    return T


@pytest.mark.parametrize("episode", range(2))
def test_a_mug_is_taken_from_the_back_of_an_open_microwave(tmp_path, episode):
    task = load_task(task_file(tmp_path, MICROWAVE, "{object: mug, in: box, at: [0.0, 0.05]}"))
    _, record = simulate(task, 4, episode, Stopwatch())[:2]
    assert record.success, record.failure
