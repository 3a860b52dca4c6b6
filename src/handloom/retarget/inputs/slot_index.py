"""Index enumerations made from a group type, so that names and order exist once."""

from enum import IntEnum
from typing import Any

from handloom.retarget.graph.tensor_group_type import TensorGroupType


def slot_index(enum_name: str, group_type: TensorGroupType, *, prefix: str = "") -> Any:
    """Return an ``IntEnum`` with one member per slot, named after it without ``prefix``, in capitals."""
    names = [slot.name.removeprefix(prefix).upper() for slot in group_type.types]
    return IntEnum(enum_name, {name: index for index, name in enumerate(names)})
