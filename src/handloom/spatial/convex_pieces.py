"""Convex pieces of a surface that is not convex."""

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import require

CLOSING = 30
"""Cells along the longest side of a surface on which it is closed, by default."""


def convex_pieces(
    vertices: Array,
    faces: NDArray[np.integer],
    *,
    concavity: float,
    most: int,
    most_vertices: int,
    closing: int = CLOSING,
) -> list[Array]:
    """Return the corners (k, 3) of the pieces that CoACD cuts a surface into; a few seconds of work.

    Args:
        vertices: Corners of the surface (n, 3) [m].
        faces: Its triangles (m, 3).
        concavity: How far a piece may be from its hull, as a fraction of the size of the whole.
        most: Pieces at most.
        most_vertices: Corners of a piece at most.
        closing: Cells along its longest side of the grid on which a surface that is not closed is made closed. What is
            cut then has about as many triangles as cells that the surface passes through, and takes as long.

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
