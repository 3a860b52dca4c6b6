"""Cuts pauses out of a demonstration: people look and think, and two thirds of what keys record is standing still."""

from dataclasses import replace

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.values import EpisodeRecord

STILL = 5e-4
"""Largest change of any coordinate in a frame that counts as standing still [m or rad]; 0.015 m/s at 30 frames/s."""
KEPT = 0.2
"""Length kept at either end of a pause [s], so that motions end and begin smoothly."""


def without_pauses(record: EpisodeRecord, model: mujoco.MjModel, longest: float) -> EpisodeRecord:
    """Return a record whose demonstration has no pause longer than some time [s].

    What is cut stays in the record: it was simulated, is archived and replays; the frames of the dataset leave it out.

    Args:
        record: What happened.
        model: The model of its scene.
        longest: Longest pause that is kept whole [s]; 0 cuts nothing.
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
    """Return for every frame whether something is commanded to move or moves (frames,)."""
    places = record.states[:, 1 : 1 + model.nq]  # Behind the time.
    told = np.zeros(record.frames)
    told[1:] = np.abs(np.diff(record.applied, axis=0)).max(axis=1)
    moved = np.abs(np.diff(places, axis=0)).max(axis=1)
    return (told > 1e-6) | (moved[: record.frames] > STILL)


def _runs(mask: Array) -> list[tuple[int, int]]:
    """Return the stretches, first and one past the last, in which a mask (n,) is true."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(int)))
    return [(int(start), int(stop)) for start, stop in edges.reshape(-1, 2)]
