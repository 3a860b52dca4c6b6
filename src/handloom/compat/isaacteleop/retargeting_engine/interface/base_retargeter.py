"""The node every retargeter derives from."""

from handloom.compat.published import published

NAMES = {
    "BaseRetargeter": "handloom.retarget:BaseRetargeter",
}

__getattr__, __dir__ = published(__name__, NAMES)
