"""The typed node graph: what a value is, what a node is, how nodes are wired and run."""
