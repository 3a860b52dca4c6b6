"""Read joints."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from handloom.control.graph.graph_context import GraphContext
from handloom.control.graph.node import Node, NodeResult, done
from handloom.control.graph.nodes.joint_selection import selected_joints
from handloom.control.graph.port import port


class ArticulationStateNode(Node):
    """Positions, velocities, efforts and joint wrenches of the selected joints."""

    TYPE = "isaacsim.core.nodes.IsaacArticulationState"
    INPUTS = (
        port("execIn", "execution"),
        port("targetPrim", "target"),
        port("robotPath", "string"),
        port("jointNames", "token[]"),
        port("jointIndices", "int[]"),
    )
    OUTPUTS = (
        port("jointNames", "token[]"),
        port("jointPositions", "double[]"),
        port("jointVelocities", "double[]"),
        port("measuredJointEfforts", "double[]"),
        port("measuredJointForces", "double[3][]"),
        port("measuredJointTorques", "double[3][]"),
    )

    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Read the robot."""
        robot = context.robot(given["robotPath"], given["targetPrim"])
        chosen = selected_joints(robot, given)
        joints = np.arange(robot.num_dof) if chosen is None else np.array(chosen)
        wrenches = robot.get_measured_joint_forces(joints)
        return done(
            jointNames=[robot.dof_names[joint] for joint in joints],
            jointPositions=robot.get_joint_positions(joints),
            jointVelocities=robot.get_joint_velocities(joints),
            measuredJointEfforts=robot.get_measured_joint_efforts(joints),
            measuredJointForces=wrenches[:, :3],
            measuredJointTorques=wrenches[:, 3:],
        )
