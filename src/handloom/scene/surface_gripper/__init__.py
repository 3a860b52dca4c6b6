"""Grippers that hold by suction or adhesion: points that attach to the objects they meet and release above a force."""

from handloom.scene.surface_gripper.gripper_view import GripperView
from handloom.scene.surface_gripper.surface_gripper import (
    AttachmentPoint,
    GripperStatus,
    SurfaceGripper,
    SurfaceGripperProperties,
    add_surface_gripper,
)

__all__ = [
    "AttachmentPoint",
    "GripperStatus",
    "GripperView",
    "SurfaceGripper",
    "SurfaceGripperProperties",
    "add_surface_gripper",
]
