"""Frame changes by their published names."""

from handloom.compat.published import published

NAMES = {
    "ControllerTransform": "handloom.retarget:ControllerTransform",
    "HandTransform": "handloom.retarget:HandTransform",
    "HeadTransform": "handloom.retarget:HeadTransform",
    "validate_transform_matrix": "handloom.retarget.transforms:validate_transform_matrix",
}

__getattr__, __dir__ = published(__name__, NAMES)
