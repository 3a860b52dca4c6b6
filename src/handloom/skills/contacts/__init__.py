"""Skills that work by contact: press a point, use a tool on a target, push over a table."""
