"""Skills that work by contact: press a point, use a tool on a target, push across a table."""
