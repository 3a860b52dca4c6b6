"""Nodes that carry device poses from one frame into another."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from handloom.retarget.graph.base_retargeter import BaseRetargeter
from handloom.retarget.graph.compute_context import ComputeContext
from handloom.retarget.graph.execution_cache import RetargeterIO
from handloom.retarget.graph.graph_executable import RetargeterIOType
from handloom.retarget.graph.tensor_group_type import OptionalType, TensorGroupType
from handloom.retarget.inputs.robot_values import TransformMatrix
from handloom.retarget.transforms import checked_transform
from handloom.spatial import quat_from_matrix


class PoseTransform(BaseRetargeter):
    """Maps p to R p + t and q to quat(R) q in every pose of every device; the rest is passed on.

    Absent devices stay absent; input arrays are never written to. The matrix must be rigid.

    Args:
        name: Name of the node.
        devices: Names of the ports, in and out.
        group_type: Type of each port.
    """

    TRANSFORM = "transform"
    # The transform of the last frame is remembered for speed only; the outputs depend on this frame alone.
    stateful = False
    pose_slots: tuple[tuple[int, int], ...] = ()
    """Indices of (position, orientation) in the group."""

    def __init__(self, name: str, devices: Sequence[str], group_type: TensorGroupType) -> None:
        self._devices = tuple(devices)
        self._group_type = group_type
        self._seen = b""
        self._turn, self._shift, self._quat_matrix = np.eye(3), np.zeros(3), np.eye(4)
        super().__init__(name)

    def input_spec(self) -> RetargeterIOType:
        """Return the transform and one optional port per device."""
        return {**self.output_spec(), self.TRANSFORM: TransformMatrix()}

    def output_spec(self) -> RetargeterIOType:
        """Return one optional port per device."""
        return {device: OptionalType(self._group_type) for device in self._devices}

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        self._learn(inputs[self.TRANSFORM][0])
        for device in self._devices:
            given, moved = inputs[device], outputs[device]
            if given.is_none:
                continue
            values = [given[index] for index in range(len(given))]
            # Broken trackers send NaN and infinity; they pass through for the nodes downstream to judge.
            with np.errstate(invalid="ignore", over="ignore"):
                for position, orientation in self.pose_slots:
                    values[position] = (values[position] @ self._turn.T + self._shift).astype(np.float32)
                    values[orientation] = (values[orientation] @ self._quat_matrix.T).astype(np.float32)
            for index, value in enumerate(values):
                moved[index] = value

    def _learn(self, matrix: NDArray[np.float32]) -> None:
        """Take the matrix apart, unless it is the one of the last frame; anchors rarely move."""
        seen = matrix.tobytes()
        if seen == self._seen:
            return
        # An anchor in float32 is orthonormal to about 1e-7; 1e-3 still allows a rotation typed by hand.
        T = checked_transform(matrix, what=f"the transform of {self.name!r}", tolerance=1e-3)
        w, x, y, z = quat_from_matrix(T[:3, :3])
        self._turn, self._shift, self._seen = T[:3, :3].copy(), T[:3, 3].copy(), seen
        # Left multiplication by the quaternion as a matrix on xyzw columns, one product per pose.
        self._quat_matrix = np.array([[w, -z, y, x], [z, w, -x, y], [-y, x, w, z], [-x, -y, -z, w]])


class ControllerTransform(PoseTransform):
    """Carries grip and aim poses of controllers."""

    pose_slots = ((0, 1), (3, 4))


class HandTransform(PoseTransform):
    """Carries all joints of hands."""

    pose_slots = ((0, 1),)


class HeadTransform(PoseTransform):
    """Carries the pose of the head."""

    pose_slots = ((0, 1),)
