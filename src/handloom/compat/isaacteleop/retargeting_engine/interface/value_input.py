"""The leaf an owner feeds."""

from handloom.compat.published import published

NAMES = {
    "ValueInput": "handloom.retarget:ValueInput",
}

__getattr__, __dir__ = published(__name__, NAMES)
