"""The base of every node: ports, compute, memory."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from handloom.control.graph.graph_context import GraphContext
from handloom.control.graph.port import Port


@dataclass(frozen=True, kw_only=True)
class NodeResult:
    """What a compute came to; made by ``done`` and ``failed``."""

    outputs: Mapping[str, Any] = field(default_factory=dict)
    """New values of outputs; the others keep theirs."""
    follow: tuple[str, ...] = ()
    """Execution outputs to follow now."""
    failure: str = ""
    """Why nothing was computed; empty on success."""


def done(*follow: str, **outputs: Any) -> NodeResult:
    """Return a success: execution outputs to follow, and new output values."""
    return NodeResult(outputs=outputs, follow=follow)


def failed(why: str) -> NodeResult:
    """Return a failure; outputs keep their values and nothing follows."""
    return NodeResult(failure=why)


class Node(ABC):
    """A kind of node. Subclasses declare their ports and compute; memory lives in attributes that ``reset`` clears.

    A node without execution ports is pure data: it is computed when a consumer needs it.
    """

    TYPE: ClassVar[str]
    """Published type name."""
    VERSION: ClassVar[int] = 1
    INPUTS: ClassVar[tuple[Port, ...]] = ()
    OUTPUTS: ClassVar[tuple[Port, ...]] = ()

    @abstractmethod
    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Compute once.

        Args:
            given: Value of every data input, latched ones as they were at the first compute.
            context: Time and robots.
            pulse: The execution input that was reached, or the event; "" for pure data.
        """

    def reset(self) -> None:  # noqa: B027 - most nodes remember nothing
        """Forget everything, as after stop."""

    @classmethod
    def is_pure(cls) -> bool:
        """Return whether the node has no execution ports."""
        return all(port.type.family != "execution" for port in (*cls.INPUTS, *cls.OUTPUTS))


class EventNode(Node):
    """A node that starts execution when something happens."""

    EVENT: ClassVar[str]
    """``tick`` (once per rendered frame) or ``physics`` (once per physics step)."""
