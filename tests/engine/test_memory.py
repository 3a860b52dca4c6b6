"""A worker's memory does not grow with the attempts it has run."""

import gc
import weakref

import pytest

from handloom.engine.attempt import Stopwatch, simulate
from handloom.episode.rendering import rendered_frames
from handloom.tasks import load_task


@pytest.mark.parametrize("name", ["fr3_pick_cube", "lift2_dual_pick_place"])
def test_a_world_is_gone_when_its_attempt_is_over(name):
    # A world in a reference cycle keeps its native memory, over 10 MB, until Python happens to look for cycles.
    task = load_task(name, overrides=("cameras=[]",) if name != "fr3_pick_cube" else ())
    gc.disable()
    try:
        scene, record = simulate(task, 0, 0, Stopwatch())
        assert record.timeline, "the skills must have run: they are what binds objects to each other"
        frames = rendered_frames(scene, record, preset="fast", kinds=("rgb",))
        next(frames, None)
        frames.close()
        world = weakref.ref(scene.world)
        del scene, record, frames
        assert world() is None
    finally:
        gc.enable()
