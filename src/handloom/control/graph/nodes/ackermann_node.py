"""Steered cars, present ports."""

from collections.abc import Mapping
from typing import Any

from handloom.control.graph.graph_context import GraphContext
from handloom.control.graph.node import Node, NodeResult, done
from handloom.control.graph.port import port
from handloom.control.wheeled.ackermann_controller import AckermannController


class AckermannNode(Node):
    """Steering angle and speed to two wheel angles and four wheel speeds, with ramps.

    An acceleration or a steering rate of 0 means at once. ``kinematics`` is an addition of ours, see
    ``AckermannController``.
    """

    TYPE = "isaacsim.robot.wheeled_robots.AckermannController"
    VERSION = 2
    INPUTS = (
        port("execIn", "execution"),
        port("acceleration", "double", command=True),
        port("maxAcceleration", "double", latched=True),
        port("speed", "double", command=True),
        port("steeringAngle", "double", command=True),
        port("maxWheelRotation", "double", 6.28, latched=True),
        port("steeringAngleVelocity", "double", command=True),
        port("maxSteeringAngleVelocity", "double", latched=True),
        port("wheelBase", "double", latched=True),
        port("trackWidth", "double", latched=True),
        port("frontWheelRadius", "double", latched=True),
        port("backWheelRadius", "double", latched=True),
        port("maxWheelVelocity", "double", latched=True),
        port("invertSteering", "bool", latched=True),
        port("dt", "double"),
        port("kinematics", "token", "published", latched=True),
    )
    OUTPUTS = (
        port("execOut", "execution"),
        port("wheelAngles", "double[2]"),
        port("wheelRotationVelocity", "double[4]"),
    )

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Read the geometry anew, and start the ramps at rest."""
        self._controller: AckermannController | None = None

    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Steer and drive."""
        if self._controller is None:
            self._controller = AckermannController(
                "node",
                given["wheelBase"],
                given["trackWidth"],
                given["frontWheelRadius"],
                given["backWheelRadius"],
                given["maxWheelVelocity"],
                given["invertSteering"],
                given["maxWheelRotation"],
                given["maxAcceleration"],
                given["maxSteeringAngleVelocity"],
                kinematics=given["kinematics"],
            )
        action = self._controller.forward(
            [
                given["steeringAngle"],
                given["steeringAngleVelocity"],
                given["speed"],
                given["acceleration"],
                given["dt"],
            ]
        )
        return done("execOut", wheelAngles=action.joint_positions, wheelRotationVelocity=action.joint_velocities)
