"""Looks in the geom table: their rows and poses."""

from collections.abc import Mapping, Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.render.looks import Look, Swept, Turned
from handloom.spatial import matrix_from_quat


def apply_looks(
    model: mujoco.MjModel, ids: NDArray[np.int32], looks: Sequence[Look]
) -> tuple[NDArray[np.int32], dict[int, Look]]:
    """Return the geoms that keep a row, and their looks; a look takes the row of the first geom that it hides.

    A look whose first geom is not rendered, or not in the model, is not rendered either.
    """
    drawn, hidden, shown = set(ids.tolist()), set[int](), dict[int, Look]()
    for look in looks:
        hides = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, name) for name in look.hides]
        if hides[0] in drawn:
            shown[hides[0]] = look
            hidden.update(hides[1:])
    return np.array([g for g in ids.tolist() if g not in hidden or g in shown], np.int32), shown


class PlacedLooks:
    """Moves the looks that have their own frame with their bodies."""

    def __init__(self, model: mujoco.MjModel, ids: NDArray[np.int32], looks: Mapping[int, Look]) -> None:
        own = [
            (row, looks[g])
            for row, g in enumerate(ids.tolist())
            if g in looks and isinstance(looks[g].shape, Turned | Swept)
        ]
        self._rows = np.array([row for row, _ in own], np.int32)
        self._bodies = np.array([model.geom_bodyid[ids[row]] for row, _ in own], np.int32)
        self._positions = np.array([look.position for _, look in own], float).reshape(-1, 3)
        self._rotations = np.array([matrix_from_quat(look.quat) for _, look in own], float).reshape(-1, 3, 3)

    def place(self, data: mujoco.MjData, positions: Array, rotations: Array) -> None:
        """Write positions (g, 3) [m] and rotations (g, 9) of these rows."""
        if not len(self._rows):
            return
        turn = data.xmat[self._bodies].reshape(-1, 3, 3)
        positions[self._rows] = data.xpos[self._bodies] + np.einsum("nij,nj->ni", turn, self._positions)
        rotations[self._rows] = np.einsum("nij,njk->nik", turn, self._rotations).reshape(-1, 9)
