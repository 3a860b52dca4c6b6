"""Where things live that can be computed again: compiled kernels, sphere models, grasp annotations."""

import os
import sys
from pathlib import Path


def user_cache() -> Path:
    """Return Handloom's cache folder (not created yet); the variable ``HANDLOOM_CACHE`` overrides the default."""
    if given := os.environ.get("HANDLOOM_CACHE"):
        return Path(given)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "handloom"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "handloom"
