"""The typed node graph: values, nodes, wiring and execution."""
