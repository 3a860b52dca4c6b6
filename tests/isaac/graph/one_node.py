"""A graph of a single node, for tests."""

from handloom.isaac.graph import Graph, Keys


def one(kind: str, version: int | None = None, **values: object) -> Graph:
    graph = Graph(evaluator="push")
    graph.edit(
        {
            Keys.CREATE_NODES: [("n", kind, version)],
            Keys.SET_VALUES: [(f"n.inputs:{name}", value) for name, value in values.items()],
        }
    )
    return graph
