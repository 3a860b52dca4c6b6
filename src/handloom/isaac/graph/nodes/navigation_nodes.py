"""Nodes that plan and follow paths for a base: quintic paths, Stanley tracking, goal check, odometry."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from handloom.arrays import Array
from handloom.isaac.graph.node import GraphContext, Node, NodeResult, done, failed
from handloom.isaac.graph.port import port
from handloom.isaac.wheeled.arguments import finite_number
from handloom.isaac.wheeled.paths.quintic_path import quintic_polynomials_planner
from handloom.isaac.wheeled.paths.stanley import BicycleState, pid_control, stanley_control
from handloom.isaac.wheeled.planar_odometry import normalize_angle, yaw_from_quat
from handloom.spatial import pos_quat_from_pose, quat_wxyz_from_xyzw, quat_xyzw_from_wxyz, relative_pose

# A target that moved by less than this, in x or y [m] and in yaw [rad], counts as unchanged.
SAME_PLACE = 0.1
SAME_YAW = 0.05


class QuinticPathNode(Node):
    """Plans quintic polynomials from the robot's pose to a target; orientations are xyzw, all zeros mean yaw 0."""

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
        """Replan at the next compute."""
        self._target: Array | None = None
        self._path: Array = np.empty(0)

    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Plan if the target is new; ``pathArrays`` is the concatenation of v, x, y and yaw."""
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


# Fastest turn on the spot at the target [rad/s], as published.
FASTEST_TURN = 1.0


class StanleyNode(Node):
    """Computes speed and yaw rate along a path given as v, x, y and yaw arrays.

    The published node steers a bicycle model that is shorter than ``wheelBase`` by the velocity gain, which lets robots
    that can turn on the spot corner tightly; that is kept. Its first gain had no effect; here it is the gain for the
    cross-track distance, with the same default.
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
        # In a sharp bend at low speed the robot turns faster than the bicycle model, as published.
        boost = 1.0 + (abs(given["wheelBase"] * state.w / state.v) * speed_gain / given["step"] if state.v else 0.0)
        return min(state.v, given["maxVelocity"]), finite_number(state.w * boost, "the yaw rate")


class CheckGoalNode(Node):
    """Checks if position and heading are within thresholds of a target [x, y, yaw]; the heading error is wrapped."""

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


class ComputeOdometryNode(Node):
    """Computes the pose relative to the first compute, and velocities and accelerations in base and world frames.

    This is the true pose, as published; for dead reckoning from wheel speeds, see ``PlanarOdometry``. Accelerations are
    finite differences between computes, zero at the first.
    """

    TYPE = "isaacsim.core.nodes.IsaacComputeOdometry"
    INPUTS = (port("execIn", "execution"), port("chassisPrim", "target"))
    OUTPUTS = (
        port("execOut", "execution"),
        port("position", "vectord[3]"),
        port("orientation", "quatd[4]", [0, 0, 0, 1]),
        port("linearVelocity", "vectord[3]"),
        port("angularVelocity", "vectord[3]"),
        port("linearAcceleration", "vectord[3]"),
        port("angularAcceleration", "vectord[3]"),
        port("globalLinearVelocity", "vectord[3]"),
        port("globalLinearAcceleration", "vectord[3]"),
    )

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Take the next pose as the new origin."""
        self._T_world_start: Array | None = None
        self._last: tuple[float, Array] | None = None

    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Read the base."""
        prim = given["chassisPrim"]
        if not prim:
            return failed("chassisPrim names nothing")
        T_world_base, velocity = context.pose(prim), context.velocity(prim)
        if self._T_world_start is None:
            self._T_world_start = T_world_base
        position, quat = pos_quat_from_pose(relative_pose(self._T_world_start, T_world_base))
        change = np.zeros(6)
        if self._last is not None and context.time > self._last[0]:
            change = (velocity - self._last[1]) / (context.time - self._last[0])
        self._last = (context.time, velocity)
        to_base = T_world_base[:3, :3].T
        return done(
            "execOut",
            position=position,
            orientation=quat_xyzw_from_wxyz(quat),
            linearVelocity=to_base @ velocity[:3],
            angularVelocity=to_base @ velocity[3:],
            linearAcceleration=to_base @ change[:3],
            angularAcceleration=to_base @ change[3:],
            globalLinearVelocity=velocity[:3],
            globalLinearAcceleration=change[:3],
        )
