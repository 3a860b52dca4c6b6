"""Give joints targets."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from handloom.control.graph.graph_context import GraphContext
from handloom.control.graph.node import Node, NodeResult, done, failed
from handloom.control.graph.nodes.joint_selection import selected_joints
from handloom.control.graph.port import port
from handloom.errors import HandloomError
from handloom.values import ArticulationAction

COMMANDS = {
    "positionCommand": "joint_positions",
    "velocityCommand": "joint_velocities",
    "effortCommand": "joint_efforts",
}


class ArticulationControllerNode(Node):
    """Applies position, velocity and effort commands to a robot.

    Empty commands are skipped; a NaN entry leaves its joint alone. When a command does not have one value per selected
    joint, nothing at all is written.
    """

    TYPE = "isaacsim.core.nodes.IsaacArticulationController"
    INPUTS = (
        port("execIn", "execution"),
        port("targetPrim", "target"),
        port("robotPath", "string"),
        port("jointNames", "token[]"),
        port("jointIndices", "int[]"),
        port("positionCommand", "double[]", command=True, nan=True),
        port("velocityCommand", "double[]", command=True, nan=True),
        port("effortCommand", "double[]", command=True, nan=True),
    )

    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Write the commands, or say why not."""
        path = given["robotPath"] or given["targetPrim"]
        try:
            robot = context.robot(given["robotPath"], given["targetPrim"])
            joints = selected_joints(robot, given)
            selected = robot.num_dof if joints is None else len(joints)
            commands = {channel: given[name] for name, channel in COMMANDS.items() if len(given[name])}
            for name in COMMANDS:
                if len(given[name]) not in {0, selected}:
                    return failed(f"{path}: {name} has {len(given[name])} values, but {selected} joints are selected")
            if commands:
                everyone = np.arange(robot.num_dof)
                robot.apply_action(
                    ArticulationAction(**commands, joint_indices=everyone if joints is None else np.array(joints))
                )
        except HandloomError as error:
            return failed(f"{path}: {error}" if path else str(error))
        return done()
