"""Rigid transforms: validation, and nodes that transform device poses between frames."""

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.retarget.graph.execution import ComputeContext, RetargeterIO, RetargeterIOType
from handloom.retarget.graph.groups import OptionalType, TensorGroupType
from handloom.retarget.graph.retargeter import BaseRetargeter
from handloom.retarget.inputs import ControllerInput, HandInput, HeadInput, TransformMatrix
from handloom.spatial import quat_from_matrix


def checked_transform(matrix: ArrayLike, *, what: str, tolerance: float = 1e-4) -> Array:
    """Return a rigid transform (4, 4) as float64, or raise an error.

    Args:
        matrix: The transform.
        what: Name used in the error message.
        tolerance: Largest deviation of any entry of the bottom row, of R'R from the identity, of det R from 1.

    Raises:
        InputError: The matrix is not 4x4, not finite, or not rigid.
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
        raise InputError(f"{what}: the rotation must be a proper rotation (determinant +1), not a reflection")
    return T


def validate_transform_matrix(matrix: ArrayLike) -> Array:
    """Return a 4x4 matrix, whose bottom row is that of a transform within 1e-6, as float64, or reject it."""
    T = np.asarray(matrix, dtype=np.float64)
    if T.shape != (4, 4):
        raise InputError(f"Transform matrix must be (4, 4), got {T.shape}")
    if not np.max(np.abs(T[3] - (0.0, 0.0, 0.0, 1.0))) <= 1e-6:
        raise InputError(f"Bottom row of transform matrix must be [0, 0, 0, 1], got {T[3]}")
    return T


def decompose_transform(matrix: ArrayLike) -> tuple[Array, Array]:
    """Return copies of the rotation (3, 3) and the translation (3,) of a transform."""
    T = validate_transform_matrix(matrix)
    return T[:3, :3].copy(), T[:3, 3].copy()


def transform_position(position: Array, rotation_3x3: Array, translation: Array) -> None:
    """Replace a position (3,) with R p + t, in place."""
    transform_positions_batch(position, rotation_3x3, translation)


def transform_positions_batch(positions: Array, rotation_3x3: Array, translation: Array) -> None:
    """Replace positions (n, 3) with R p + t, in place."""
    positions[...] = positions @ np.asarray(rotation_3x3).T + translation


def transform_orientation(orientation_xyzw: Array, rotation_3x3: Array) -> None:
    """Replace a quaternion xyzw (4,) with quat(R) q, in place."""
    transform_orientations_batch(orientation_xyzw, rotation_3x3)


def transform_orientations_batch(orientations_xyzw: Array, rotation_3x3: Array) -> None:
    """Replace quaternions xyzw (n, 4) with quat(R) q, in place."""
    orientations_xyzw[...] = orientations_xyzw @ _left_multiplication(rotation_3x3).T


def _left_multiplication(rotation: ArrayLike) -> Array:
    """Return the matrix (4, 4) that multiplies a quaternion, a column xyzw, by a rotation from the left."""
    w, x, y, z = quat_from_matrix(np.asarray(rotation, float))
    return np.array([[w, -z, y, x], [z, w, -x, y], [-y, x, w, z], [-x, -y, -z, w]])


class PoseTransform(BaseRetargeter):
    """Maps p to R p + t and q to quat(R) q in every pose of every device; the rest is passed on.

    Absent devices stay absent; input arrays are neither written to nor passed on. The matrix must be rigid.

    Args:
        name: Name of the node.
    """

    TRANSFORM = "transform"
    # The transform of the last frame is cached only for speed; the outputs depend on the current frame only.
    stateful = False
    devices: ClassVar[tuple[str, ...]]
    """Names of the ports, both inputs and outputs."""
    group_type: ClassVar[TensorGroupType]
    """Type of each port."""
    pose_slots: ClassVar[tuple[tuple[int, int], ...]]
    """Indices of (position, orientation) in the group."""

    def __init__(self, name: str) -> None:
        self._seen = b""
        self._turn, self._shift, self._quat_matrix = np.eye(3), np.zeros(3), np.eye(4)
        super().__init__(name)

    def input_spec(self) -> RetargeterIOType:
        """Return the transform and one optional port per device."""
        return {**self.output_spec(), self.TRANSFORM: TransformMatrix()}

    def output_spec(self) -> RetargeterIOType:
        """Return one optional port per device."""
        return {device: OptionalType(self.group_type) for device in self.devices}

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        self._learn(inputs[self.TRANSFORM][0])
        for device in self.devices:
            given, moved = inputs[device], outputs[device]
            if given.is_none:
                continue
            values = [given[index] for index in range(len(given))]
            # Faulty trackers send NaN and infinity; they pass through for the downstream nodes to handle.
            with np.errstate(invalid="ignore", over="ignore"):
                for position, orientation in self.pose_slots:
                    values[position] = (values[position] @ self._turn.T + self._shift).astype(np.float32)
                    values[orientation] = (values[orientation] @ self._quat_matrix.T).astype(np.float32)
            for index, value in enumerate(values):
                moved[index] = value.copy() if value is given[index] and isinstance(value, np.ndarray) else value

    def _learn(self, matrix: NDArray[np.float32]) -> None:
        """Split the matrix, unless it is the same as in the last frame; anchors rarely move."""
        seen = matrix.tobytes()
        if seen == self._seen:
            return
        # An anchor in float32 is orthonormal to about 1e-7; 1e-3 still allows a rotation typed by hand.
        T = checked_transform(matrix, what=f"the transform of {self.name!r}", tolerance=1e-3)
        self._turn, self._shift, self._seen = T[:3, :3].copy(), T[:3, 3].copy(), seen
        self._quat_matrix = _left_multiplication(T[:3, :3])


class ControllerTransform(PoseTransform):
    """Transforms the grip and aim poses of both controllers."""

    LEFT, RIGHT = "controller_left", "controller_right"
    devices = (LEFT, RIGHT)
    group_type = ControllerInput()
    pose_slots = ((0, 1), (3, 4))


class HandTransform(PoseTransform):
    """Transforms all joints of both hands."""

    LEFT, RIGHT = "hand_left", "hand_right"
    devices = (LEFT, RIGHT)
    group_type = HandInput()
    pose_slots = ((0, 1),)


class HeadTransform(PoseTransform):
    """Transforms the pose of the head."""

    HEAD = "head"
    devices = (HEAD,)
    group_type = HeadInput()
    pose_slots = ((0, 1),)
