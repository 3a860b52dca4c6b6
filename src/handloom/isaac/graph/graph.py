"""An execution graph: nodes, connections, edit, evaluate, stop."""

import copy
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from handloom.errors import HandloomError, InputError, unknown_name
from handloom.isaac.graph.node import GraphContext, NodeResult, PlacedNode, split_attribute
from handloom.isaac.graph.registry import node_class, node_versions

LOG = logging.getLogger("handloom.graph")


class Keys:
    """Published names of the parts of an edit."""

    CREATE_NODES = "create_nodes"
    DELETE_NODES = "delete_nodes"
    SET_VALUES = "set_values"
    CONNECT = "connect"
    DISCONNECT = "disconnect"


@dataclass(frozen=True, order=True)
class Connection:
    """From an output (or a constant's input) to an input."""

    source_node: str
    source_port: str
    target_node: str
    target_port: str

    def __str__(self) -> str:
        return f"{self.source_node}.{self.source_port} -> {self.target_node}.{self.target_port}"


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """What one evaluation did."""

    computed: tuple[str, ...]
    """Nodes in the order in which they were computed."""
    failures: Mapping[str, str]
    """Node > reason why it computed nothing."""


class Graph:
    """Nodes and connections.

    An ``execution`` graph starts at event nodes and follows execution outputs in the order they were connected; pure
    data nodes are pulled before their consumer. A ``push`` graph computes every node, sources first.

    Args:
        path: Path of the graph, e.g. ``/ActionGraph``.
        evaluator: ``execution`` or ``push``.
        clear_commands_on_stop: Overwrite command inputs with zero or an empty value on stop, as the published nodes do.
            Off by default, so that the second play behaves like the first.
    """

    def __init__(
        self,
        path: str = "/ActionGraph",
        *,
        evaluator: Literal["execution", "push"] = "execution",
        clear_commands_on_stop: bool = False,
    ) -> None:
        if evaluator not in {"execution", "push"}:
            raise InputError(f"evaluator must be 'execution' or 'push', got {evaluator!r}")
        self.path = path
        self.evaluator: Literal["execution", "push"] = evaluator
        self.clear_commands_on_stop = clear_commands_on_stop
        self._nodes: dict[str, PlacedNode] = {}
        self._connections: list[Connection] = []

    # -- editing -------------------------------------------------------------------------------------------------

    def edit(self, changes: Mapping[str, Sequence[Any]]) -> dict[str, PlacedNode]:
        """Change the graph, all or nothing.

        Args:
            changes: Any of ``Keys``: ``delete_nodes`` [name], ``disconnect`` [(source, target)], ``create_nodes``
                [(name, type) or (name, type, version)], ``set_values`` [(``node.inputs:port``, value)], ``connect``
                [(source, target)]; applied in this order.

        Returns:
            The nodes created, by name.

        Raises:
            InputError: A wrong type, an input connected twice, or a cycle; the graph is unchanged.
            NotFoundError: A node, node type or port that does not exist; the graph is unchanged.
        """
        known = {Keys.CREATE_NODES, Keys.DELETE_NODES, Keys.SET_VALUES, Keys.CONNECT, Keys.DISCONNECT}
        for key in changes:
            if key not in known:
                raise unknown_name("kind of edit", key, known)
        draft = Graph(self.path, evaluator=self.evaluator)
        draft._nodes = {name: copy.copy(placed) for name, placed in self._nodes.items()}
        for placed in draft._nodes.values():
            placed.values = dict(placed.values)
        draft._connections = list(self._connections)
        for name in changes.get(Keys.DELETE_NODES, ()):
            draft._delete(name)
        for source, target in changes.get(Keys.DISCONNECT, ()):
            draft._disconnect(source, target)
        created = {item[0]: draft._create(*item) for item in changes.get(Keys.CREATE_NODES, ())}
        for attribute, value in changes.get(Keys.SET_VALUES, ()):
            draft.set(attribute, value)
        for source, target in changes.get(Keys.CONNECT, ()):
            draft._connect(source, target)
        self._nodes, self._connections = draft._nodes, draft._connections
        return created

    def _create(self, name: str, type_name: str, version: int | None = None) -> PlacedNode:
        if not name or any(letter in name for letter in "./: "):
            raise InputError(f"a node name must not contain dots, slashes, colons or spaces, got {name!r}")
        if name in self._nodes:
            raise InputError(f"a node {name!r} exists already")
        kind = node_class(type_name, version)
        self._nodes[name] = PlacedNode(name=name, node=kind(), versions=node_versions(kind))
        return self._nodes[name]

    def _delete(self, name: str) -> None:
        self.node(name)
        del self._nodes[name]
        self._connections = [c for c in self._connections if name not in {c.source_node, c.target_node}]

    def _connect(self, source: str, target: str) -> None:
        source_node, source_side, source_port = split_attribute(source)
        target_node, target_side, target_port = split_attribute(target)
        if target_side != "inputs":
            raise InputError(f"a connection must end at an input, got {target!r}")
        start, end = self.node(source_node).output(source_port), self.node(target_node).input(target_port)
        if (source_side == "inputs") != start.source:
            raise InputError(f"a connection must start at an output or at the value of a constant, got {source!r}")
        if not end.type.accepts(start.type):
            raise InputError(f"cannot connect {source} ({start.type.name}) to {target} ({end.type.name})")
        new = Connection(source_node, source_port, target_node, target_port)
        for other in self._into(target_node, target_port):
            if other == new:
                raise InputError(f"{new} already exists")
            if end.type.family != "execution":
                raise InputError(
                    f"{target} is already connected to {other.source_node}.{other.source_port}; disconnect it first"
                )
        self._connections.append(new)
        if self._reaches(target_node, source_node):
            self._connections.pop()
            raise InputError(f"connecting {source} to {target} would create a cycle")

    def _disconnect(self, source: str, target: str) -> None:
        source_node, _, source_port = split_attribute(source)
        target_node, _, target_port = split_attribute(target)
        gone = Connection(source_node, source_port, target_node, target_port)
        if gone not in self._connections:
            raise unknown_name("connection", str(gone), map(str, self._connections))
        self._connections.remove(gone)

    def _reaches(self, start: str, end: str) -> bool:
        seen, front = set(), [start]
        while front:
            here = front.pop()
            if here == end:
                return True
            if here not in seen:
                seen.add(here)
                front += [c.target_node for c in self._connections if c.source_node == here]
        return False

    # -- looking -------------------------------------------------------------------------------------------------

    @property
    def nodes(self) -> Mapping[str, PlacedNode]:
        """Nodes by name, in the order they were created."""
        return self._nodes

    @property
    def connections(self) -> tuple[Connection, ...]:
        """Connections in the order they were made."""
        return tuple(self._connections)

    def node(self, name: str) -> PlacedNode:
        """Return a node; NotFoundError lists the existing ones."""
        if name not in self._nodes:
            raise unknown_name("node", name, self._nodes)
        return self._nodes[name]

    def get(self, attribute: str) -> Any:
        """Return the value of ``node.outputs:port``, or of ``node.inputs:port``, whether connected or set."""
        node, side, port = split_attribute(attribute)
        placed = self.node(node)
        if side == "outputs":
            return placed.outputs[placed.output(port).name]
        value, end = placed.value(port), placed.input(port)
        if end.type.family == "execution":
            return value
        for feed in self._into(node, port):
            source = self.node(feed.source_node)
            constant = source.output(feed.source_port).source
            value = source.value(feed.source_port) if constant else source.outputs[feed.source_port]
        return end.read(value, attribute)

    def set(self, attribute: str, value: Any) -> None:
        """Set ``node.inputs:port``; InputError if it is an output or connected, or if the value does not fit."""
        node, side, port = split_attribute(attribute)
        if side != "inputs":
            raise InputError(f"only inputs can be set, got {attribute!r}")
        placed = self.node(node)
        placed.input(port)
        for other in self._into(node, port):
            raise InputError(
                f"{attribute} is connected to {other.source_node}.{other.source_port}; disconnect it first"
            )
        placed.set_value(port, value)

    # -- running -------------------------------------------------------------------------------------------------

    def evaluate(self, context: GraphContext | None = None, event: str = "tick") -> Evaluation:
        """Evaluate once.

        Args:
            context: Time and robots; None evaluates without either.
            event: ``tick`` or ``physics``: which event nodes fire. Ignored by a push graph.

        Returns:
            What was computed. A failing node is logged and reported; nodes downstream of its execution output are not
            computed.
        """
        run = _Run(self, context or GraphContext())
        if self.evaluator == "push":
            for name in self._nodes:
                run.pull(name, everything=True)
        else:
            for placed in self._nodes.values():
                if placed.event == event:
                    run.pulse(placed, event)
        return Evaluation(computed=tuple(run.computed), failures=run.failures)

    def stop(self) -> None:
        """Stop: nodes clear their memory and latched inputs, and outputs return to their defaults."""
        for placed in self._nodes.values():
            placed.stop(clear_commands=self.clear_commands_on_stop)

    def _into(self, node: str, port: str) -> Iterable[Connection]:
        return [c for c in self._connections if (c.target_node, c.target_port) == (node, port)]

    def _from(self, node: str, port: str) -> Iterable[Connection]:
        return [c for c in self._connections if (c.source_node, c.source_port) == (node, port)]


