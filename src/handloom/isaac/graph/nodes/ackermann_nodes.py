"""Nodes for car-like steering: with the current ports, and with those of older graphs."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from handloom.isaac.graph.node import GraphContext, Node, NodeResult, done, failed
from handloom.isaac.graph.port import port
from handloom.isaac.wheeled.controllers.ackermann_controller import AckermannController


class AckermannNode(Node):
    """Converts a steering angle and a speed to two wheel angles and four wheel speeds, with ramps.

    An acceleration or a steering rate of 0 means immediately. ``kinematics`` is not a published port; see
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
        """Read the geometry again and restart the ramps from rest."""
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


class AckermannV1Node(Node):
    """Computes two wheel angles and one speed for the steered wheels; all wheels have the same radius.

    With ``useAcceleration`` the speed is the current one, the x component of ``currentLinearVelocity``, plus
    ``acceleration`` times ``dt``; otherwise it is ``speed``.
    """

    TYPE = "isaacsim.robot.wheeled_robots.AckermannController"
    VERSION = 1
    INPUTS = (
        port("execIn", "execution"),
        port("acceleration", "double", command=True),
        port("speed", "double", command=True),
        port("steeringAngle", "double", command=True),
        port("currentLinearVelocity", "vectord[3]"),
        port("wheelBase", "double", latched=True),
        port("trackWidth", "double", latched=True),
        port("turningWheelRadius", "double", latched=True),
        port("maxWheelVelocity", "double", latched=True),
        port("invertSteeringAngle", "bool", latched=True),
        port("useAcceleration", "bool", latched=True),
        port("maxWheelRotation", "double", 6.28, latched=True),
        port("dt", "double"),
    )
    OUTPUTS = (
        port("execOut", "execution"),
        port("leftWheelAngle", "double"),
        port("rightWheelAngle", "double"),
        port("wheelRotationVelocity", "double"),
    )

    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Steer and drive."""
        speed = given["speed"]
        if given["useAcceleration"]:
            if given["dt"] <= 0.0:
                return failed(f"useAcceleration needs dt > 0, got {given['dt']}")
            speed = float(given["currentLinearVelocity"][0]) + given["acceleration"] * given["dt"]
        controller = AckermannController(
            "node",
            given["wheelBase"],
            given["trackWidth"],
            given["turningWheelRadius"],
            max_wheel_velocity=given["maxWheelVelocity"],
            invert_steering=given["invertSteeringAngle"],
            max_wheel_rotation_angle=given["maxWheelRotation"],
        )
        action = controller.forward([given["steeringAngle"], 0.0, speed, 0.0, 0.0])
        left, right = np.asarray(action.joint_positions, np.float64).tolist()
        limit = controller.max_wheel_velocity
        rolling = max(-limit, min(limit, speed / controller.front_wheel_radius))
        return done("execOut", leftWheelAngle=left, rightWheelAngle=right, wheelRotationVelocity=rolling)
