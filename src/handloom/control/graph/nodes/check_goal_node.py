"""Has the robot arrived?"""

import math
from collections.abc import Mapping
from typing import Any

from handloom.control.graph.graph_context import GraphContext
from handloom.control.graph.node import Node, NodeResult, done
from handloom.control.graph.port import port
from handloom.control.wheeled.angles import normalize_angle, yaw_from_quat
from handloom.spatial import quat_wxyz_from_xyzw


class CheckGoalNode(Node):
    """Position and heading within thresholds of a target [x, y, yaw]; the heading error is wrapped."""

    TYPE = "isaacsim.robot.wheeled_robots.CheckGoal2D"
    INPUTS = (
        port("execIn", "execution"),
        port("currentPosition", "vectord[3]"),
        port("currentOrientation", "quatd[4]"),
        port("target", "double[3]"),
        port("targetChanged", "bool"),
        port("thresholds", "double[2]", [0.1, 0.1]),
    )
    OUTPUTS = (port("execOut", "execution"), port("reachedGoal", "bool[]", [False, False]))

    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Compare."""
        x, y, yaw = given["target"].tolist()
        place, angle = given["thresholds"].tolist()
        here = given["currentPosition"].tolist()
        turned = yaw_from_quat(quat_wxyz_from_xyzw(given["currentOrientation"]))
        near = math.hypot(here[0] - x, here[1] - y) <= place
        return done("execOut", reachedGoal=[near, abs(normalize_angle(yaw - turned)) <= angle])
