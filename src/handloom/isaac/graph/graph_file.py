"""Loading and saving of graphs as YAML files."""

from pathlib import Path
from typing import Any, Literal

import numpy as np
import yaml
from pydantic import Field

from handloom.config import Config, load_config
from handloom.errors import ConfigError, FileError, HandloomError
from handloom.isaac.graph.graph import Connection, Graph, Keys
from handloom.isaac.graph.node import PlacedNode

ARROW = " -> "


class NodeEntry(Config):
    """One node of a graph file."""

    type: str
    """Published type, the last part of one, or ``my_module:MyNode``."""
    version: int | None = None
    """None: the newest."""
    values: dict[str, Any] = Field(default_factory=dict)
    """Inputs that are set, by port name."""


class GraphFile(Config):
    """A graph file."""

    graph: str = "/ActionGraph"
    """Path of the graph."""
    evaluator: Literal["execution", "push"] = "execution"
    clear_commands_on_stop: bool = False
    nodes: dict[str, NodeEntry]
    """Nodes by name, in order."""
    connect: tuple[str, ...] = ()
    """``node.outputs:port -> node.inputs:port``, in the order in which execution follows them."""


def load_graph(path: str | Path) -> Graph:
    """Read a graph from a YAML file.

    Raises:
        ConfigError: A key, node, port, value or connection is invalid; the message starts with the file.
    """
    file = load_config(path, GraphFile)
    graph = Graph(file.graph, evaluator=file.evaluator, clear_commands_on_stop=file.clear_commands_on_stop)
    pairs = []
    for text in file.connect:
        source, arrow, target = text.partition(ARROW.strip())
        if not arrow:
            raise ConfigError(f"{path}: connect: a connection has the form 'a.outputs:x -> b.inputs:y', got {text!r}")
        pairs.append((source.strip(), target.strip()))
    try:
        graph.edit(
            {
                Keys.CREATE_NODES: [(name, entry.type, entry.version) for name, entry in file.nodes.items()],
                Keys.SET_VALUES: [
                    (f"{name}.inputs:{port}", value)
                    for name, entry in file.nodes.items()
                    for port, value in entry.values.items()
                ],
                Keys.CONNECT: pairs,
            }
        )
    except HandloomError as error:
        raise ConfigError(f"{path}: {error}") from error
    return graph


def save_graph(graph: Graph, path: str | Path) -> Path:
    """Write a graph to a YAML file that loads as the same graph.

    Raises:
        FileError: The file cannot be written.
    """
    content = {
        "graph": graph.path,
        "evaluator": graph.evaluator,
        "clear_commands_on_stop": graph.clear_commands_on_stop,
        "nodes": {name: _entry(placed) for name, placed in graph.nodes.items()},
        "connect": [_line(graph, connection) for connection in graph.connections],
    }
    file = Path(path)
    try:
        file.write_text(yaml.safe_dump(content, sort_keys=False, default_flow_style=None, width=120), encoding="utf-8")
    except OSError as error:
        raise FileError(f"cannot write {file}: {error}") from error
    return file


def _entry(placed: PlacedNode) -> dict[str, Any]:
    kind = type(placed.node)
    entry: dict[str, Any] = {"type": kind.TYPE, "version": kind.VERSION}
    if not kind.__module__.startswith("handloom."):
        entry = {"type": f"{kind.__module__}:{kind.__qualname__}"}
    if placed.values:
        entry["values"] = {name: _plain(value) for name, value in placed.values.items()}
    return entry


def _line(graph: Graph, connection: Connection) -> str:
    side = "inputs" if graph.node(connection.source_node).output(connection.source_port).source else "outputs"
    source = f"{connection.source_node}.{side}:{connection.source_port}"
    return f"{source}{ARROW}{connection.target_node}.inputs:{connection.target_port}"


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value
