"""Entry of device samples into the graph: snapshots, source nodes, and the anchor transform."""
