"""Several outputs under one roof."""

from handloom.compat.published import published

NAMES = {
    "OutputCombiner": "handloom.retarget:OutputCombiner",
}

__getattr__, __dir__ = published(__name__, NAMES)
