"""Tunable parameters."""

from handloom.compat.published import published

NAMES = {
    "ParameterState": "handloom.retarget:ParameterState",
}

__getattr__, __dir__ = published(__name__, NAMES)
