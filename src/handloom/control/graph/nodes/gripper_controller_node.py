"""Open and close a gripper with fingers, at a speed."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from handloom.arrays import Array
from handloom.articulation import SingleArticulation
from handloom.control.graph.graph_context import GraphContext
from handloom.control.graph.node import Node, NodeResult, done, failed
from handloom.control.graph.port import port
from handloom.errors import unknown_name


class GripperControllerNode(Node):
    """Turns the pulses ``open``, ``close`` and ``stop`` into position commands, moved on by every ``execIn``.

    Without ``openPosition`` or ``closePosition`` the joint limits are used; without ``gripperSpeed`` the fingers go at
    once. ``stop`` holds the fingers where they are.
    """

    TYPE = "isaacsim.robot.manipulators.IsaacGripperController"
    INPUTS = (
        port("execIn", "execution"),
        port("open", "execution"),
        port("close", "execution"),
        port("stop", "execution"),
        port("articulationRootPrim", "target"),
        port("gripperPrim", "target"),
        port("jointNames", "token[]", latched=True),
        port("openPosition", "double[]", latched=True),
        port("closePosition", "double[]", latched=True),
        port("gripperSpeed", "double[]"),
    )
    OUTPUTS = (port("jointNames", "token[]"), port("positionCommands", "double[]"))

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Hold still until the next pulse."""
        self._goal: Array | None = None
        self._command: Array | None = None

    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Choose a goal on open, close and stop; move towards it on execIn."""
        robot = context.robot("", given["articulationRootPrim"])
        names = given["jointNames"] or _joints_below(robot, given["gripperPrim"])
        for name in names:
            if name not in robot.dof_names:
                raise unknown_name(f"joint of {robot.name!r}", name, robot.dof_names)
        joints = [robot.dof_names.index(name) for name in names]
        if not joints:
            return failed("no gripper joints: give jointNames, or gripperPrim with joints below it")
        for key in ("openPosition", "closePosition", "gripperSpeed"):
            if len(given[key]) not in {0, 1, len(joints)}:
                return failed(f"{key} has {len(given[key])} values for {len(joints)} joints")
        here = robot.get_joint_positions(joints)
        if pulse in {"open", "close"}:
            self._goal = _goal(robot, joints, given, pulse)
        elif pulse == "stop":
            self._goal = self._command = here
        if self._command is None:
            self._command = here
        if pulse == "execIn" and self._goal is not None:
            reach = np.broadcast_to(np.abs(given["gripperSpeed"]) if len(given["gripperSpeed"]) else np.inf, here.shape)
            self._command = np.clip(self._goal, self._command - reach, self._command + reach)
        return done(jointNames=names, positionCommands=self._command)


def _goal(robot: SingleArticulation, joints: list[int], given: Mapping[str, Any], pulse: str) -> Array:
    asked = given["openPosition" if pulse == "open" else "closePosition"]
    if len(asked):
        return np.broadcast_to(asked, len(joints)).copy()
    properties = robot.dof_properties[joints]
    return np.array(properties["upper" if pulse == "open" else "lower"], np.float64)


def _joints_below(robot: SingleArticulation, prim: str | None) -> tuple[str, ...]:
    if not prim:
        return ()
    world = robot.world
    inside = set(world.subtree(robot.prefix + prim))
    return tuple(
        name
        for name in robot.dof_names
        if world.bodies.label(int(world.model.jnt_bodyid[world.joint_index(robot.prefix + name)])) in inside
    )
