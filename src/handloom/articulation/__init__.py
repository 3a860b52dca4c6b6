"""Joints of a robot in a World: targets, drives, measured efforts, default state."""

from handloom.articulation.articulation_controller import ArticulationController
from handloom.articulation.articulation_gripper import ArticulationGripper
from handloom.articulation.articulation_subset import ArticulationSubset
from handloom.articulation.articulation_view import ArticulationView
from handloom.articulation.joint_drives import JointDrives, add_drive_inputs
from handloom.articulation.single_articulation import SingleArticulation

__all__ = [
    "ArticulationController",
    "ArticulationGripper",
    "ArticulationSubset",
    "ArticulationView",
    "JointDrives",
    "SingleArticulation",
    "add_drive_inputs",
]
