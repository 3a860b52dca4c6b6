"""One step a skill asks of an arm: go to a pose, do something there."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from handloom.arrays import Array


@dataclass(frozen=True)
class Command:
    """A target for an arm and what to do on the way; unpacks as ``p, q, function, params``."""

    p_base_tool: Array
    """Position of the end effector in the arm base (3,) [m]."""
    q_base_tool: Array
    """Orientation of the end effector in the arm base, wxyz (4,)."""
    function: str
    """Name of a command function, e.g. ``close_gripper``."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of the command function."""

    def __iter__(self) -> Iterator[Any]:
        return iter((self.p_base_tool, self.q_base_tool, self.function, dict(self.params)))
