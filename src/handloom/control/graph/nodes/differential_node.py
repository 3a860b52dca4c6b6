"""Two driven wheels, with acceleration limits."""

from collections.abc import Mapping
from typing import Any

from handloom.control.graph.graph_context import GraphContext
from handloom.control.graph.node import Node, NodeResult, done, failed
from handloom.control.graph.port import port
from handloom.control.wheeled.differential_controller import DifferentialController

# What an unset speed limit means in the published node.
UNSET = 1e7


class DifferentialNode(Node):
    """Body speed to wheel speeds [left, right]; limits of 0 are not set, their signs are ignored.

    The linear limit acts only when acceleration and deceleration are both set.
    """

    TYPE = "isaacsim.robot.wheeled_robots.DifferentialController"
    INPUTS = (
        port("execIn", "execution"),
        port("wheelRadius", "double", latched=True),
        port("wheelDistance", "double", latched=True),
        port("dt", "double"),
        port("maxAcceleration", "double", latched=True),
        port("maxDeceleration", "double", latched=True),
        port("maxAngularAcceleration", "double", latched=True),
        port("maxLinearSpeed", "double", latched=True),
        port("maxAngularSpeed", "double", latched=True),
        port("maxWheelSpeed", "double", latched=True),
        port("linearVelocity", "double", command=True),
        port("angularVelocity", "double", command=True),
    )
    OUTPUTS = (port("velocityCommand", "double[]"),)

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Stand still."""
        self._linear = 0.0
        self._angular = 0.0

    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Limit the change of speed, then split it over the wheels."""
        if given["wheelRadius"] <= 0.0 or given["wheelDistance"] <= 0.0:
            return failed(
                f"wheelRadius and wheelDistance must be > 0, got {given['wheelRadius']} and {given['wheelDistance']}"
            )
        speed_up, slow_down = abs(given["maxAcceleration"]), abs(given["maxDeceleration"])
        turn_up, dt = abs(given["maxAngularAcceleration"]), given["dt"]
        if dt <= 0.0 and (speed_up or slow_down or turn_up):
            return failed(f"an acceleration limit needs dt > 0, got {dt}")
        controller = DifferentialController(
            "node",
            given["wheelRadius"],
            given["wheelDistance"],
            abs(given["maxLinearSpeed"]) or UNSET,
            abs(given["maxAngularSpeed"]) or UNSET,
            abs(given["maxWheelSpeed"]) or UNSET,
        )
        linear, angular = given["linearVelocity"], given["angularVelocity"]
        if speed_up and slow_down:
            faster = abs(linear) > abs(self._linear) and linear * self._linear >= 0.0
            linear = _towards(self._linear, linear, (speed_up if faster else slow_down) * dt)
        if turn_up:
            angular = _towards(self._angular, angular, turn_up * dt)
        command = controller.forward([linear, angular])
        self._linear, self._angular = linear, angular
        return done(velocityCommand=command.joint_velocities)


def _towards(present: float, target: float, step: float) -> float:
    return max(present - step, min(present + step, target))
