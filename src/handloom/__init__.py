"""Handloom generates robot demonstrations: one YAML task becomes a verified LeRobot dataset.

The names below suffice for most programs. They are imported from the folders that define them when they are first
used: ``import handloom`` loads nothing heavy and changes nothing.
"""

import importlib
import sys

from handloom.version import VERSION

TYPE_CHECKING = (
    False  # Type checkers assume it is true; importing it from typing would take half of the time of this import.
)
if TYPE_CHECKING:
    from typing import Any

    from handloom.dataset import DatasetReader, merge_datasets
    from handloom.engine import (
        Goal,
        InlineExecutor,
        ProcessExecutor,
        RunDirectory,
        RunSettings,
        generate_run,
        verify_dataset,
    )
    from handloom.engine.front_door import generate, run_episode
    from handloom.episode import Source, replay
    from handloom.errors import HandloomError
    from handloom.motion.kinematics import IkSolver
    from handloom.motion.planning import ArmPlanner
    from handloom.objects import make_object
    from handloom.render import Renderer
    from handloom.robots import load_robot
    from handloom.scene import build_scene
    from handloom.seeding import generator
    from handloom.skills import Schedule
    from handloom.tasks import load_task, sample_task

__version__ = VERSION

__all__ = [
    "ArmPlanner",
    "DatasetReader",
    "Goal",
    "HandloomError",
    "IkSolver",
    "InlineExecutor",
    "ProcessExecutor",
    "Renderer",
    "RunDirectory",
    "RunSettings",
    "Schedule",
    "Source",
    "build_scene",
    "generate",
    "generate_run",
    "generator",
    "load_robot",
    "load_task",
    "make_object",
    "merge_datasets",
    "replay",
    "run_episode",
    "sample_task",
    "verify_dataset",
]

_OWNERS = {
    "dataset": ("DatasetReader", "merge_datasets"),
    "engine": (
        "Goal",
        "InlineExecutor",
        "ProcessExecutor",
        "RunDirectory",
        "RunSettings",
        "generate_run",
        "verify_dataset",
    ),
    "engine.front_door": ("generate", "run_episode"),
    "episode": ("Source", "replay"),
    "errors": ("HandloomError",),
    "motion.kinematics": ("IkSolver",),
    "motion.planning": ("ArmPlanner",),
    "objects": ("make_object",),
    "render": ("Renderer",),
    "robots": ("load_robot",),
    "scene": ("build_scene",),
    "seeding": ("generator",),
    "skills": ("Schedule",),
    "tasks": ("load_task", "sample_task"),
}
"""Folder or module > the names in ``__all__`` that it defines."""
_OWNER = {name: owner for owner, names in _OWNERS.items() for name in names}


def __getattr__(name: str) -> "Any":
    """Import a public name from the folder that defines it."""
    if name not in _OWNER:
        raise AttributeError(f"module 'handloom' has no attribute {name!r}; its names: {', '.join(__all__)}")
    value = getattr(importlib.import_module(f"handloom.{_OWNER[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted((*__all__, "__version__"))


class _OldPaths:
    """Finds modules that have moved, after all other import finders have failed."""

    @staticmethod
    def find_spec(name: str, path: "Any" = None, target: "Any" = None) -> "Any":
        """Return the import spec of a module that has moved; None for any other module."""
        if not name.startswith("handloom."):
            return None
        return importlib.import_module("handloom.compat.moved").find_moved(name)


sys.meta_path.append(_OldPaths)
