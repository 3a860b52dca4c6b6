"""Data uploaded to the GPU: constant tables of a model, and moments with the cameras that see them.

Both are plain arrays, so that a worker without a GPU can make them and a rendering process can use them.
"""

import hashlib
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

TABLES = ("geoms", "hulls", "nodes", "grids", "triangles", "corners", "textures", "texels", "world", "ids")
"""Fields of ``DrawnModel`` that are uploaded, in the order of the kernels' ``Model``."""
BEAD_BOX = 6
"""Number of values after the poses: centre and half extents of the box around all beads [m]."""


class DrawnModel(NamedTuple):
    """Shapes, materials, textures and surroundings of a model, as in the tables of the CPU version."""

    geoms: NDArray[np.float32]
    hulls: NDArray[np.float32]
    nodes: NDArray[np.int32]
    grids: NDArray[np.float32]
    triangles: NDArray[np.float32]
    corners: NDArray[np.float32]
    textures: NDArray[np.int32]
    texels: NDArray[np.int32]
    world: NDArray[np.float32]
    ids: NDArray[np.int32]
    """-1, then the geom id of each row, and of each bead if the last row is beads (1 + g,)."""
    mirrors: NDArray[np.int32]
    """Geom rows of the mirrors (m,)."""
    lights: int
    """Number of lights; the last one is the headlight if there is one."""
    headlight: bool
    beads: int
    digest: str = ""
    """A content hash: models that look the same share their tables on the GPU."""


def named(model: DrawnModel) -> DrawnModel:
    """Return the model with its digest."""
    content = hashlib.blake2b(digest_size=16)
    for name in (*TABLES, "mirrors"):
        part = getattr(model, name)
        content.update(str(part.shape).encode() + part.tobytes())
    content.update(repr((model.lights, model.headlight, model.beads)).encode())
    return model._replace(digest=content.hexdigest())


class Moments(NamedTuple):
    """Moments of one model, each seen by the same cameras."""

    model: DrawnModel
    poses: NDArray[np.float32]
    """(f, g * POSE + BEAD_BOX): rotation and position of each geom, then the box around the beads."""
    lights: NDArray[np.float32]
    """(f, l, LIGHT_COLUMNS)."""
    beads: NDArray[np.float32]
    """Centres (f, b, 3) [m]."""
    rows: NDArray[np.float32]
    """Camera rows (f, c, 1 + m, VIEW_COLUMNS): the camera's own, then its reflections behind the mirrors."""
    bodies: NDArray[np.float32]
    """Body that rigidly carries each camera (c,)."""
    sizes: NDArray[np.int32]
    """Width and height of each camera's images (c, 2) [px]."""

    def part(self, start: int, stop: int) -> "Moments":
        """Return some of the moments."""
        cut = slice(start, stop)
        return self._replace(poses=self.poses[cut], lights=self.lights[cut], beads=self.beads[cut], rows=self.rows[cut])
