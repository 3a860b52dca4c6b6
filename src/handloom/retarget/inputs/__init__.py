"""Standard groups: what controllers, hands, heads and robots send through the graph."""
