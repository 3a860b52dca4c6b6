"""Long runs in one worker."""

import gc
import os
from pathlib import Path

import mujoco
import pytest

from handloom.render import Renderer, spec_of_mjcf_camera


def resident_kib() -> int:
    """Return the memory in use by this process."""
    fields = Path("/proc/self/statm").read_text().split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc")
def test_ten_thousand_frames_leave_memory_and_descriptors_as_they_were(table):
    model, data = table
    renderer = Renderer(model)
    cameras = [spec_of_mjcf_camera(model, name, width=96, height=96) for name in ("front", "wrist")]
    for _ in range(200):
        renderer.render(data, cameras, ("rgb", "depth", "segmentation"))
    gc.collect()
    memory, descriptors = resident_kib(), len(os.listdir("/proc/self/fd"))
    for frame in range(5000):
        data.joint("swing").qpos[0] = 0.001 * frame
        mujoco.mj_kinematics(model, data)
        renderer.render(data, cameras, ("rgb", "depth", "segmentation"))
    gc.collect()
    assert resident_kib() - memory < 2048
    assert len(os.listdir("/proc/self/fd")) == descriptors
