"""Forward and inverse kinematics of any compiled MjModel."""

from handloom.motion.kinematics.chain import Chain
from handloom.motion.kinematics.ik_solver import IkBranches, IkOptions, IkResult, IkSolver, Orientation
from handloom.motion.kinematics.joint_tree import JointTree
from handloom.motion.kinematics.low_discrepancy import halton

__all__ = ["Chain", "IkBranches", "IkOptions", "IkResult", "IkSolver", "JointTree", "Orientation", "halton"]
