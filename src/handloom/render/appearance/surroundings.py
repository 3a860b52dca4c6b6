"""Surroundings in a model: ambient light and reflections, in addition to the skybox that cameras see.

They are stored as a custom numeric array, since MJCF has no element for them.
"""

import math
from typing import Final

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.values.instance import LitSurroundings, Pane

NUMERIC: Final = "surroundings"
"""Name of the custom array."""
_HEAD, _PANE = 6, 9
"""Number of values before the panes, and per pane."""


def pane(
    azimuth: float,
    elevation: float,
    size: tuple[float, float],
    light: tuple[float, float, float],
    *,
    bars: float = 0.0,
) -> Pane:
    """Return a pane given its azimuth from +x and elevation [deg], half sizes as tangents, and light."""
    a, e = math.radians(azimuth), math.radians(elevation)
    x, y, z = math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e)
    return Pane(direction=(x, y, z), half_width=size[0], half_height=size[1], light=light, bars=bars)


ROOM: Final = LitSurroundings(
    panes=(
        pane(-128.0, 42.0, (0.40, 0.50), (9.0, 9.6, 10.4), bars=0.07),
        pane(20.0, 74.0, (0.50, 0.14), (9.4, 9.0, 8.3)),
        pane(35.0, 32.0, (0.20, 0.50), (6.0, 6.3, 6.8)),
    )
)
"""A room by day, the default for models: a window at the front left, a slim one behind, a lamp overhead."""


def add_surroundings(spec: mujoco.MjSpec, surroundings: LitSurroundings) -> None:
    """Write surroundings into a model under construction."""
    rows = [(*p.direction, p.half_width, p.half_height, *p.light, p.bars) for p in surroundings.panes]
    numbers = [*surroundings.above, *surroundings.below, *(value for row in rows for value in row)]
    spec.add_numeric(name=NUMERIC, size=len(numbers), data=numbers)


def surroundings_of(model: mujoco.MjModel) -> LitSurroundings:
    """Return the surroundings of a model; by default a room by day."""
    index = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_NUMERIC, NUMERIC)
    if index < 0:
        return ROOM
    start, size = int(model.numeric_adr[index]), int(model.numeric_size[index])
    numbers = model.numeric_data[start : start + size]
    head = [tuple(numbers[k : k + 3].tolist()) for k in (0, 3)]
    rows = numbers[_HEAD : _HEAD + (size - _HEAD) // _PANE * _PANE].reshape(-1, _PANE).tolist()
    panes = tuple(
        Pane(direction=(r[0], r[1], r[2]), half_width=r[3], half_height=r[4], light=(r[5], r[6], r[7]), bars=r[8])
        for r in rows
    )
    return LitSurroundings(above=head[0], below=head[1], panes=panes)


def axes_of_pane(given: Pane) -> tuple[Array, Array, Array]:
    """Return unit vectors to the right, up, and towards a pane."""
    towards = np.array(given.direction) / np.linalg.norm(given.direction)
    right = np.cross(towards, [0.0, 0.0, 1.0])
    if np.linalg.norm(right) < 1e-6:
        right = np.array([1.0, 0.0, 0.0])
    right /= np.linalg.norm(right)
    return right, np.cross(right, towards), towards
