"""Which OpenGL platform works here, found without touching this process.

Loading a broken driver can end a process, and importing MuJoCo with ``MUJOCO_GL`` set to a platform whose library is
missing raises. So the libraries are looked for first, and then a child process draws one picture.
"""

from functools import cache
from typing import NamedTuple

from handloom.graphics import LIBRARIES, missing_libraries
from handloom.trial import run_trial

TRIAL = """
import mujoco
model = mujoco.MjModel.from_xml_string("<mujoco><worldbody><geom size='.1'/></worldbody></mujoco>")
data = mujoco.MjData(model)
with mujoco.Renderer(model, 16, 16) as renderer:
    mujoco.mj_forward(model, data)
    renderer.update_scene(data)
    renderer.render()
"""


class Platform(NamedTuple):
    """A platform that works, or None and why."""

    name: str | None
    reason: str


@cache
def find_platform() -> Platform:
    """Return the first OpenGL platform that can draw: EGL, then OSMesa."""
    reasons = []
    for name in LIBRARIES:
        missing = missing_libraries(name)
        if missing:
            reasons.append(f"{name} lacks {', '.join(missing)}")
            continue
        error = run_trial(TRIAL, {"MUJOCO_GL": name}).error
        if error is None:
            return Platform(name, f"{name} draws")
        reasons.append(f"{name}: {error}")
    return Platform(None, "; ".join(reasons))
