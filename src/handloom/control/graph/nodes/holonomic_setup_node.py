"""Read the wheels of a holonomic base from its model."""

from collections.abc import Mapping
from typing import Any

from handloom.control.graph.graph_context import GraphContext
from handloom.control.graph.node import Node, NodeResult, done
from handloom.control.graph.port import port
from handloom.control.wheeled.holonomic_robot_setup import HolonomicRobotSetup


class HolonomicSetupNode(Node):
    """Radius, place and roller angle of every wheel that the model marks; see ``HolonomicRobotSetup``."""

    TYPE = "isaacsim.robot.wheeled_robots.HolonomicRobotUsdSetup"
    INPUTS = (port("robotPrim", "target"), port("robotPrimPath", "string"), port("comPrimPath", "string"))
    OUTPUTS = (
        port("wheelRadius", "double[]"),
        port("wheelPositions", "double[3][]"),
        port("wheelOrientations", "double[4][]"),
        port("mecanumAngles", "double[]"),
        port("wheelAxis", "double[3]"),
        port("upAxis", "double[3]"),
        port("wheelDofNames", "token[]"),
    )

    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Look for wheels."""
        robot = context.robot(given["robotPrimPath"], given["robotPrim"])
        setup = HolonomicRobotSetup(robot.world, robot.prefix, given["comPrimPath"])
        params = setup.get_holonomic_controller_params()
        return done(
            wheelRadius=params.wheel_radius,
            wheelPositions=params.wheel_positions,
            wheelOrientations=params.wheel_orientations,
            mecanumAngles=params.mecanum_angles,
            wheelAxis=params.wheel_axis,
            upAxis=params.up_axis,
            wheelDofNames=setup.get_articulation_controller_params(),
        )
