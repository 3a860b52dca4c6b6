"""A port of a node: name, type, default."""

from dataclasses import dataclass, field
from typing import Any

from handloom.control.graph.port_type import PortType, port_type


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


def port(
    name: str,
    type_name: str,
    default: Any = None,
    *,
    latched: bool = False,
    command: bool = False,
    source: bool = False,
) -> Port:
    """Describe a port.

    Args:
        name: Published name.
        type_name: Published type, e.g. ``double[]``.
        default: Value before anybody gives one; None takes that of the type.
        latched: See ``Port``.
        command: See ``Port``.
        source: See ``Port``.
    """
    kind = port_type(type_name)
    value = kind.default if default is None else kind.read(default, name)
    return Port(name=name, type=kind, default=value, latched=latched, command=command, source=source)
