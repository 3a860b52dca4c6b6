"""Nodes whose state can be read and set under private published names, as in the published tests."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.retarget import (
    GripperRetargeter,
    LocomotionRootCmdRetargeter,
    Se3AbsRetargeter,
    Se3RelRetargeter,
    SO101PoseClutchRetargeter,
)
from handloom.retarget.nodes.gripper import CLOSED, OPEN


class WatchedGripperRetargeter(GripperRetargeter):
    """The gripper; ``_previous_gripper_command`` is True when closed."""

    @property
    def _previous_gripper_command(self) -> bool:
        return self._command == CLOSED

    @_previous_gripper_command.setter
    def _previous_gripper_command(self, closed: bool) -> None:
        self._command = CLOSED if closed else OPEN


class WatchedLocomotionRootCmdRetargeter(LocomotionRootCmdRetargeter):
    """The base; its increments are added to ``_hip_height`` [m]."""

    @property
    def _hip_height(self) -> float:
        return self._hip

    @_hip_height.setter
    def _hip_height(self, height: float) -> None:
        self._hip = height


class WatchedSe3AbsRetargeter(Se3AbsRetargeter):
    """The absolute pose; ``_last_pose`` (7,) is the held pose: position [m], quaternion xyzw."""

    @property
    def _last_pose(self) -> NDArray[np.float32]:
        w, x, y, z = self._quat
        return np.array((*self._position, x, y, z, w), np.float32)

    @_last_pose.setter
    def _last_pose(self, pose: Any) -> None:
        px, py, pz, x, y, z, w = np.asarray(pose, float).tolist()
        self._position, self._quat = (px, py, pz), (w, x, y, z)


class WatchedSe3RelRetargeter(Se3RelRetargeter):
    """The relative pose, with its baseline and running means."""

    @property
    def _first_frame(self) -> bool:
        return self._last is None

    @_first_frame.setter
    def _first_frame(self, first: bool) -> None:
        self._last = None if first else self._last or ((0.0, 0.0, 0.0), [(1.0, 0.0, 0.0, 0.0)])

    @property
    def _smoothed_delta_pos(self) -> Array:
        return np.array(self._shift)

    @_smoothed_delta_pos.setter
    def _smoothed_delta_pos(self, delta: Any) -> None:
        x, y, z = np.asarray(delta, float).tolist()
        self._shift = x, y, z

    @property
    def _smoothed_delta_rot(self) -> Array:
        return np.array(self._turn)

    @_smoothed_delta_rot.setter
    def _smoothed_delta_rot(self, delta: Any) -> None:
        x, y, z = np.asarray(delta, float).tolist()
        self._turn = x, y, z

    @property
    def _previous_thumb_tip(self) -> Any:
        return self._tip(0)

    @property
    def _previous_index_tip(self) -> Any:
        return self._tip(1)

    def _tip(self, finger: int) -> Array | None:
        return np.array(self._last[1][finger]) if self._last is not None and len(self._last[1]) > 1 else None


class WatchedPoseClutchRetargeter(SO101PoseClutchRetargeter):
    """The clutch, with its last command."""

    @property
    def _last_commanded_pos(self) -> Array:
        return np.array(self._position)

    @property
    def _last_commanded_rot(self) -> Array:
        w, x, y, z = self._quat
        return np.array((x, y, z, w))
