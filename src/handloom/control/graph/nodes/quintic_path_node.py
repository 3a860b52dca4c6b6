"""Plan a smooth path to a target, and again when the target moves."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from handloom.arrays import Array
from handloom.control.graph.graph_context import GraphContext
from handloom.control.graph.node import Node, NodeResult, done
from handloom.control.graph.port import port
from handloom.control.wheeled.angles import normalize_angle, yaw_from_quat
from handloom.control.wheeled.quintic_path import quintic_polynomials_planner
from handloom.spatial import pos_quat_from_pose, quat_wxyz_from_xyzw

# A target that moved less than this, in x or y [m] and in yaw [rad], is the same target.
SAME_PLACE = 0.1
SAME_YAW = 0.05


class QuinticPathNode(Node):
    """Quintic polynomials from where the robot is to a target; orientations are xyzw, all zeros count as yaw 0."""

    TYPE = "isaacsim.robot.wheeled_robots.QuinticPathPlanner"
    INPUTS = (
        port("execIn", "execution"),
        port("currentPosition", "vectord[3]"),
        port("currentOrientation", "quatd[4]"),
        port("targetPrim", "target"),
        port("targetPosition", "vectord[3]"),
        port("targetOrientation", "quatd[4]"),
        port("initialVelocity", "double", 0.5),
        port("initialAccel", "double", 0.02),
        port("goalVelocity", "double", 0.5),
        port("goalAccel", "double", 0.02),
        port("maxAccel", "double", 1.5),
        port("maxJerk", "double", 0.3),
        port("step", "double", 1 / 6),
    )
    OUTPUTS = (
        port("execOut", "execution"),
        port("pathArrays", "double[]"),
        port("target", "double[3]"),
        port("targetChanged", "bool"),
    )

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Plan anew at the next compute."""
        self._target: Array | None = None
        self._path: Array = np.empty(0)

    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Plan if the target is new; ``pathArrays`` holds v, x, y and yaw one after the other."""
        target = _target(given, context)
        changed = self._target is None or _moved(self._target, target)
        if changed:
            x, y, _ = given["currentPosition"].tolist()
            yaw = yaw_from_quat(quat_wxyz_from_xyzw(given["currentOrientation"]))
            _, xs, ys, yaws, speeds, _, _ = quintic_polynomials_planner(
                x,
                y,
                yaw,
                given["initialVelocity"],
                given["initialAccel"],
                float(target[0]),
                float(target[1]),
                float(target[2]),
                given["goalVelocity"],
                given["goalAccel"],
                given["maxAccel"],
                given["maxJerk"],
                given["step"],
            )
            self._path, self._target = np.concatenate([speeds, xs, ys, yaws]), target
        return done("execOut", pathArrays=self._path, target=self._target, targetChanged=changed)


def _target(given: Mapping[str, Any], context: GraphContext) -> Array:
    if given["targetPrim"]:
        position, quat = pos_quat_from_pose(context.pose(given["targetPrim"]))
    else:
        position, quat = given["targetPosition"], quat_wxyz_from_xyzw(given["targetOrientation"])
    return np.array([position[0], position[1], yaw_from_quat(quat)])


def _moved(old: Array, new: Array) -> bool:
    turned = abs(normalize_angle(float(new[2] - old[2])))
    return bool(np.max(np.abs(new[:2] - old[:2])) >= SAME_PLACE or turned >= SAME_YAW)
