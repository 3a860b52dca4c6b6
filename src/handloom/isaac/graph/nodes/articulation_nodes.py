"""Nodes that command and read joints, and open and close grippers."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from handloom.arrays import Array
from handloom.errors import HandloomError, InputError, unknown_name
from handloom.isaac.articulation import SingleArticulation
from handloom.isaac.graph.node import GraphContext, Node, NodeResult, done, failed
from handloom.isaac.graph.port import port
from handloom.values import ArticulationAction


def selected_joints(robot: SingleArticulation, given: Mapping[str, Any]) -> tuple[int, ...] | None:
    """Return the joints selected by ``jointNames`` or ``jointIndices``; None if neither is given.

    Raises:
        InputError: An index outside the robot, or a joint twice.
        NotFoundError: A joint name that does not exist.
    """
    names, indices = given["jointNames"], given["jointIndices"]
    if not names and not indices:
        return None
    for name in names:
        if name not in robot.dof_names:
            raise unknown_name(f"joint of {robot.name!r}", name, robot.dof_names)
    joints = tuple(robot.dof_names.index(name) for name in names) if names else tuple(indices)
    outside = [joint for joint in joints if not 0 <= joint < robot.num_dof]
    if outside:
        raise InputError(f"jointIndices {outside} are outside 0 ... {robot.num_dof - 1} of {robot.name!r}")
    if len(set(joints)) != len(joints):
        raise InputError(f"a joint of {robot.name!r} is selected twice: {list(names or indices)}")
    return joints


COMMANDS = {
    "positionCommand": "joint_positions",
    "velocityCommand": "joint_velocities",
    "effortCommand": "joint_efforts",
}


SELECTION = (
    port("execIn", "execution"),
    port("targetPrim", "target"),
    port("robotPath", "string"),
    port("jointNames", "token[]"),
    port("jointIndices", "int[]"),
)
"""Inputs that select a robot and its joints."""


class ArticulationControllerNode(Node):
    """Applies position, velocity and effort commands to a robot.

    Empty commands are skipped; a NaN entry leaves its joint unchanged. If a command does not have one value per
    selected joint, nothing is written.
    """

    TYPE = "isaacsim.core.nodes.IsaacArticulationController"
    INPUTS = (
        *SELECTION,
        port("positionCommand", "double[]", command=True, nan=True),
        port("velocityCommand", "double[]", command=True, nan=True),
        port("effortCommand", "double[]", command=True, nan=True),
    )

    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Write the commands, or report why they cannot be written."""
        path = given["robotPath"] or given["targetPrim"]
        try:
            robot = context.robot(given["robotPath"], given["targetPrim"])
            joints = selected_joints(robot, given)
            selected = robot.num_dof if joints is None else len(joints)
            commands = {channel: given[name] for name, channel in COMMANDS.items() if len(given[name])}
            for name in COMMANDS:
                if len(given[name]) not in {0, selected}:
                    return failed(f"{path}: {name} has {len(given[name])} values, but {selected} joints are selected")
            if commands:
                everyone = np.arange(robot.num_dof)
                robot.apply_action(
                    ArticulationAction(**commands, joint_indices=everyone if joints is None else np.array(joints))
                )
        except HandloomError as error:
            return failed(f"{path}: {error}" if path else str(error))
        return done()


class ArticulationStateNode(Node):
    """Positions, velocities, efforts and joint wrenches of the selected joints."""

    TYPE = "isaacsim.core.nodes.IsaacArticulationState"
    INPUTS = (*SELECTION,)
    OUTPUTS = (
        port("jointNames", "token[]"),
        port("jointPositions", "double[]"),
        port("jointVelocities", "double[]"),
        port("measuredJointEfforts", "double[]"),
        port("measuredJointForces", "double[3][]"),
        port("measuredJointTorques", "double[3][]"),
    )

    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Read the robot."""
        robot = context.robot(given["robotPath"], given["targetPrim"])
        chosen = selected_joints(robot, given)
        joints = np.arange(robot.num_dof) if chosen is None else np.array(chosen)
        wrenches = robot.get_measured_joint_forces(joints)
        return done(
            jointNames=[robot.dof_names[joint] for joint in joints],
            jointPositions=robot.get_joint_positions(joints),
            jointVelocities=robot.get_joint_velocities(joints),
            measuredJointEfforts=robot.get_measured_joint_efforts(joints),
            measuredJointForces=wrenches[:, :3],
            measuredJointTorques=wrenches[:, 3:],
        )


class GripperControllerNode(Node):
    """Turns the pulses ``open``, ``close`` and ``stop`` into position commands, advanced by every ``execIn``.

    Without ``openPosition`` or ``closePosition`` the joint limits are used; without ``gripperSpeed`` the fingers move
    immediately. ``stop`` holds the fingers where they are.
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
        """Set a goal on open, close and stop; move towards it on execIn."""
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
