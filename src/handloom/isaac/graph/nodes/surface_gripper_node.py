"""Open and close a surface gripper."""

from collections.abc import Mapping
from typing import Any

from handloom.isaac.graph.node import GraphContext, Node, NodeResult, done, failed
from handloom.isaac.graph.port import port
from handloom.scene.surface_gripper import GripperStatus


class SurfaceGripperNode(Node):
    """Turns the pulses ``Close``, ``Open`` and ``Toggle`` into commands to a surface gripper of the graph.

    Two outputs are additions: the status of the gripper and the bodies it holds.
    """

    TYPE = "isaacsim.robot.surface_gripper.SurfaceGripper"
    INPUTS = (
        port("Close", "execution"),
        port("Open", "execution"),
        port("Toggle", "execution"),
        port("enabled", "bool", True),
        port("SurfaceGripper", "target"),
    )
    OUTPUTS = (port("status", "token"), port("grippedObjects", "token[]"))

    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Command the gripper."""
        if not given["enabled"]:
            return failed("not enabled")
        gripper = context.surface_gripper(given["SurfaceGripper"])
        if pulse == "Close" or (pulse == "Toggle" and gripper.status is GripperStatus.OPEN):
            gripper.close()
        else:
            gripper.open()
        return done(status=gripper.status.value, grippedObjects=gripper.gripped_objects)
