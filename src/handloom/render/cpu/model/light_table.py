"""Lights and surroundings, read from the model.

MJCF light colours are meant for a renderer that adds and displays them without tone mapping. The gains below convert
them to linear light so that a scene lit for MuJoCo's own renderer is equally bright.
"""

import math

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.render.appearance.surroundings import axes_of_pane, surroundings_of
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
    LIGHT_COLUMNS,
    MAX_WINDOWS,
    P_BARS,
    P_COLOR,
    P_U,
    P_V,
    P_W,
    W_AMBIENT,
    W_AO_FLOOR,
    W_AO_HIGH,
    W_AO_LOW,
    W_EXPOSURE,
    W_HORIZON,
    W_NADIR,
    W_WINDOW_COUNT,
    W_WINDOWS,
    W_ZENITH,
    WINDOW_COLUMNS,
    WORLD_COLUMNS,
)
from handloom.render.cpu.model.texture import texture_image

DIFFUSE_GAIN = 1.6
SPECULAR_GAIN = 1.6
AMBIENT_GAIN = 1.1
EXPOSURE = 0.62
# The compiler's default bulb radius is 2 cm; lamps in a room are softer.
DEFAULT_BULB_RADIUS, SOFT_BULB_RADIUS = 0.02, 0.08
# A directional light is a lamp this many scene extents away, with the width of a lightly clouded sun (radius over
# distance).
SUN_DISTANCE, SUN_RADIUS = 30.0, 0.02
# A spot has full intensity up to this fraction of its cutoff angle and fades beyond, like a real lamp.
FULL_CONE = 0.67
# Fraction of a pane's light, times its solid angle, that brightens the side facing it.
PANE_GLOW = 0.03
# Zenith, horizon and nadir of the sky if the model has no skybox, linear RGB.
DAY = ((0.30, 0.42, 0.62), (0.78, 0.82, 0.86), (0.34, 0.33, 0.32))
SKY_FACES = 6
# Heights of the two probes of ambient occlusion [m], and the light left in the tightest corner.
AO_LOW, AO_HIGH, AO_FLOOR = 0.025, 0.10, 0.25


def active_lights(model: mujoco.MjModel) -> list[int]:
    """Return the ids of the active lights that have a position or direction."""
    return [
        k
        for k in range(model.nlight)
        if model.light_active[k] and model.light_type[k] != mujoco.mjtLightType.mjLIGHT_IMAGE
    ]


def make_light_table(model: mujoco.MjModel) -> NDArray[np.float32]:
    """Return the light table: one row per active light, then one for the headlight if it is on."""
    headlight = 1 if model.vis.headlight.active else 0
    lights = active_lights(model)
    table = np.zeros((len(lights) + headlight, LIGHT_COLUMNS), np.float32)
    for row, k in zip(table, lights, strict=False):
        row[L_DIFFUSE : L_DIFFUSE + 3] = DIFFUSE_GAIN * model.light_diffuse[k]
        row[L_SPECULAR : L_SPECULAR + 3] = SPECULAR_GAIN * model.light_specular[k]
        row[L_ATTENUATION : L_ATTENUATION + 3] = model.light_attenuation[k]
        row[L_SHADOW] = model.light_castshadow[k]
        row[L_CUTOFF], row[L_BLEND] = -2.0, 1.0
        row[L_RADIUS] = model.light_bulbradius[k]
        if row[L_RADIUS] == np.float32(DEFAULT_BULB_RADIUS):
            row[L_RADIUS] = SOFT_BULB_RADIUS
        if model.light_type[k] == mujoco.mjtLightType.mjLIGHT_DIRECTIONAL:
            row[L_RADIUS] = SUN_RADIUS * SUN_DISTANCE * float(model.stat.extent)
        if model.light_type[k] == mujoco.mjtLightType.mjLIGHT_SPOT:
            cutoff = min(float(model.light_cutoff[k]), 89.0)
            edge, full = np.cos(np.deg2rad([cutoff, cutoff * FULL_CONE]))
            row[L_CUTOFF], row[L_BLEND] = edge, 1.0 / max(full - edge, 1e-4)
    if headlight:
        row = table[-1]
        row[L_DIFFUSE : L_DIFFUSE + 3] = DIFFUSE_GAIN * np.asarray(model.vis.headlight.diffuse)
        row[L_SPECULAR : L_SPECULAR + 3] = SPECULAR_GAIN * np.asarray(model.vis.headlight.specular)
        row[L_ATTENUATION], row[L_CUTOFF], row[L_BLEND] = 1.0, -2.0, 1.0
    return table


