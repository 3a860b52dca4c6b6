"""Joints of a robot in a World: targets, drives, measured efforts, default state."""

from handloom.isaac.articulation.articulation_controller import ArticulationController
from handloom.isaac.articulation.articulation_gripper import ArticulationGripper
from handloom.isaac.articulation.articulation_subset import ArticulationSubset
from handloom.isaac.articulation.articulation_view import ArticulationView
from handloom.isaac.articulation.joint_drives import JointDrives, add_drive_inputs
from handloom.isaac.articulation.single_articulation import SingleArticulation
from handloom.isaac.articulation.template_robot import TemplateRobot, make_robot, register_robot, robot_class

__all__ = [
    "ArticulationController",
    "ArticulationGripper",
    "ArticulationSubset",
    "ArticulationView",
    "JointDrives",
    "SingleArticulation",
    "TemplateRobot",
    "add_drive_inputs",
    "make_robot",
    "register_robot",
    "robot_class",
]
