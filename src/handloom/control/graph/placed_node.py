"""A node in a graph: its kind, its values, where its inputs come from."""

from dataclasses import dataclass, field
from typing import Any

from handloom.control.graph.node import EventNode, Node
from handloom.control.graph.port import Port
from handloom.errors import InputError, NotFoundError, suggest


@dataclass(kw_only=True)
class PlacedNode:
    """The mutable record a graph keeps of one node."""

    name: str
    node: Node
    values: dict[str, Any] = field(default_factory=dict)
    """Inputs that were set; the others have their defaults."""
    outputs: dict[str, Any] = field(default_factory=dict)
    """Last computed outputs."""
    latched: dict[str, Any] | None = None
    """Latched inputs; None before the first compute after play."""

    def __post_init__(self) -> None:
        """Start with the default outputs."""
        if not self.outputs:
            self.outputs = {port.name: port.default for port in self.node.OUTPUTS}

    @property
    def event(self) -> str:
        """The event that starts this node, or ""."""
        return self.node.EVENT if isinstance(self.node, EventNode) else ""

    def input(self, name: str) -> Port:
        """Return an input port; NotFoundError names those that exist."""
        return self._find(name, self.node.INPUTS, "input")

    def output(self, name: str) -> Port:
        """Return an output port, or an input that may be a source."""
        sources = tuple(port for port in self.node.INPUTS if port.source)
        return self._find(name, (*self.node.OUTPUTS, *sources), "output")

    def set_value(self, name: str, value: Any) -> None:
        """Set an input.

        Raises:
            InputError: The value is not of the port's type.
        """
        self.values[name] = self.input(name).read(value, f"{self.name}.inputs:{name}")

    def value(self, name: str) -> Any:
        """Return what an input holds when nothing is connected to it."""
        return self.values.get(name, self.input(name).default)

    def stop(self, *, clear_commands: bool) -> None:
        """Forget latched inputs, memory and outputs; clear commands as the published nodes do, if asked."""
        self.latched = None
        self.outputs = {port.name: port.default for port in self.node.OUTPUTS}
        self.node.reset()
        if clear_commands:
            self.values.update({port.name: port.type.default for port in self.node.INPUTS if port.command})

    def _find(self, name: str, ports: tuple[Port, ...], kind: str) -> Port:
        for port in ports:
            if port.name == name:
                return port
        known = [port.name for port in ports]
        raise NotFoundError(
            f"node {self.name!r} ({self.node.TYPE}, version {self.node.VERSION}) has no {kind} {name!r}; "
            f"{suggest(name, known) or 'it has none'}"
        )


def split_attribute(text: str) -> tuple[str, str, str]:
    """Split ``node.inputs:port`` into node, side and port; a leading graph path ``/Graph/`` is dropped.

    Raises:
        InputError: The text does not have that form.
    """
    node, dot, rest = text.rpartition(".")
    side, colon, port = rest.partition(":")
    if not (dot and colon and node and port) or side not in {"inputs", "outputs"}:
        raise InputError(f"an attribute reads node.inputs:port or node.outputs:port, got {text!r}")
    return node.rsplit("/", 1)[-1], side, port
