"""The graph engine: interface, tensor types, device sources."""
