"""Rays against the scene: the geom that is hit, the hit point, and the surface there."""
