"""Nodes for differential and holonomic bases."""

from collections.abc import Mapping
from typing import Any

from handloom.isaac.graph.node import GraphContext, Node, NodeResult, done, failed
from handloom.isaac.graph.port import port
from handloom.isaac.wheeled.controllers.differential_controller import DifferentialController
from handloom.isaac.wheeled.controllers.holonomic_controller import HolonomicController
from handloom.isaac.wheeled.controllers.holonomic_robot_setup import HolonomicRobotSetup

# Value of an unset speed limit in the published node.
UNSET = 1e7


class DifferentialNode(Node):
    """Converts body velocity to wheel speeds [left, right]; a limit of 0 is no limit; signs of limits are ignored.

    The linear acceleration is limited only if acceleration and deceleration are both set.
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
        """Limit the change of velocity, then compute the wheel speeds."""
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


GEOMETRY = ("wheelRadius", "wheelPositions", "wheelOrientations", "mecanumAngles")


class HolonomicNode(Node):
    """Converts a body twist to the speeds of any number of wheels with rollers.

    ``wheelOrientations`` are wxyz and ``mecanumAngles`` are in degrees, as in the published code. ``kinematics`` is not
    a published port; see ``HolonomicController``.
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
        """Read the geometry again at the next compute."""
        self._controller: HolonomicController | None = None

    def stopped_outputs(self, latched: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a command with one zero per wheel."""
        return {"jointVelocityCommand": [0.0] * len(latched.get("wheelPositions", ()))}

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


class HolonomicSetupNode(Node):
    """Reads radius, position and roller angle of every wheel marked in the model; see ``HolonomicRobotSetup``."""

    TYPE = "isaacsim.robot.wheeled_robots.HolonomicRobotUsdSetup"
    INPUTS = (
        port("robotPrim", "target"),
        port("comPrim", "target"),
        port("usePath", "bool"),
        port("robotPrimPath", "string"),
        port("comPrimPath", "string"),
    )
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
        # With usePath only the paths are used; otherwise the targets take precedence.
        target, seen_from = (None, None) if given["usePath"] else (given["robotPrim"], given["comPrim"])
        robot = context.robot("" if target else given["robotPrimPath"], target)
        setup = HolonomicRobotSetup(robot.world, robot.prefix, seen_from or given["comPrimPath"])
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
