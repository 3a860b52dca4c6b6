"""Skills that drive the base."""
