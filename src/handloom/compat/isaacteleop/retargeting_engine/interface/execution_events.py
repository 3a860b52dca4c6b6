"""Events of a frame."""

from handloom.compat.published import published

NAMES = {
    "ExecutionEvents": "handloom.retarget:ExecutionEvents",
    "ExecutionState": "handloom.retarget:ExecutionState",
}

__getattr__, __dir__ = published(__name__, NAMES)
