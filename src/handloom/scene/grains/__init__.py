"""Grains that represent a fluid."""

from handloom.scene.grains.grains import Grains

__all__ = ["Grains"]
