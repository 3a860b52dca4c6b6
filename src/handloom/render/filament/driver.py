"""Whether Filament can draw here, and on which device, found without touching this process.

Filament needs Vulkan to draw without a screen; without a driver it ends the process.
"""

import re
import sys
from functools import cache
from typing import NamedTuple

from handloom.graphics import loads
from handloom.trial import run_trial

LIBRARY = {"win32": "vulkan-1.dll", "darwin": "libMoltenVK.dylib"}.get(sys.platform, "libvulkan.so.1")
TRIAL = """
import mujoco
from handloom.render.filament.filament_renderer import FilamentRenderer
from handloom.render.preset import filament_preset
from handloom.values import CameraSpec
model = mujoco.MjModel.from_xml_string("<mujoco><worldbody><geom size='.1'/></worldbody></mujoco>")
data = mujoco.MjData(model)
mujoco.mj_forward(model, data)
renderer = FilamentRenderer(model, filament_preset("fast"), probed=True)
renderer.place(data)
camera = CameraSpec(name="c", width=16, height=16, fx=16, fy=16, cx=8, cy=8, position=(0, 0, 1), quat=(0, 1, 0, 0))
renderer.draw(data, camera, ("rgb",))
"""
DEVICE = re.compile(r"Selected physical device '([^']+)'")


class Driver(NamedTuple):
    """The device Filament draws on, or None and why."""

    device: str | None
    reason: str


@cache
def find_driver() -> Driver:
    """Return the Vulkan device that Filament picks, after drawing one picture with it in a child process."""
    if not loads(LIBRARY):
        return Driver(None, f"no Vulkan: {LIBRARY} is missing (Debian: libvulkan1 mesa-vulkan-drivers)")
    trial = run_trial(TRIAL)
    if trial.error is not None:
        return Driver(None, trial.error)
    found = DEVICE.search(trial.output)
    device = found.group(1) if found else "an unnamed device"
    return Driver(device, f"draws on {device}")
