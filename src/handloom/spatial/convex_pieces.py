"""Convex pieces of a surface that is not convex."""

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import require

CLOSING = 30
"""Default number of grid cells along the longest side of a surface when it is closed."""


def convex_pieces(
    vertices: Array,
    faces: NDArray[np.integer],
    *,
    concavity: float,
    most: int,
    most_vertices: int,
    closing: int = CLOSING,
) -> list[Array]:
    """Return the corners (k, 3) of the pieces into which CoACD cuts a surface; takes a few seconds.

    Args:
        vertices: Corners of the surface (n, 3) [m].
        faces: Its triangles (m, 3).
        concavity: Largest distance of a piece from its hull, as a fraction of the size of the surface.
        most: Maximum number of pieces.
        most_vertices: Maximum number of corners of a piece.
        closing: Number of cells along the longest side of the grid on which an open surface is closed. The closed
            surface has about as many triangles as the surface passes through cells, and cutting it takes that much
            longer.

    Raises:
        MissingExtraError: The extra ``meshes`` is not installed.
    """
    coacd = require("coacd", extra="meshes")
    coacd.set_log_level("error")
    pieces = coacd.run_coacd(
        coacd.Mesh(vertices, faces.astype(np.int32)),
        threshold=concavity,
        max_convex_hull=most,
        preprocess_mode="auto",
        decimate=True,
        max_ch_vertex=most_vertices,
        seed=0,
        # A tenth of its default search, which took minutes and hardly moved the cuts.
        mcts_nodes=6,
        mcts_iterations=20,
        mcts_max_depth=2,
        preprocess_resolution=closing,
        resolution=300,
    )
    return [np.asarray(corners, float) for corners, _ in pieces]
