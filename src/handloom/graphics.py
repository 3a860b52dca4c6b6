"""Keeps ``import mujoco`` working on machines without graphics libraries.

MuJoCo reads ``MUJOCO_GL`` while it is imported and raises when the value is unknown or the library it names is missing.
Handloom draws with its own ray caster and needs none of them, so the command line drops a value that cannot work.
Programs that use Handloom as a library call ``drop_unusable_mujoco_gl`` themselves, before anything imports MuJoCo.
"""

import ctypes
import os
import sys

# Libraries that MuJoCo must be able to load for each value; alternatives in a tuple.
LIBRARIES: dict[str, tuple[tuple[str, ...], ...]] = {
    "egl": (("libEGL.so.1",), ("libOpenGL.so.0", "libGL.so.1")),
    "osmesa": (("libOSMesa.so.8", "libOSMesa.so.6", "libOSMesa.so"),),
}
HARMLESS = {"", "disable", "disabled", "off", "false", "0", "enable", "enabled", "on", "true", "1", "glfw", "glx"}
PLATFORM_VALUES = {"win32": {"wgl"}, "darwin": {"cgl"}}
# Variable that keeps the removed value, for ``handloom doctor``.
IGNORED = "HANDLOOM_IGNORED_MUJOCO_GL"


def loads(library: str) -> bool:
    """Return whether a shared library can be loaded."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def missing_libraries(platform: str) -> list[str]:
    """Return the libraries that an OpenGL platform (``egl`` or ``osmesa``) lacks on this machine."""
    return [" or ".join(group) for group in LIBRARIES[platform] if not any(loads(library) for library in group)]


def drop_unusable_mujoco_gl() -> None:
    """Remove ``MUJOCO_GL`` from the environment if MuJoCo could not be imported with it."""
    value = os.environ.get("MUJOCO_GL", "").lower().strip()
    if value in HARMLESS or value in PLATFORM_VALUES.get(sys.platform, set()):
        return
    if value in LIBRARIES and sys.platform == "linux" and not missing_libraries(value):
        return
    os.environ[IGNORED] = os.environ.pop("MUJOCO_GL")
