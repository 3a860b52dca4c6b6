"""The head of the operator."""

import warnings
from functools import cache

from handloom.retarget.graph.ndarray_type import NDArrayType
from handloom.retarget.graph.scalar_types import BoolType
from handloom.retarget.graph.tensor_group_type import TensorGroupType
from handloom.retarget.inputs.slot_index import slot_index


@cache
def HeadInput() -> TensorGroupType:  # noqa: N802 - published name
    """Return the type of a head: position (3,) [m], orientation (4,) xyzw, is_valid, is_tracked."""
    return TensorGroupType(
        "head_input",
        [
            NDArrayType("head_position", (3,)),
            NDArrayType("head_orientation", (4,)),
            BoolType("head_is_valid"),
            BoolType("head_is_tracked"),
        ],
    )


HeadInputIndex = slot_index("HeadInputIndex", HeadInput(), prefix="head_")


def HeadPose() -> TensorGroupType:  # noqa: N802 - published name
    """Return ``HeadInput()`` under its old name."""
    warnings.warn("HeadPose is called HeadInput now", DeprecationWarning, stacklevel=2)
    return HeadInput()
