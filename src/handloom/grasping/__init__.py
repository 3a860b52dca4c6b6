"""Grasps: annotation rows and the end-effector poses they stand for."""

from handloom.grasping.box_grasps import box_grasps

__all__ = ["box_grasps"]
