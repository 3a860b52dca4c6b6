"""Types of groups."""

from handloom.compat.published import published

NAMES = {
    "TensorGroupType": "handloom.retarget:TensorGroupType",
    "OptionalTensorGroupType": "handloom.retarget:OptionalTensorGroupType",
    "OptionalType": "handloom.retarget:OptionalType",
}

__getattr__, __dir__ = published(__name__, NAMES)
