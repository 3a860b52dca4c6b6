"""Keep the hand orientations whose axes point the right way in the arm base."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.skills.configs.parts import APPROACH_ANGLE, NEGATIVE, Approach, DirectionFilter, Filters

BASE_AXIS = {"forward": 0, "backward": 0, "leftward": 1, "rightward": 1, "upward": 2, "downward": 2}
"""Axis of the arm base that each direction is measured along."""


def direction_mask(T_base_tool: Array, filters: Filters, approach_axis: Array) -> NDArray[np.bool_]:
    """Return which poses (n, 4, 4) pass all direction filters of a config (n,).

    Args:
        T_base_tool: Poses of the tool in the arm base.
        filters: The filters.
        approach_axis: Unit vector (3,) in the tool frame along which the hand reaches.
    """
    keep = np.ones(len(T_base_tool), dtype=bool)
    if filters.approach is not None:
        keep &= _approaches(T_base_tool[:, :3, :3] @ approach_axis, filters.approach)
    for column, given in enumerate((filters.filter_x_dir, filters.filter_y_dir, filters.filter_z_dir)):
        if given is not None:
            keep &= _passes(T_base_tool[:, BASE_AXIS[given[0]], column], given)
    return keep


def _approaches(direction: Array, approach: Approach) -> NDArray[np.bool_]:
    """Return which directions (n, 3) of the hand in the arm base are those that ``approach`` allows."""
    word, angle = (approach, APPROACH_ANGLE[approach]) if isinstance(approach, str) else approach
    if word == "side":
        return np.abs(direction[:, 2]) <= np.sin(np.deg2rad(angle))
    component = {"down": -direction[:, 2], "front": direction[:, 0], "any": np.ones(len(direction))}[word]
    return component >= np.cos(np.deg2rad(angle))


def _passes(component: Array, given: DirectionFilter) -> NDArray[np.bool_]:
    """Compare the component of a hand axis along a base axis with the cosines of the filter's angles [deg]."""
    bounds: Sequence[float] = np.cos(np.deg2rad(np.asarray(given[1:], float))).tolist()
    if given[0] in NEGATIVE:
        return (component <= bounds[0]) & (component >= (bounds[1] if len(bounds) > 1 else -np.inf))
    return (component >= bounds[0]) & (component <= (bounds[1] if len(bounds) > 1 else np.inf))
