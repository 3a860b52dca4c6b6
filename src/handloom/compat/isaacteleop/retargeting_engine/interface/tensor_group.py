"""Groups."""

from handloom.compat.published import published

NAMES = {
    "TensorGroup": "handloom.retarget:TensorGroup",
    "OptionalTensorGroup": "handloom.retarget:OptionalTensorGroup",
}

__getattr__, __dir__ = published(__name__, NAMES)
