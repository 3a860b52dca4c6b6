"""Removal of pauses from a demonstration: two thirds of a keyboard recording is standstill."""

from dataclasses import replace

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.values import EpisodeRecord

STILL = 5e-4
"""Maximum change of a coordinate per frame that counts as standstill [m or rad]; 0.015 m/s at 30 frames/s."""
KEPT = 0.2
"""Time kept at either end of a pause [s], so that motions end and start smoothly."""


def without_pauses(record: EpisodeRecord, model: mujoco.MjModel, longest: float) -> EpisodeRecord:
    """Return a record whose demonstration has no pause longer than a given time.

    The cut frames stay in the record, which is archived and replays completely; only the dataset omits them.

    Args:
        record: The episode record.
        model: The model of its scene.
        longest: Longest pause that is kept completely [s]; 0 cuts nothing.
    """
    fps = record.instance.fps
    if longest <= 0.0 or record.frames < 2:
        return record
    edge = round(KEPT * fps)
    least = max(round(longest * fps), 2 * edge + 1)
    moves = _moves(record, model)
    cut = list(record.left_out)
    for start, stop in _runs(np.logical_not(moves)):
        if stop - start > least:
            cut.append((start + edge, stop - edge))
    taken = np.zeros(record.frames, bool)
    for start, stop in cut:
        taken[start:stop] = True
    return replace(record, left_out=tuple(_runs(taken)))


def _moves(record: EpisodeRecord, model: mujoco.MjModel) -> Array:
    """Return for every frame (frames,) whether anything moves or is commanded to move."""
    places = record.states[:, 1 : 1 + model.nq]  # After the time.
    told = np.zeros(record.frames)
    told[1:] = np.abs(np.diff(record.applied, axis=0)).max(axis=1)
    moved = np.abs(np.diff(places, axis=0)).max(axis=1)
    return (told > 1e-6) | (moved[: record.frames] > STILL)


def _runs(mask: Array) -> list[tuple[int, int]]:
    """Return the spans (first, one past the last) in which a mask (n,) is true."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(int)))
    return [(int(start), int(stop)) for start, stop in edges.reshape(-1, 2)]
