"""Omni and mecanum wheels."""

from collections.abc import Mapping
from typing import Any

from handloom.control.graph.graph_context import GraphContext
from handloom.control.graph.node import Node, NodeResult, done, failed
from handloom.control.graph.port import port
from handloom.control.wheeled.holonomic_controller import HolonomicController

GEOMETRY = ("wheelRadius", "wheelPositions", "wheelOrientations", "mecanumAngles")


class HolonomicNode(Node):
    """Body twist to the speeds of any number of wheels with rollers.

    ``wheelOrientations`` are wxyz and ``mecanumAngles`` are degrees, as the published code reads them. ``kinematics``
    is an addition of ours, see ``HolonomicController``.
    """

    TYPE = "isaacsim.robot.wheeled_robots.HolonomicController"
    INPUTS = (
        port("execIn", "execution"),
        port("wheelRadius", "double[]", latched=True),
        port("wheelPositions", "double[3][]", latched=True),
        port("wheelOrientations", "double[4][]", latched=True),
        port("mecanumAngles", "double[]", latched=True),
        port("wheelAxis", "double[3]", [1, 0, 0], latched=True),
        port("upAxis", "double[3]", [0, 0, 1], latched=True),
        port("inputVelocity", "double[3]", command=True),
        port("maxLinearSpeed", "double", 1e5, latched=True),
        port("maxAngularSpeed", "double", 1e5, latched=True),
        port("maxWheelSpeed", "double", 1e5, latched=True),
        port("linearGain", "double", 1.0, latched=True),
        port("angularGain", "double", 1.0, latched=True),
        port("kinematics", "token", "published", latched=True),
    )
    OUTPUTS = (port("jointVelocityCommand", "double[]"),)

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Read the geometry anew at the next compute."""
        self._controller: HolonomicController | None = None

    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Solve for the wheel speeds."""
        for name in GEOMETRY:
            if len(given[name]) == 0:
                return failed(f"{name} is empty")
        if self._controller is None:
            self._controller = HolonomicController(
                "node",
                given["wheelRadius"],
                given["wheelPositions"],
                given["wheelOrientations"],
                given["mecanumAngles"],
                given["wheelAxis"],
                given["upAxis"],
                given["maxLinearSpeed"],
                given["maxAngularSpeed"],
                given["maxWheelSpeed"],
                given["linearGain"],
                given["angularGain"],
                kinematics=given["kinematics"],
            )
        return done(jointVelocityCommand=self._controller.forward(given["inputVelocity"]).joint_velocities)
