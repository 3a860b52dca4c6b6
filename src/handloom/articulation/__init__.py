"""Joints of a robot in a World: targets, drives, measured efforts, default state."""

from handloom.articulation.articulation_controller import ArticulationController
from handloom.articulation.articulation_subset import ArticulationSubset
from handloom.articulation.joint_drives import JointDrives, add_drive_inputs
from handloom.articulation.single_articulation import SingleArticulation

__all__ = [
    "ArticulationController",
    "ArticulationSubset",
    "JointDrives",
    "SingleArticulation",
    "add_drive_inputs",
]
