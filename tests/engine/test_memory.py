"""A worker's memory does not grow with the attempts it has run."""

import gc
import multiprocessing
import os
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest

from handloom.engine import Goal, ProcessExecutor, RunDirectory, RunSettings, generate_run
from handloom.engine.attempt import Stopwatch, simulate
from handloom.episode.columns import rendered_frames
from handloom.tasks import load_task

EPISODES = int(os.environ.get("HANDLOOM_MEMORY_EPISODES", "24"))
SEED = int(os.environ.get("HANDLOOM_MEMORY_SEED", "2"))
ALLOWED_MB = 12.0
"""How much the resident memory of the second half may be above that of the second quarter: noise of the allocator."""


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


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").is_file(), reason="reads memory and descriptors in /proc")
def test_one_worker_keeps_its_memory_and_its_descriptors(tmp_path):
    run = RunDirectory.begin(
        tmp_path / "run", RunSettings.of_task(load_task("fr3_pick_place"), seed=SEED, unit_size=1, preset="fast")
    )
    resident, descriptors, pids = [], [], set()

    def look(receipts):
        for worker in multiprocessing.active_children() if receipts else ():
            process = Path(f"/proc/{worker.pid}")
            pids.add(worker.pid)
            pages = int((process / "statm").read_text().split()[1])
            resident.append(pages * os.sysconf("SC_PAGE_SIZE") / 1e6)
            descriptors.append(len(list((process / "fd").iterdir())))

    generate_run(run, Goal(attempts=EPISODES), ProcessExecutor(1), on_receipts=look)
    assert len(pids) == 1, "one worker made them all"
    quarters = np.array_split(np.array(resident), 4)
    medians = [float(np.median(quarter)) for quarter in quarters]
    sys.stdout.write(
        f"{EPISODES} attempts in one worker: {medians[0]:.0f}, {medians[1]:.0f}, {medians[2]:.0f}, {medians[3]:.0f} MB "
        f"by quarter, highest {max(resident):.0f} MB; {min(descriptors)} to {max(descriptors)} descriptors\n"
    )
    assert np.median(resident[EPISODES // 2 :]) - medians[1] < ALLOWED_MB
    assert max(descriptors[EPISODES // 2 :]) <= max(descriptors[: EPISODES // 2])
