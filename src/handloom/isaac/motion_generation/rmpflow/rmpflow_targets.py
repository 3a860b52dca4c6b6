"""Frames with RMPflow targets: the end effector and any number of added frames, such as a second hand."""

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.errors import InputError, unknown_name
from handloom.isaac.motion_generation.descriptions.motion_robot import MotionRobot
from handloom.spatial import matrix_from_quat


class RmpFlowTargets:
    """Target frames of a policy, under the names that cuMotion published."""

    robot: MotionRobot
    end_effector_frame: str
    _targets: dict[str, tuple[Array | None, Array | None]]
    """Target frame > target position (3,) [m] and rotation (3, 3) in the world; None if it is free."""

    def add_target_frame(self, frame_name: str) -> None:
        """Allow a target for another frame, such as the second hand; it has none until one is set.

        The drag and the inertia of the frame take effect at once.

        Raises:
            NotFoundError: The robot has no such frame.
            InputError: The frame is already a target frame.
        """
        if frame_name not in self.robot.frame_names:
            raise unknown_name("frame", frame_name, self.robot.frame_names)
        if frame_name in self._targets:
            raise InputError(f"{frame_name!r} is already a target frame")
        self._targets[frame_name] = (None, None)

    def remove_target_frame(self, frame_name: str) -> None:
        """Remove a target frame; the end effector cannot be removed."""
        if frame_name == self.end_effector_frame:
            raise InputError(f"{frame_name!r} is the end effector; clear its target with set_end_effector_target()")
        self._target(frame_name)
        del self._targets[frame_name]

    def target_frame_names(self) -> list[str]:
        """Return the frames that can have a target, the end effector first."""
        return list(self._targets)

    get_target_frame_names = target_frame_names

    def num_target_frames(self) -> int:
        """Return the number of frames that can have a target."""
        return len(self._targets)

    def set_pose_target(
        self, frame_name: str, target_position: ArrayLike | None = None, target_orientation: ArrayLike | None = None
    ) -> None:
        """Pull a frame to a position (3,) [m] and a quaternion wxyz (4,) in the world; None releases it.

        Raises:
            NotFoundError: The frame is not a target frame; see ``add_target_frame``.
        """
        self._target(frame_name)
        R = None if target_orientation is None else _rotation(target_orientation)
        position = None if target_position is None else finite_vector("target_position", target_position, 3)
        self._targets[frame_name] = (position, R)

    def clear_pose_target(self, frame_name: str) -> None:
        """Remove the target of a frame."""
        self.set_pose_target(frame_name)

    def set_position_target(self, frame_name: str, target_position: ArrayLike) -> None:
        """Pull a frame to a position (3,) [m] in the world; its orientation target stays."""
        _, R = self._target(frame_name)
        self._targets[frame_name] = (finite_vector("target_position", target_position, 3), R)

    def clear_position_target(self, frame_name: str) -> None:
        """Remove the position target of a frame."""
        self._targets[frame_name] = (None, self._target(frame_name)[1])

    def set_orientation_target(self, frame_name: str, target_orientation: ArrayLike) -> None:
        """Pull a frame to a quaternion wxyz (4,) in the world; its position target stays."""
        position, _ = self._target(frame_name)
        self._targets[frame_name] = (position, _rotation(target_orientation))

    def clear_orientation_target(self, frame_name: str) -> None:
        """Remove the orientation target of a frame."""
        self._targets[frame_name] = (self._target(frame_name)[0], None)

    def _target(self, frame_name: str) -> tuple[Array | None, Array | None]:
        if frame_name not in self._targets:
            raise unknown_name("target frame", frame_name, self._targets)
        return self._targets[frame_name]


def _rotation(orientation: ArrayLike) -> Array:
    quat = finite_vector("target_orientation", orientation, 4)
    if not np.linalg.norm(quat) > 1e-9:
        raise InputError("target_orientation has length zero")
    return matrix_from_quat(quat / np.linalg.norm(quat))


def finite_vector(name: str, values: ArrayLike, size: int) -> Array:
    """Return numbers as a vector of a given size.

    Raises:
        InputError: The size is wrong, or a number is not finite.
    """
    vector = np.array(values, float)
    if vector.shape != (size,) or not np.all(np.isfinite(vector)):
        raise InputError(f"{name} must have {size} finite values, got {values!r}")
    return vector
