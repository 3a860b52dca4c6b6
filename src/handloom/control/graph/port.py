"""A port of a node: name, type, default."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from handloom.control.graph.port_type import PortType, port_type
from handloom.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Port:
    """One input or output of a kind of node; made by ``port``."""

    name: str
    """Published name without ``inputs:`` or ``outputs:``."""
    type: PortType
    default: Any = field(compare=False)
    """Value of an input nobody set, and of an output that was not computed yet."""
    latched: bool = False
    """The value of the first compute stays in force until the graph stops."""
    command: bool = False
    """A command, which the published node clears on stop."""
    source: bool = False
    """An input that may feed other inputs, such as the value of a constant."""
    nan: bool = False
    """Whether NaN has a meaning here; everywhere else it cannot pass."""

    def read(self, value: Any, where: str) -> Any:
        """Return a value in its stored form; InputError when it is not of the port's type, or NaN."""
        stored = self.type.read(value, where)
        if isinstance(stored, np.ndarray) and not self.nan and np.any(np.isnan(stored)):
            raise InputError(f"{where} takes no NaN, got {stored.tolist()}")
        return stored


def port(
    name: str,
    type_name: str,
    default: Any = None,
    *,
    latched: bool = False,
    command: bool = False,
    source: bool = False,
    nan: bool = False,
) -> Port:
    """Describe a port.

    Args:
        name: Published name.
        type_name: Published type, e.g. ``double[]``.
        default: Value before anybody gives one; None takes that of the type.
        latched: See ``Port``.
        command: See ``Port``.
        source: See ``Port``.
        nan: See ``Port``.
    """
    kind = port_type(type_name)
    value = kind.default if default is None else kind.read(default, name)
    return Port(name=name, type=kind, default=value, latched=latched, command=command, source=source, nan=nan)