def _frame_of(w: Array) -> list[float]:
    """Return axes u, v, w, one after another, with the given w."""
    x, y, z = w.tolist()
    length = math.sqrt(x * x + y * y + z * z) or 1.0
    x, y, z = x / length, y / length, z / length
    # u is perpendicular to w and to whichever of the world axes y and x is less aligned with w.
    ux, uy, uz = (z, 0.0, -x) if abs(y) < 0.9 else (0.0, -z, y)
    length = math.sqrt(ux * ux + uy * uy + uz * uz)
    ux, uy, uz = ux / length, uy / length, uz / length
    return [ux, uy, uz, y * uz - z * uy, z * ux - x * uz, x * uy - y * ux, x, y, z]


def place_lamps(model: mujoco.MjModel, data: mujoco.MjData, lights: list[int], table: NDArray[np.float32]) -> None:
    """Write the current positions and directions of the active lights."""
    center = model.stat.center
    for row, k in zip(table, lights, strict=False):
        position, direction = data.light_xpos[k], data.light_xdir[k]
        towards = -direction
        if model.light_type[k] == mujoco.mjtLightType.mjLIGHT_DIRECTIONAL:
            position = center - direction * (SUN_DISTANCE * float(model.stat.extent))
        elif model.light_type[k] == mujoco.mjtLightType.mjLIGHT_POINT:
            towards = position - center
        row[L_POS : L_POS + 3] = position
        row[L_U : L_U + 9] = _frame_of(towards)


def sky_of(model: mujoco.MjModel) -> tuple[Array, Array, Array]:
    """Return linear light from the zenith, the horizon and the nadir: of the model's skybox, or of a bright day."""
    skies = np.flatnonzero(model.tex_type == mujoco.mjtTexture.mjTEXTURE_SKYBOX)
    if len(skies) == 0:
        return np.array(DAY[0]), np.array(DAY[1]), np.array(DAY[2])
    image = texture_image(model, int(skies[0])).astype(float)
    side = image.shape[1]
    # Six faces below each other: right, left, up, down, front, back. A single face is used for all of them.
    faces = image.reshape(-1, side, side, 3)
    up, down = (faces[2], faces[3]) if len(faces) == SKY_FACES else (faces[0], faces[0])
    around = faces[[0, 1, 4, 5]] if len(faces) == SKY_FACES else faces
    middle = around[:, side // 2 - 1 : side // 2 + 1].mean(axis=(0, 1, 2))
    # Undo the tone curve, because a skybox defines the displayed colour.
    return up.mean(axis=(0, 1)) / EXPOSURE, middle / EXPOSURE, down.mean(axis=(0, 1)) / EXPOSURE


def build_world(model: mujoco.MjModel, *, reflections: bool = True) -> NDArray[np.float32]:
    """Return the surroundings: ambient light, sky, reflected panes, exposure, ambient occlusion."""
    world = np.zeros(WORLD_COLUMNS, np.float32)
    ambient = np.zeros(3)
    if model.vis.headlight.active:
        ambient += np.asarray(model.vis.headlight.ambient)
    for k in active_lights(model):
        ambient += model.light_ambient[k]
    ambient *= AMBIENT_GAIN
    around = surroundings_of(model)
    above, below = ambient * around.above, ambient * around.below
    world[W_AMBIENT : W_AMBIENT + 3] = (above + below) / 2
    world[W_AMBIENT + 9 : W_AMBIENT + 12] = (above - below) / 2
    for pane in around.panes:
        light = PANE_GLOW * ambient * pane.light * np.sqrt(4 * pane.half_width * pane.half_height)
        for k, along in enumerate(pane.direction[:2]):
            world[W_AMBIENT + 3 + 3 * k : W_AMBIENT + 6 + 3 * k] += along * light
    panes = around.panes[:MAX_WINDOWS] if reflections else ()
    world[W_WINDOW_COUNT] = len(panes)
    for k, pane in enumerate(panes):
        right, up, towards = axes_of_pane(pane)
        block = world[W_WINDOWS + k * WINDOW_COLUMNS :]
        block[P_W : P_W + 3] = towards
        block[P_U : P_U + 3], block[P_V : P_V + 3] = right / pane.half_width, up / pane.half_height
        block[P_COLOR : P_COLOR + 3], block[P_BARS] = ambient * pane.light, pane.bars
    zenith, horizon, nadir = sky_of(model)
    world[W_ZENITH : W_ZENITH + 3] = zenith
    world[W_HORIZON : W_HORIZON + 3] = horizon
    world[W_NADIR : W_NADIR + 3] = nadir
    world[W_EXPOSURE] = EXPOSURE
    world[W_AO_LOW], world[W_AO_HIGH], world[W_AO_FLOOR] = AO_LOW, AO_HIGH, AO_FLOOR
    return world
