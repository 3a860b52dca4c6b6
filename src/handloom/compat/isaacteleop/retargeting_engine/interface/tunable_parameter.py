"""Descriptions of tunable parameters."""

from handloom.compat.published import published

NAMES = {
    "ParameterSpec": "handloom.retarget:ParameterSpec",
    "BoolParameter": "handloom.retarget:BoolParameter",
    "FloatParameter": "handloom.retarget:FloatParameter",
    "IntParameter": "handloom.retarget:IntParameter",
    "VectorParameter": "handloom.retarget:VectorParameter",
}

__getattr__, __dir__ = published(__name__, NAMES)
