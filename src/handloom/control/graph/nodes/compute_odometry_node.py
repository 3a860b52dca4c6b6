"""Where a base has got to since play, and how it moves."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from handloom.arrays import Array
from handloom.control.graph.graph_context import GraphContext
from handloom.control.graph.node import Node, NodeResult, done, failed
from handloom.control.graph.port import port
from handloom.spatial import pos_quat_from_pose, quat_xyzw_from_wxyz, relative_pose


class ComputeOdometryNode(Node):
    """Pose relative to the first compute, velocities and accelerations in the frame of the base and in world.

    This is the true pose, as published; dead reckoning from wheels is ``PlanarOdometry``. Accelerations are
    differences between computes, zero at the first.
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
        """Take the next pose as the start."""
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
