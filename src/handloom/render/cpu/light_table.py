"""Lights and surroundings, read from the model.

MJCF light colours are meant for a renderer that adds and displays them without tone mapping. The gains below turn them
into linear light so that a scene lit for MuJoCo's own renderer comes out equally bright.
"""

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.render.cpu.layout import (
    L_ATTENUATION,
    L_BLEND,
    L_CUTOFF,
    L_DIFFUSE,
    L_POS,
    L_RADIUS,
    L_SHADOW,
    L_SPECULAR,
    L_U,
    L_V,
    L_W,
    LIGHT_COLUMNS,
    W_AMBIENT,
    W_AO_FLOOR,
    W_AO_HIGH,
    W_AO_LOW,
    W_EXPOSURE,
    W_HORIZON,
    W_NADIR,
    W_ZENITH,
    WORLD_COLUMNS,
)

DIFFUSE_GAIN = 1.6
SPECULAR_GAIN = 1.6
AMBIENT_GAIN = 1.1
EXPOSURE = 0.85
# A bulb radius of 2 cm is what the compiler writes when the model says nothing; a lamp in a room is softer than that.
DEFAULT_BULB_RADIUS, SOFT_BULB_RADIUS = 0.02, 0.08
# A directional light is a lamp this many scene extents away, as wide as a lightly clouded sun (radius over distance).
SUN_DISTANCE, SUN_RADIUS = 30.0, 0.02
# Ambient light comes from a cool ceiling and a warm floor.
SKY_TINT = np.array([1.22, 1.28, 1.36])
GROUND_TINT = np.array([0.66, 0.60, 0.54])
# Heights of the two probes of ambient occlusion [m] and what light is left in the tightest corner.
AO_LOW, AO_HIGH, AO_FLOOR = 0.025, 0.10, 0.25


def active_lights(model: mujoco.MjModel) -> list[int]:
    """Return the ids of the lights that shine from somewhere."""
    return [
        k
        for k in range(model.nlight)
        if model.light_active[k] and model.light_type[k] != mujoco.mjtLightType.mjLIGHT_IMAGE
    ]


def _frame_of(w: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return axes u, v, w (3, 3) with the given w."""
    w = w / max(float(np.linalg.norm(w)), 1e-9)
    u = np.cross([0.0, 1.0, 0.0] if abs(w[1]) < 0.9 else [1.0, 0.0, 0.0], w)
    u /= np.linalg.norm(u)
    return np.stack([u, np.cross(w, u), w])


def write_lights(model: mujoco.MjModel, data: mujoco.MjData, table: NDArray[np.float32]) -> None:
    """Write the active lights where they are now; the last row is the headlight, moved by the camera."""
    center, extent = model.stat.center, float(model.stat.extent)
    for row, k in zip(table, active_lights(model), strict=False):
        position, direction = data.light_xpos[k], data.light_xdir[k]
        kind = model.light_type[k]
        row[L_RADIUS] = model.light_bulbradius[k]
        if np.float32(model.light_bulbradius[k]) == np.float32(DEFAULT_BULB_RADIUS):
            row[L_RADIUS] = SOFT_BULB_RADIUS
        row[L_CUTOFF], row[L_BLEND] = -2.0, 1.0
        towards = -direction
        if kind == mujoco.mjtLightType.mjLIGHT_DIRECTIONAL:
            distance = SUN_DISTANCE * extent
            position = center - direction * distance
            row[L_RADIUS] = SUN_RADIUS * distance
        elif kind == mujoco.mjtLightType.mjLIGHT_SPOT:
            edge = np.cos(np.deg2rad(min(float(model.light_cutoff[k]), 89.0)))
            # The cone fades over its outer third, as a real lamp does.
            full = np.cos(np.deg2rad(min(float(model.light_cutoff[k]), 89.0) * 0.67))
            row[L_CUTOFF], row[L_BLEND] = edge, 1.0 / max(full - edge, 1e-4)
        else:
            towards = position - center
        row[L_POS : L_POS + 3] = position
        row[[*range(L_U, L_U + 3), *range(L_V, L_V + 3), *range(L_W, L_W + 3)]] = _frame_of(towards).ravel()
        row[L_DIFFUSE : L_DIFFUSE + 3] = DIFFUSE_GAIN * model.light_diffuse[k]
        row[L_SPECULAR : L_SPECULAR + 3] = SPECULAR_GAIN * model.light_specular[k]
        row[L_ATTENUATION : L_ATTENUATION + 3] = model.light_attenuation[k]
        row[L_SHADOW] = model.light_castshadow[k]


def make_light_table(model: mujoco.MjModel) -> NDArray[np.float32]:
    """Return an empty light table with one row per active light and, when it is on, one for the headlight."""
    headlight = 1 if model.vis.headlight.active else 0
    table = np.zeros((len(active_lights(model)) + headlight, LIGHT_COLUMNS), np.float32)
    if headlight:
        row = table[-1]
        row[L_DIFFUSE : L_DIFFUSE + 3] = DIFFUSE_GAIN * np.asarray(model.vis.headlight.diffuse)
        row[L_SPECULAR : L_SPECULAR + 3] = SPECULAR_GAIN * np.asarray(model.vis.headlight.specular)
        row[L_ATTENUATION], row[L_CUTOFF], row[L_BLEND] = 1.0, -2.0, 1.0
    return table


def build_world(model: mujoco.MjModel) -> NDArray[np.float32]:
    """Return the surroundings: ambient light, sky, exposure, ambient occlusion."""
    world = np.zeros(WORLD_COLUMNS, np.float32)
    ambient = np.zeros(3)
    if model.vis.headlight.active:
        ambient += np.asarray(model.vis.headlight.ambient)
    for k in active_lights(model):
        ambient += model.light_ambient[k]
    ambient *= AMBIENT_GAIN
    above, below = ambient * SKY_TINT, ambient * GROUND_TINT
    world[W_AMBIENT : W_AMBIENT + 3] = (above + below) / 2
    world[W_AMBIENT + 9 : W_AMBIENT + 12] = (above - below) / 2
    world[W_ZENITH : W_ZENITH + 3] = (0.30, 0.42, 0.62)
    world[W_HORIZON : W_HORIZON + 3] = (0.78, 0.82, 0.86)
    world[W_NADIR : W_NADIR + 3] = (0.34, 0.33, 0.32)
    world[W_EXPOSURE] = EXPOSURE
    world[W_AO_LOW], world[W_AO_HIGH], world[W_AO_FLOOR] = AO_LOW, AO_HIGH, AO_FLOOR
    return world
