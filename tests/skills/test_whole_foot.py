"""What stands on a foot is put down with its whole foot on the target, wherever its handle is."""

import numpy as np
import pytest

from handloom.engine.attempt import Stopwatch, simulate
from handloom.scene.measures import local_box
from handloom.skills.placing.footing import foot_of
from handloom.tasks import load_task

TASK = """
robot: fr3
objects:
  - {{name: mug, category: mug}}
  - {{name: target, category: {target}}}
regions:
  - {{object: mug, at: [[-0.2, -0.1], [-0.1, 0.0]]}}
  - {{object: target, at: [[0.1, 0.05], [0.15, 0.1]]}}
skills: [{{pick: mug}}, {{place: mug, on: target, facing: right}}]
"""


@pytest.mark.parametrize("target", ["coaster", "plate"])
def test_a_mug_stands_with_its_whole_foot_on_a_small_target(tmp_path, target):
    (file := tmp_path / "task.yaml").write_text(TASK.format(target=target))
    for episode in range(2):
        scene, record = simulate(load_task(file), 5, episode, Stopwatch())
        assert record.success, record.failure
        scene.world.restore_state(record.states[-1])
        T_target_mug = np.linalg.inv(scene.object_pose("target")) @ scene.object_pose("mug")
        foot, radius = foot_of(scene, "mug")
        middle = (T_target_mug[:3, :3] @ foot + T_target_mug[:3, 3])[:2]
        assert np.linalg.norm(foot[:2]) > 0.005, "its origin is not over the middle of its foot"
        half = 0.5 * np.ptp(local_box(scene, "target")[0][:, :2], axis=0).min()
        assert np.linalg.norm(middle) < max(0.004, half - radius)
