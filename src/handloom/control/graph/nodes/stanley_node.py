"""Follow a path with the Stanley law, then turn to the heading of the target."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from handloom.arrays import Array
from handloom.control.graph.graph_context import GraphContext
from handloom.control.graph.node import Node, NodeResult, done, failed
from handloom.control.graph.port import port
from handloom.control.wheeled.angles import normalize_angle, yaw_from_quat
from handloom.control.wheeled.arguments import finite_number
from handloom.control.wheeled.bicycle_state import BicycleState
from handloom.control.wheeled.stanley import pid_control, stanley_control
from handloom.spatial import quat_wxyz_from_xyzw

# Fastest turn on the spot at the target [rad/s], as published.
FASTEST_TURN = 1.0


class StanleyNode(Node):
    """Speed and yaw rate along a path of v, x, y and yaw arrays.

    The published node steers a bicycle that is shorter than ``wheelBase`` by the velocity gain, which gives a robot
    that turns on the spot its agility; that is kept. Its first gain had no effect; here it is the gain of the
    distance, with the same default.
    """

    TYPE = "isaacsim.robot.wheeled_robots.StanleyControlPID"
    INPUTS = (
        port("execIn", "execution"),
        port("currentPosition", "vectord[3]"),
        port("currentOrientation", "quatd[4]"),
        port("currentSpeed", "vectord[3]"),
        port("pathArrays", "double[]"),
        port("target", "double[3]"),
        port("targetChanged", "bool"),
        port("reachedGoal", "bool[]", [False, False]),
        port("wheelBase", "double", 0.4132),
        port("thresholds", "double[2]", [0.1, 0.1]),
        port("maxVelocity", "double", 1.5),
        port("gains", "double[3]", [0.5, 0.1, 0.0872665]),
        port("step", "double", 1 / 6),
        port("drawPath", "bool"),
    )
    OUTPUTS = (
        port("execOut", "execution"),
        port("linearVelocity", "double"),
        port("angularVelocity", "double"),
    )

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Follow the next path from its beginning."""
        self._index = 0
        self._path: Array = np.empty((4, 0))

    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Steer."""
        arrays, reached = given["pathArrays"], given["reachedGoal"]
        if len(arrays) % 4 or len(reached) != 2 or given["step"] <= 0.0:
            return failed(
                f"needs pathArrays of four equal parts, two flags in reachedGoal and step > 0, "
                f"got {len(arrays)} values, {len(reached)} flags, step {given['step']}"
            )
        if given["targetChanged"] or self._path.size == 0:
            self._path, self._index = arrays.reshape(4, -1), 0
        if all(reached) or (self._path.size == 0 and not reached[0]):
            return done("execOut", linearVelocity=0.0, angularVelocity=0.0)
        yaw = yaw_from_quat(quat_wxyz_from_xyzw(given["currentOrientation"]))
        speed, turn = (0.0, self._turn(given, yaw)) if reached[0] else self._drive(given, yaw)
        return done("execOut", linearVelocity=speed, angularVelocity=turn)

    def _turn(self, given: Mapping[str, Any], yaw: float) -> float:
        error = normalize_angle(float(given["target"][2]) - yaw)
        rate = float(given["gains"][1]) / given["step"] * error
        return max(-FASTEST_TURN, min(FASTEST_TURN, finite_number(rate, "the turn at the target")))

    def _drive(self, given: Mapping[str, Any], yaw: float) -> tuple[float, float]:
        distance_gain, speed_gain, most_steering = given["gains"].tolist()
        x, y, _ = given["currentPosition"].tolist()
        state = BicycleState(
            given["wheelBase"] * speed_gain, x, y, yaw, math.hypot(*given["currentSpeed"][:2].tolist()), most_steering
        )
        speeds, xs, ys, yaws = self._path
        delta, self._index = stanley_control(state, xs, ys, yaws, self._index, k=distance_gain)
        wanted = min(float(speeds[self._index]), given["maxVelocity"])
        state.update(pid_control(wanted, state.v, speed_gain), delta, given["step"])
        # A sharp bend at low speed turns the robot faster than its bicycle, as published.
        boost = 1.0 + (abs(given["wheelBase"] * state.w / state.v) * speed_gain / given["step"] if state.v else 0.0)
        return min(state.v, given["maxVelocity"]), finite_number(state.w * boost, "the yaw rate")
