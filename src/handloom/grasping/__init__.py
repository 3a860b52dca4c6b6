"""Grasps: annotation of any object for any two-finger gripper, files in the published layout, physics tests."""

from handloom.grasping.annotate import annotate, clear_of, object_parts
from handloom.grasping.annotate_options import AnnotateOptions
from handloom.grasping.convex_parts import ConvexParts, convex_parts
from handloom.grasping.grasp_file import GraspSet, read_grasps, write_grasps
from handloom.grasping.grasp_library import (
    RIM,
    RIM_OPENING,
    RING_OPENING,
    RINGS,
    grasps_as_it_lies,
    grasps_for,
    lying_grasps_for,
    rim_grasps_for,
    ring_grasps_for,
    suction_grasps_for,
)
from handloom.grasping.grasp_picture import grasp_picture
from handloom.grasping.grasp_trial import GraspTrial, TrialResult
from handloom.grasping.gripper_shape import GripperShape

__all__ = [
    "RIM",
    "RIM_OPENING",
    "RINGS",
    "RING_OPENING",
    "AnnotateOptions",
    "ConvexParts",
    "GraspSet",
    "GraspTrial",
    "GripperShape",
    "TrialResult",
    "annotate",
    "clear_of",
    "convex_parts",
    "grasp_picture",
    "grasps_as_it_lies",
    "grasps_for",
    "lying_grasps_for",
    "object_parts",
    "read_grasps",
    "rim_grasps_for",
    "ring_grasps_for",
    "suction_grasps_for",
    "write_grasps",
]
