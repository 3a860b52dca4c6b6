"""The nodes, one file per node or small family."""
