"""Where device samples enter the graph: snapshots, source nodes, and the anchor transform."""
