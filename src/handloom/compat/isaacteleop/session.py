"""The published session and its helpers; the session opens the classes found under the published names."""

import importlib
from types import ModuleType
from typing import Any

from handloom.retarget import ControllersSource, HandsSource, HeadSource, TeleopSession
from handloom.retarget.sources.device_sources import TrackerSource

PACKAGE = "handloom.compat.isaacteleop"


class PublishedTeleopSession(TeleopSession):
    """``handloom.retarget.TeleopSession`` that honours patched ``oxr``, ``deviceio`` and ``plugin_manager`` modules.

    Ported tests patch these to run without a headset.
    """

    def _module(self, name: str) -> ModuleType:
        return importlib.import_module(f"{PACKAGE}.{name}")


def sources_of(pipeline: Any) -> list[Any]:
    """Return the leaves of a graph that read devices."""
    return [leaf for leaf in pipeline.get_leaf_nodes() if isinstance(leaf, TrackerSource)]


def trackers_of(pipeline: Any) -> list[Any]:
    """Return the trackers of a graph's sources, in order."""
    return [source.get_tracker() for source in sources_of(pipeline)]


def build_vendor_config_from_sources(sources: list[Any]) -> Any:
    """Return the vendors named by sources, by tracker."""
    vendors = [(source.get_tracker(), source.get_vendor()) for source in sources]
    return importlib.import_module(f"{PACKAGE}.deviceio").VendorConfig(
        [pair for pair in vendors if pair[1] is not None]
    )


def get_required_oxr_extensions_from_pipeline(pipeline: Any) -> list[str]:
    """Return the OpenXR extensions that a graph's published trackers need, sorted."""
    io = importlib.import_module(f"{PACKAGE}.deviceio").DeviceIOSession
    vendors = build_vendor_config_from_sources(sources_of(pipeline))
    return sorted(set(io.get_required_extensions(trackers_of(pipeline), vendors)))


def create_standard_inputs(trackers: list[Any]) -> dict[str, Any]:
    """Return a source for each given kind of tracker, under ``hands``, ``controllers`` and ``head``."""
    kinds = {"HandTracker": HandsSource, "ControllerTracker": ControllersSource, "HeadTracker": HeadSource}
    names = {"HandTracker": "hands", "ControllerTracker": "controllers", "HeadTracker": "head"}
    found = [kind for tracker in trackers for kind in kinds if kind in type(tracker).__name__]
    return {names[kind]: kinds[kind](name=names[kind]) for kind in found}
