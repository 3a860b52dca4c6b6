"""Detection of an OpenGL platform and a Vulkan device that can render here, without risk to this process.

Loading a broken driver can end a process, and importing MuJoCo with ``MUJOCO_GL`` set to a platform whose library is
missing raises. So the libraries are searched for first, and then a child process renders one image. Filament needs
Vulkan to render without a screen; without a driver, it ends the process.
"""

import re
import sys
from functools import cache
from typing import NamedTuple

from handloom.child_process import run_trial
from handloom.graphics import LIBRARIES, loads, missing_libraries

GL_TRIAL = """
import mujoco
model = mujoco.MjModel.from_xml_string("<mujoco><worldbody><geom size='.1'/></worldbody></mujoco>")
data = mujoco.MjData(model)
with mujoco.Renderer(model, 16, 16) as renderer:
    mujoco.mj_forward(model, data)
    renderer.update_scene(data)
    renderer.render()
"""


class GlPlatform(NamedTuple):
    """A working platform, or None and the reason."""

    name: str | None
    reason: str


@cache
def find_gl_platform() -> GlPlatform:
    """Return the first OpenGL platform that can render: EGL, then OSMesa."""
    reasons = []
    for name in LIBRARIES:
        missing = missing_libraries(name)
        if missing:
            reasons.append(f"{name} lacks {', '.join(missing)}")
            continue
        error = run_trial(GL_TRIAL, {"MUJOCO_GL": name}).error
        if error is None:
            return GlPlatform(name, f"{name} draws")
        reasons.append(f"{name}: {error}")
    return GlPlatform(None, "; ".join(reasons))


VULKAN_LIBRARY = {"win32": "vulkan-1.dll", "darwin": "libMoltenVK.dylib"}.get(sys.platform, "libvulkan.so.1")
VULKAN_TRIAL = """
import mujoco
from handloom.render.filament_renderer import FilamentRenderer
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
SELECTED_DEVICE = re.compile(r"Selected physical device '([^']+)'")


class VulkanDevice(NamedTuple):
    """The device that Filament renders on, or None and the reason."""

    device: str | None
    reason: str


@cache
def find_vulkan_device() -> VulkanDevice:
    """Return the Vulkan device that Filament selects, after rendering one image with it in a child process."""
    if not loads(VULKAN_LIBRARY):
        return VulkanDevice(None, f"no Vulkan: {VULKAN_LIBRARY} is missing (Debian: libvulkan1 mesa-vulkan-drivers)")
    trial = run_trial(VULKAN_TRIAL)
    if trial.error is not None:
        return VulkanDevice(None, trial.error)
    found = SELECTED_DEVICE.search(trial.output)
    device = found.group(1) if found else "an unnamed device"
    return VulkanDevice(device, f"renders on {device}")
