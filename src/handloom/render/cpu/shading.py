"""Shading: light arriving, material, tone map.

Everything is linear light until the end; then a filmic curve rolls off the highlights and sRGB encodes the result.
"""

import numpy as np

from handloom.kernels import picture_kernel
from handloom.render.cpu.layout import (
    BLUE,
    GLOW,
    GREEN,
    HALF,
    ID,
    L_ATTENUATION,
    L_BLEND,
    L_CUTOFF,
    L_DIFFUSE,
    L_POS,
    L_SPECULAR,
    L_W,
    LANES,
    LIGHT_B,
    LIGHT_G,
    LIGHT_R,
    METAL,
    NEAR_GAP,
    NX,
    NY,
    NZ,
    ONE,
    PX,
    PY,
    PZ,
    RED,
    SHADE,
    SHINE_B,
    SHINE_G,
    SHINE_R,
    SHININESS,
    SPARE_A,
    SPARE_B,
    SPARE_C,
    SPARE_D,
    SPECULAR,
    TINY,
    V_EYE,
    W_AMBIENT,
    W_EXPOSURE,
    W_HORIZON,
    W_NADIR,
    W_ZENITH,
    ZERO,
)

# Filmic curve: the rational fit of the ACES reference tone map by Narkowicz (2015).
FILM_A, FILM_B, FILM_C, FILM_D, FILM_E = (np.float32(v) for v in (2.51, 0.03, 2.43, 0.59, 0.14))
# sRGB encoding as a sum of square roots of linear light, scaled to 0..255; within 0.6 of a grey level everywhere.
SRGB_2, SRGB_4, SRGB_8, SRGB_1 = (np.float32(255 * v) for v in (0.662002687, 0.684122060, -0.323583601, -0.0225411470))
# How much sharper a mirror image of the surroundings is than their diffuse light.
MIRROR_CONTRAST = np.float32(1.6)


@picture_kernel
def add_light(lanes, n, light, view):
    """Add one light's diffuse part and highlight, weighed by what SHADE leaves of it."""
    lx, ly, lz = light[L_POS], light[L_POS + 1], light[L_POS + 2]
    wx, wy, wz = light[L_W], light[L_W + 1], light[L_W + 2]
    dr, dg, db = light[L_DIFFUSE], light[L_DIFFUSE + 1], light[L_DIFFUSE + 2]
    sr, sg, sb = light[L_SPECULAR], light[L_SPECULAR + 1], light[L_SPECULAR + 2]
    a0, a1, a2 = light[L_ATTENUATION], light[L_ATTENUATION + 1], light[L_ATTENUATION + 2]
    cutoff = light[L_CUTOFF]
    blend = light[L_BLEND]
    ex, ey, ez = view[V_EYE], view[V_EYE + 1], view[V_EYE + 2]
    for i in range(n):
        nx = lanes[i + NX]
        ny = lanes[i + NY]
        nz = lanes[i + NZ]
        px = lanes[i + PX]
        py = lanes[i + PY]
        pz = lanes[i + PZ]
        x = lx - px
        y = ly - py
        z = lz - pz
        d2 = x * x + y * y + z * z + TINY
        inverse = ONE / np.sqrt(d2)
        x *= inverse
        y *= inverse
        z *= inverse
        cone = min(max(((x * wx + y * wy + z * wz) - cutoff) * blend, ZERO), ONE)
        power = (ONE - lanes[i + SHADE]) * cone / (a0 + a1 * d2 * inverse + a2 * d2)
        facing = nx * x + ny * y + nz * z
        direct = max(facing, ZERO) * power
        lanes[i + LIGHT_R] += direct * dr
        lanes[i + LIGHT_G] += direct * dg
        lanes[i + LIGHT_B] += direct * db
        vx = ex - px
        vy = ey - py
        vz = ez - pz
        inverse = ONE / np.sqrt(vx * vx + vy * vy + vz * vz + TINY)
        hx = x + vx * inverse
        hy = y + vy * inverse
        hz = z + vz * inverse
        half = max((nx * hx + ny * hy + nz * hz) / np.sqrt(hx * hx + hy * hy + hz * hz + TINY), ZERO)
        # Schlick's rational stand-in for half ** shininess.
        shininess = lanes[i + SHININESS]
        shine = half / (shininess - shininess * half + half) * power if facing > ZERO else ZERO
        lanes[i + SHINE_R] += shine * sr
        lanes[i + SHINE_G] += shine * sg
        lanes[i + SHINE_B] += shine * sb


