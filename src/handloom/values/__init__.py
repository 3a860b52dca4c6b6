"""Frozen values that cross folders."""

from handloom.values.camera import CameraSpec
from handloom.values.command import Command

__all__ = ["CameraSpec", "Command"]
