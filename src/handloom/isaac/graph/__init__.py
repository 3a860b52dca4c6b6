"""A small execution graph with the published nodes: events, controllers, paths, constants."""

from handloom.isaac.graph.graph import Connection, Evaluation, Graph, Keys
from handloom.isaac.graph.graph_file import load_graph, save_graph
from handloom.isaac.graph.graph_session import GraphSession
from handloom.isaac.graph.node import EventNode, GraphContext, Node, NodeResult, PlacedNode, done, failed
from handloom.isaac.graph.port import PORT_TYPES, Port, PortType, port, port_type
from handloom.isaac.graph.registry import NODE_TYPES, node_class

__all__ = [
    "NODE_TYPES",
    "PORT_TYPES",
    "Connection",
    "Evaluation",
    "EventNode",
    "Graph",
    "GraphContext",
    "GraphSession",
    "Keys",
    "Node",
    "NodeResult",
    "PlacedNode",
    "Port",
    "PortType",
    "done",
    "failed",
    "load_graph",
    "node_class",
    "port",
    "port_type",
    "save_graph",
]