@picture_kernel
def add_soft_light(lanes, n, light, view):
    """Add a light that casts no shadows; without a highlight colour, its diffuse part alone."""
    if light[L_SPECULAR] + light[L_SPECULAR + 1] + light[L_SPECULAR + 2] > ZERO:
        for i in range(n):
            lanes[i + SHADE] = ZERO
        add_light(lanes, n, light, view)
        return
    lx, ly, lz = light[L_POS], light[L_POS + 1], light[L_POS + 2]
    wx, wy, wz = light[L_W], light[L_W + 1], light[L_W + 2]
    dr, dg, db = light[L_DIFFUSE], light[L_DIFFUSE + 1], light[L_DIFFUSE + 2]
    a0, a1, a2 = light[L_ATTENUATION], light[L_ATTENUATION + 1], light[L_ATTENUATION + 2]
    cutoff = light[L_CUTOFF]
    blend = light[L_BLEND]
    for i in range(n):
        x = lx - lanes[i + PX]
        y = ly - lanes[i + PY]
        z = lz - lanes[i + PZ]
        d2 = x * x + y * y + z * z + TINY
        inverse = ONE / np.sqrt(d2)
        cone = min(max(((x * wx + y * wy + z * wz) * inverse - cutoff) * blend, ZERO), ONE)
        facing = max((lanes[i + NX] * x + lanes[i + NY] * y + lanes[i + NZ] * z) * inverse, ZERO)
        direct = facing * cone / (a0 + a1 * d2 * inverse + a2 * d2)
        lanes[i + LIGHT_R] += direct * dr
        lanes[i + LIGHT_G] += direct * dg
        lanes[i + LIGHT_B] += direct * db


@picture_kernel
def _sky(z, zenith, horizon, nadir):
    """Return the colour of the open sky towards height ``z`` = sine of the elevation."""
    up = max(z, ZERO)
    down = max(-z, ZERO)
    up = np.sqrt(up)
    down = min(down * np.float32(4), ONE)
    return horizon + (zenith - horizon) * up + (nadir - horizon) * down


@picture_kernel
def _reflect(lanes, n, view):
    """Write the mirrored view direction to the first three spare quantities, the weight of its light to the fourth."""
    ex, ey, ez = view[V_EYE], view[V_EYE + 1], view[V_EYE + 2]
    for i in range(n):
        nx = lanes[i + NX]
        ny = lanes[i + NY]
        nz = lanes[i + NZ]
        vx = ex - lanes[i + PX]
        vy = ey - lanes[i + PY]
        vz = ez - lanes[i + PZ]
        inverse = ONE / np.sqrt(vx * vx + vy * vy + vz * vz + TINY)
        cosine = max((nx * vx + ny * vy + nz * vz) * inverse, ZERO)
        twice = cosine + cosine
        rim = ONE - cosine
        rim *= rim
        rim *= rim
        lanes[i + SPARE_A] = twice * nx - vx * inverse
        lanes[i + SPARE_B] = twice * ny - vy * inverse
        lanes[i + SPARE_C] = twice * nz - vz * inverse
        lanes[i + SPARE_D] = lanes[i + NEAR_GAP] * (lanes[i + METAL] + HALF * lanes[i + SPECULAR] * rim)


@picture_kernel
def _shade_channel(lanes, n, channel, light, shine, world, k):
    """Combine one channel (k = 0, 1, 2) of material, light and surroundings into linear light on the sensor."""
    e0 = world[W_AMBIENT + k]
    e1, e2, e3 = world[W_AMBIENT + 3 + k], world[W_AMBIENT + 6 + k], world[W_AMBIENT + 9 + k]
    zenith, horizon, nadir = world[W_ZENITH + k], world[W_HORIZON + k], world[W_NADIR + k]
    exposure = world[W_EXPOSURE]
    for i in range(n):
        nz = lanes[i + NZ]
        metal = lanes[i + METAL]
        albedo = lanes[i + channel]
        tint = ONE + (albedo - ONE) * metal
        ambient = (e0 + e1 * lanes[i + NX] + e2 * lanes[i + NY] + e3 * nz) * lanes[i + NEAR_GAP]
        mirror = e0 + MIRROR_CONTRAST * (e1 * lanes[i + SPARE_A] + e2 * lanes[i + SPARE_B] + e3 * lanes[i + SPARE_C])
        mirror = max(mirror, ZERO) * lanes[i + SPARE_D]
        matte = albedo * ((ONE - metal) * (ambient + lanes[i + light]) + lanes[i + GLOW])
        color = matte + tint * (lanes[i + SPECULAR] * lanes[i + shine] + mirror)
        sky = _sky(nz, zenith, horizon, nadir)
        lanes[i + channel] = (sky if lanes[i + ID] < ZERO else color) * exposure


@picture_kernel
def shade_surface(lanes, n, world, view):
    """Turn albedo, light and surroundings into screen colours 0..255 in RED, GREEN, BLUE."""
    _reflect(lanes, n, view)
    _shade_channel(lanes, n, RED, LIGHT_R, SHINE_R, world, 0)
    _shade_channel(lanes, n, GREEN, LIGHT_G, SHINE_G, world, 1)
    _shade_channel(lanes, n, BLUE, LIGHT_B, SHINE_B, world, 2)
    # The three channels lie one after the other, so one loop encodes them all.
    for i in range(3 * LANES):
        x = lanes[i + RED]
        x = x * (FILM_A * x + FILM_B) / (x * (FILM_C * x + FILM_D) + FILM_E)
        x = min(max(x, ZERO), ONE)
        root2 = np.sqrt(x)
        root4 = np.sqrt(root2)
        root8 = np.sqrt(root4)
        lanes[i + RED] = max(SRGB_2 * root2 + SRGB_4 * root4 + SRGB_8 * root8 + SRGB_1 * x, ZERO)
