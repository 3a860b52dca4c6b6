"""The bottle stays upright from the grasp to the tray."""

import numpy as np
import pytest

from handloom.engine.attempt import Stopwatch, simulate
from handloom.scene import build_scene
from handloom.tasks import load_task


@pytest.mark.parametrize("episode", [0, 6])
def test_the_bottle_is_carried_upright(episode: int) -> None:
    _, record = simulate(load_task("franka_robotiq85_carry_bottle"), 0, episode, Stopwatch())
    assert record.success
    (carry,) = (span for span in record.timeline if span.skill == "place")
    scene = build_scene(record.instance)
    tilt = []
    for state in record.states[carry.start : carry.end]:
        scene.world.restore_state(state)
        tilt.append(np.rad2deg(np.arccos(scene.object_pose("bottle")[2, 2])))
    assert max(tilt) < 6.0  # the planner's hold of 0.1 rad