class _Run:
    """One evaluation of a graph."""

    def __init__(self, graph: Graph, context: GraphContext) -> None:
        self._graph = graph
        self._context = context
        self._pulled: set[str] = set()
        self.computed: list[str] = []
        self.failures: dict[str, str] = {}

    def pulse(self, placed: PlacedNode, pulse: str) -> None:
        """Compute a node that execution reached, then the nodes that follow it."""
        self._pulled.clear()
        result = self._compute(placed, pulse)
        for port in result.follow:
            for connection in self._graph._from(placed.name, port):
                self.pulse(self._graph.node(connection.target_node), connection.target_port)

    def pull(self, name: str, *, everything: bool = False) -> None:
        """Update a node before its outputs are read: only pure data nodes, unless the whole graph is pushed."""
        placed = self._graph.node(name)
        if name in self._pulled or not (everything or placed.node.is_pure()):
            return
        self._pulled.add(name)
        for connection in self._graph.connections:
            if connection.target_node == name:
                self.pull(connection.source_node, everything=everything)
        self._compute(placed, "execIn" if everything else "")

    def _compute(self, placed: PlacedNode, pulse: str) -> NodeResult:
        try:
            result = self._computed(placed, pulse)
        except HandloomError as error:
            result = NodeResult(failure=str(error))
        self.computed.append(placed.name)
        if result.failure:
            self.failures[placed.name] = result.failure
            LOG.warning("%s/%s: %s", self._graph.path, placed.name, result.failure)
        return result

    def _computed(self, placed: PlacedNode, pulse: str) -> NodeResult:
        given = self._inputs(placed)
        result = placed.node.compute(given, self._context, pulse)
        outputs = {
            name: placed.output(name).read(value, f"{placed.name}.outputs:{name}")
            for name, value in result.outputs.items()
        }
        if not result.failure:
            placed.outputs.update(outputs)
            if placed.latched is None:
                placed.latched = {port.name: given[port.name] for port in placed.node.INPUTS if port.latched}
        return result

    def _inputs(self, placed: PlacedNode) -> dict[str, Any]:
        given: dict[str, Any] = {}
        for port in placed.node.INPUTS:
            if port.type.family == "execution":
                continue
            if placed.latched is not None and port.name in placed.latched:
                given[port.name] = placed.latched[port.name]
                continue
            value = placed.value(port.name)
            for connection in self._graph._into(placed.name, port.name):
                value = self._read(connection)
            given[port.name] = port.read(value, f"{placed.name}.inputs:{port.name}")
        return given

    def _read(self, connection: Connection) -> Any:
        source = self._graph.node(connection.source_node)
        if source.output(connection.source_port).source:
            return source.value(connection.source_port)
        self.pull(connection.source_node)
        return source.outputs[connection.source_port]
