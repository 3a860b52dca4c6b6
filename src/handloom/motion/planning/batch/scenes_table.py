"""The scenes of many problems as arrays, which all processes view in shared memory."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.motion.collision import CollisionRobot, Obstacle
from handloom.motion.collision.collision_arrays import WorldArrays
from handloom.motion.planning.batch.exact_slots import PlacedSolids, SlotKind


class ScenesTable(NamedTuple):
    """The scenes of many problems, one after the other, in memory shared by all processes."""

    begin: NDArray[np.int64]
    """First obstacle of each problem (p + 1,)."""
    slot: NDArray[np.int64]
    """Index of the slot type that each obstacle needs; -1 for an ignored obstacle."""
    position: Array
    """Position of each obstacle (b, 3) [m]."""
    quat: Array
    """Its orientation (b, 4)."""
    size: Array
    """Three lengths of each obstacle (b, 3) [m]."""
    half: Array
    """Half sides of its bounding box (b, 3) [m]."""
    reach: Array
    """Radius of its bounding sphere (b,) [m]."""
    kind: NDArray[np.int32]
    row: NDArray[np.float32]
    face: NDArray[np.float32]
    height: NDArray[np.float32]
    face_begin: NDArray[np.int64]
    """First plane of each problem (p + 1,)."""
    height_begin: NDArray[np.int64]
    """First height of each problem (p + 1,)."""
    checked: NDArray[np.int8]
    """Flattened tables of groups against obstacles, one after the other."""
    checked_begin: NDArray[np.int64]
    """Start of each of these tables (p + 1,)."""

    def world(self, p: int) -> WorldArrays:
        """Return the obstacles of a problem for the spheres."""
        a, b = self.begin[p], self.begin[p + 1]
        checked = self.checked[self.checked_begin[p] : self.checked_begin[p + 1]]
        return WorldArrays(
            self.kind[a:b],
            self.row[a:b],
            self.face[self.face_begin[p] : self.face_begin[p + 1]],
            self.height[self.height_begin[p] : self.height_begin[p + 1]],
            checked.reshape(-1, b - a) if b > a else checked.reshape(0, 0),
        )

    def placed(self, p: int) -> tuple[NDArray[np.int64], PlacedSolids]:
        """Return the slot types that a problem's obstacles need, and the placements of the obstacles."""
        a, b = self.begin[p], self.begin[p + 1]
        slot = self.slot[a:b]
        shown = slot >= 0
        rows = slice(a, b) if shown.all() else a + np.flatnonzero(shown)
        place = PlacedSolids(self.position[rows], self.quat[rows], self.size[rows], self.half[rows], self.reach[rows])
        return slot[shown], place


class RobotToJudge(NamedTuple):
    """A robot as sent to the processes."""

    robot: CollisionRobot
    kinds: tuple[SlotKind, ...]
    """Slot types by index; later versions of the same robot have more."""
    models: Mapping[SlotKind, Obstacle]
    """An example obstacle of each slot type."""
