"""Rigid transforms: their check, and nodes that carry device poses from one frame into another."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.retarget.graph.execution import ComputeContext, RetargeterIO, RetargeterIOType
from handloom.retarget.graph.groups import OptionalType, TensorGroupType
from handloom.retarget.graph.retargeter import BaseRetargeter
from handloom.retarget.inputs import TransformMatrix
from handloom.spatial import quat_from_matrix


def checked_transform(matrix: ArrayLike, *, what: str, tolerance: float = 1e-4) -> Array:
    """Return a rigid transform (4, 4) as float64, or say what is wrong with it.

    Args:
        matrix: The transform.
        what: How the error calls it.
        tolerance: Largest deviation of any entry of the bottom row, of R'R from the identity, of det R from 1.

    Raises:
        InputError: It is not 4x4, not finite, or not rigid.
    """
    T = np.asarray(matrix, float)
    if T.shape != (4, 4):
        raise InputError(f"{what} must be a 4x4 matrix, got shape {T.shape}")
    if not np.all(np.isfinite(T)):
        raise InputError(f"{what} must be finite, got\n{T}")
    if np.max(np.abs(T[3] - (0.0, 0.0, 0.0, 1.0))) > tolerance:
        raise InputError(f"{what}: the bottom row must be [0, 0, 0, 1], got {T[3]}")
    R = T[:3, :3]
    if np.max(np.abs(R.T @ R - np.eye(3))) > tolerance:
        raise InputError(f"{what}: the rotation must be orthonormal, got\n{R}")
    if np.linalg.det(R) < 0.0:
        raise InputError(f"{what}: the rotation must be a proper rotation (determinant +1), this one mirrors")
    return T


def validate_transform_matrix(matrix: ArrayLike) -> None:
    """Refuse what is not a 4x4 matrix with the bottom row of a transform within 1e-6."""
    T = np.asarray(matrix, float)
    if T.shape != (4, 4):
        raise InputError(f"a transform must be a 4x4 matrix, got shape {T.shape}")
    if not np.max(np.abs(T[3] - (0.0, 0.0, 0.0, 1.0))) <= 1e-6:
        raise InputError(f"a transform's bottom row must be [0, 0, 0, 1], got {T[3]}")


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
