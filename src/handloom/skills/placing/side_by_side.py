"""Spots for several objects next to each other: far enough apart, inside their room, near the arms that bring them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array

WIDE = 0.06
"""Gap between two objects beyond which more room makes no difference: an open finger fits in [m]."""
LEAST = 0.005
"""Minimum gap between two objects [m]."""
STARTS = 24
"""Random starts of the search."""
SWEEPS = 8
"""Maximum number of times that every object moves to its best spot."""
OVERLAPPING = 20.0
"""Cost of an overlap that is as large as ``WIDE``; no other gain makes up for it."""
MARGIN_WORTH = 0.6
"""Worth of a full margin to the edge; that of full gaps is 1."""
TO_MIDDLE = 0.4
"""Cost per metre from the middle of the room."""
TO_ARM = (0.4, 0.7)
"""Cost per metre from the arm, for the first object and for the last: earlier objects stand farther away, so that no
hand reaches over them."""
MOST = 4
"""Maximum number of layouts returned."""
SAME = 0.02
"""Two layouts with their first objects closer together than this count as the same [m]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Piece:
    """An object that needs a spot."""

    spots: Array
    """Possible places of its middle (k, 2) [m], at least one."""
    halves: Array
    """Half of its extent along both axes at each of them (k, 2) [m]."""
    radius: float
    """Radius of the circle about its middle that contains it [m]."""
    margins: Array
    """For each of them, the margin to the edge, 0 (none) to 1 (as much as is useful) (k,)."""
    arm: Array
    """Position of the arm that brings it (2,) [m]."""


def side_by_side(pieces: list[Piece], taken: Array, radii: Array, rng: np.random.Generator) -> list[NDArray[np.intp]]:
    """Return layouts (n,) of the pieces, the index of each one's spot, that differ in the first piece; best first.

    Every piece in turn moves to its best spot, given all others, until none moves, from several random starts. Empty if
    no layout was found in which all pieces are ``LEAST`` apart from each other and from what is there.

    Args:
        pieces: The objects, in the order in which they are put down.
        taken: Boxes of what is there already (m, 2, 2) [m], low and high.
        radii: Radii of the circles about their middles that contain what is there (m,) [m].
        rng: Random generator of the starts.
    """
    fixed = taken.mean(axis=1), 0.5 * (taken[:, 1] - taken[:, 0]), radii
    own_radii = np.array([piece.radius for piece in pieces])
    every = np.concatenate([piece.spots for piece in pieces])
    middle = 0.5 * (every.min(axis=0) + every.max(axis=0))
    weights = np.linspace(*TO_ARM, len(pieces))
    own = [
        MARGIN_WORTH * piece.margins
        - TO_MIDDLE * np.linalg.norm(piece.spots - middle, axis=1)
        - weight * np.linalg.norm(piece.spots - piece.arm, axis=1)
        for piece, weight in zip(pieces, weights, strict=True)
    ]
    near = [_gaps(piece.spots, piece.halves, piece.radius, *fixed) for piece in pieces]
    found: list[tuple[float, NDArray[np.intp]]] = []
    for _ in range(STARTS):
        chosen = np.array([rng.integers(len(piece.spots)) for piece in pieces])
        for _ in range(SWEEPS):
            before = chosen.copy()
            for i, piece in enumerate(pieces):
                others = [k for k in range(len(pieces)) if k != i]
                at = np.array([pieces[k].spots[chosen[k]] for k in others]).reshape(-1, 2)
                halves = np.array([pieces[k].halves[chosen[k]] for k in others]).reshape(-1, 2)
                gaps = np.column_stack(
                    [_gaps(piece.spots, piece.halves, piece.radius, at, halves, own_radii[others]), near[i]]
                )
                chosen[i] = int(np.argmax(own[i] + _worth(gaps)))
            if np.array_equal(chosen, before):
                break
        at = np.array([piece.spots[k] for piece, k in zip(pieces, chosen, strict=True)])
        halves = np.array([piece.halves[k] for piece, k in zip(pieces, chosen, strict=True)])
        between = _gaps(at, halves, own_radii, at, halves, own_radii)
        np.fill_diagonal(between, np.inf)
        gaps = np.column_stack([between, _gaps(at, halves, own_radii, *fixed)])
        if gaps.min(initial=np.inf) >= LEAST:
            value = sum(float(own[i][k]) for i, k in enumerate(chosen)) + float(_worth(gaps).sum())
            found.append((value, chosen))
    layouts: list[NDArray[np.intp]] = []
    first = pieces[0].spots
    for _, chosen in sorted(found, key=lambda one: -one[0]):
        if all(np.linalg.norm(first[chosen[0]] - first[other[0]]) > SAME for other in layouts):
            layouts.append(chosen)
    return layouts[:MOST]


def _gaps(
    at: Array, halves: Array, radius: float | Array, others: Array, their_halves: Array, their_radii: Array
) -> Array:
    """Return the gaps (k, m) between objects at middles (k, 2) and others (m, 2) [m]; negative where they overlap.

    Objects are apart as soon as their boxes are, or the circles around them.
    """
    if not len(others):
        return np.empty((len(at), 0))
    away = at[:, None] - others[None]
    boxes = (np.abs(away) - halves[:, None] - their_halves[None]).max(axis=-1)
    circles = np.linalg.norm(away, axis=-1) - np.broadcast_to(radius, len(at))[:, None] - their_radii[None]
    return np.maximum(boxes, circles)


def _worth(gaps: Array) -> Array:
    """Return the worth (k,) of the smallest of some gaps (k, m): rises to 1 at ``WIDE``, more slowly near the end."""
    least = gaps.min(axis=1, initial=WIDE) / WIDE
    return 1.0 - (1.0 - np.clip(least, 0.0, 1.0)) ** 2 - OVERLAPPING * _cost(gaps)


def _cost(gaps: Array) -> Array:
    """Return by how much boxes come closer than ``LEAST`` to the others (k,), in units of ``WIDE``."""
    return np.maximum(LEAST - gaps, 0.0).sum(axis=1) / WIDE
