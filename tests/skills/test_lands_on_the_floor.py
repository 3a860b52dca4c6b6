"""What is put into a drawer is lowered where it gets down to its floor, not over a wall from which it falls in."""

import numpy as np

from handloom.scene import build_scene
from handloom.scene.measures import world_box
from handloom.skills.placing.spots import deeper_than
from handloom.tasks import load_task, sample_task

TASK = """
robot: fr3
objects:
  - {name: crate, category: crate}
  - {name: box, category: cube, parameters: {edge: 0.05}}
regions:
  - {object: crate, at: [[0.0, 0.1], [0.05, 0.15]], yaw: [0, 0]}
  - {object: box, at: [[-0.3, 0.0], [-0.25, 0.05]]}
skills: [{pick: box}, {place: box, in: crate}]
"""


def test_poses_over_the_middle_of_a_crate_get_deeper_than_one_over_its_wall(tmp_path):
    (file := tmp_path / "task.yaml").write_text(TASK)
    scene = build_scene(sample_task(load_task(file), 2, 0))
    box = world_box(scene, "crate")
    middle, poses = box.mean(axis=0), np.tile(np.eye(4), (3, 1, 1))
    poses[:, :3, 3] = [*middle[:2], box[1, 2] + 0.05]
    poses[1, 0, 3], poses[2, 0, 3] = box[0, 0], middle[0] + 0.01
    floor = float(box[0, 2]) + 0.006
    assert deeper_than(scene, "box", poses, 0, floor) is None
    assert deeper_than(scene, "box", poses, 1, floor).tolist() == [True, False, True]
    on_the_wall = np.repeat(poses[1:2], 2, axis=0)
    assert deeper_than(scene, "box", on_the_wall, 0, floor) is None, "there is no better one"
