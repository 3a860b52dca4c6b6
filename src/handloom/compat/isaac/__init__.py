"""Isaac Sim's control names: ``from handloom.compat.isaac import SingleArticulation``.

Constructors take a World and a robot's name prefix where Isaac Sim takes a prim path; the rest keeps its name and
meaning. A class is imported when it is first asked for.
"""

import importlib
from typing import Any

from handloom.errors import suggest

PUBLISHED = {
    "ArticulationAction": "handloom.values:ArticulationAction",
    "ArticulationActions": "handloom.values:ArticulationActions",
    "ArticulationController": "handloom.articulation:ArticulationController",
    "ArticulationSubset": "handloom.articulation:ArticulationSubset",
    "DOFInfo": "handloom.values:DOFInfo",
    "JointsState": "handloom.values:JointsState",
    "SingleArticulation": "handloom.articulation:SingleArticulation",
}
"""Published class name > ``module:Class`` here."""


def __getattr__(name: str) -> Any:
    if name not in PUBLISHED:
        raise AttributeError(f"handloom.compat.isaac has no {name!r}; {suggest(name, PUBLISHED)}")
    module, _, attribute = PUBLISHED[name].partition(":")
    return getattr(importlib.import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted([*PUBLISHED, "PUBLISHED"])
