"""Grains that stand in for a fluid."""

from handloom.scene.grains.grains import Grains

__all__ = ["Grains"]
