"""From a third-party model to a robot folder."""

from handloom.robots.proposal.propose_robot import RobotProposal, propose_robot, write_proposal
from handloom.robots.proposal.reach_map import reach_map, reachable_points

__all__ = ["RobotProposal", "propose_robot", "reach_map", "reachable_points", "write_proposal"]
