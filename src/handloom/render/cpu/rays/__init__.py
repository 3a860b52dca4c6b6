"""Rays against the scene: which geom is hit, where, and what its surface is there."""
