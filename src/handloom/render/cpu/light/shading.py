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
# sRGB encoding as a sum of square roots of linear light, scaled to 0..255: within 0.3 of a grey level from the seventh
# level on, and within 2.5 in the near black below.
SRGB_2, SRGB_4, SRGB_8, SRGB_1 = (np.float32(255 * v) for v in (0.662002687, 0.684122060, -0.323583601, -0.0225411470))
# How much sharper a mirror image of the surroundings is than their diffuse light.
MIRROR_CONTRAST = np.float32(1.6)


@picture_kernel
def add_light(lanes, light, view):
    """Add one light's diffuse part and highlight, weighed by what SHADE leaves of it."""
    lx, ly, lz = light[L_POS], light[L_POS + 1], light[L_POS + 2]
    wx, wy, wz = light[L_W], light[L_W + 1], light[L_W + 2]
    dr, dg, db = light[L_DIFFUSE], light[L_DIFFUSE + 1], light[L_DIFFUSE + 2]
    sr, sg, sb = light[L_SPECULAR], light[L_SPECULAR + 1], light[L_SPECULAR + 2]
    a0, a1, a2 = light[L_ATTENUATION], light[L_ATTENUATION + 1], light[L_ATTENUATION + 2]
    cutoff = light[L_CUTOFF]
    blend = light[L_BLEND]
    ex, ey, ez = view[V_EYE], view[V_EYE + 1], view[V_EYE + 2]
    for i in range(LANES):
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
def add_soft_light(lanes, light, view):
    """Add a light that casts no shadows; without a highlight colour, its diffuse part alone."""
    if light[L_SPECULAR] + light[L_SPECULAR + 1] + light[L_SPECULAR + 2] > ZERO:
        for i in range(LANES):
            lanes[i + SHADE] = ZERO
        add_light(lanes, light, view)
        return
    lx, ly, lz = light[L_POS], light[L_POS + 1], light[L_POS + 2]
    wx, wy, wz = light[L_W], light[L_W + 1], light[L_W + 2]
    dr, dg, db = light[L_DIFFUSE], light[L_DIFFUSE + 1], light[L_DIFFUSE + 2]
    a0, a1, a2 = light[L_ATTENUATION], light[L_ATTENUATION + 1], light[L_ATTENUATION + 2]
    cutoff = light[L_CUTOFF]
    blend = light[L_BLEND]
    for i in range(LANES):
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


@picture_kernel(inline="always")
def _sensor(albedo, metal, ambient, light, glow, shine, mirror):
    """Return linear light of one channel: the matte part, and highlights tinted by the colour of a metal."""
    matte = albedo * ((ONE - metal) * (ambient + light) + glow)
    return matte + (ONE + (albedo - ONE) * metal) * (shine + mirror)


@picture_kernel
def shade_surface(lanes, world, view):
    """Turn albedo, light and surroundings into screen colours 0..255 in RED, GREEN, BLUE.

    Surroundings light a surface from all sides, and metals and rims mirror them.
    """
    r0, r1, r2, r3 = world[W_AMBIENT], world[W_AMBIENT + 3], world[W_AMBIENT + 6], world[W_AMBIENT + 9]
    g0, g1, g2, g3 = world[W_AMBIENT + 1], world[W_AMBIENT + 4], world[W_AMBIENT + 7], world[W_AMBIENT + 10]
    b0, b1, b2, b3 = world[W_AMBIENT + 2], world[W_AMBIENT + 5], world[W_AMBIENT + 8], world[W_AMBIENT + 11]
    ex, ey, ez = view[V_EYE], view[V_EYE + 1], view[V_EYE + 2]
    exposure = world[W_EXPOSURE]
    for i in range(LANES):
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
        mx = (twice * nx - vx * inverse) * MIRROR_CONTRAST
        my = (twice * ny - vy * inverse) * MIRROR_CONTRAST
        mz = (twice * nz - vz * inverse) * MIRROR_CONTRAST
        gap = lanes[i + NEAR_GAP]
        metal = lanes[i + METAL]
        specular = lanes[i + SPECULAR]
        glow = lanes[i + GLOW]
        weight = gap * (metal + HALF * specular * rim)
        red = _sensor(
            lanes[i + RED],
            metal,
            (r0 + r1 * nx + r2 * ny + r3 * nz) * gap,
            lanes[i + LIGHT_R],
            glow,
            specular * lanes[i + SHINE_R],
            max(r0 + r1 * mx + r2 * my + r3 * mz, ZERO) * weight,
        )
        green = _sensor(
            lanes[i + GREEN],
            metal,
            (g0 + g1 * nx + g2 * ny + g3 * nz) * gap,
            lanes[i + LIGHT_G],
            glow,
            specular * lanes[i + SHINE_G],
            max(g0 + g1 * mx + g2 * my + g3 * mz, ZERO) * weight,
        )
        blue = _sensor(
            lanes[i + BLUE],
            metal,
            (b0 + b1 * nx + b2 * ny + b3 * nz) * gap,
            lanes[i + LIGHT_B],
            glow,
            specular * lanes[i + SHINE_B],
            max(b0 + b1 * mx + b2 * my + b3 * mz, ZERO) * weight,
        )
        lanes[i + RED] = red * exposure
        lanes[i + GREEN] = green * exposure
        lanes[i + BLUE] = blue * exposure
    _paint_sky(lanes, world)
    _develop(lanes)


@picture_kernel
def _paint_sky(lanes, world):
    """Put the sky where nothing was hit; there the normal is the direction of the ray."""
    open_lanes = 0
    for i in range(LANES):
        open_lanes += lanes[i + ID] < ZERO
    if open_lanes == 0:
        return
    r0, r1, r2 = world[W_ZENITH], world[W_HORIZON], world[W_NADIR]
    g0, g1, g2 = world[W_ZENITH + 1], world[W_HORIZON + 1], world[W_NADIR + 1]
    b0, b1, b2 = world[W_ZENITH + 2], world[W_HORIZON + 2], world[W_NADIR + 2]
    exposure = world[W_EXPOSURE]
    for i in range(LANES):
        nz = lanes[i + NZ]
        sky = lanes[i + ID] < ZERO
        up = np.sqrt(max(nz, ZERO))
        down = min(max(-nz, ZERO) * np.float32(4), ONE)
        lanes[i + RED] = (r1 + (r0 - r1) * up + (r2 - r1) * down) * exposure if sky else lanes[i + RED]
        lanes[i + GREEN] = (g1 + (g0 - g1) * up + (g2 - g1) * down) * exposure if sky else lanes[i + GREEN]
        lanes[i + BLUE] = (b1 + (b0 - b1) * up + (b2 - b1) * down) * exposure if sky else lanes[i + BLUE]


@picture_kernel
def _develop(lanes):
    """Roll the highlights off and encode linear light as sRGB 0..255."""
    # The three channels lie one after the other, so one loop encodes them all.
    for i in range(3 * LANES):
        x = lanes[i + RED]
        x = x * (FILM_A * x + FILM_B) / (x * (FILM_C * x + FILM_D) + FILM_E)
        x = min(max(x, ZERO), ONE)
        root2 = np.sqrt(x)
        root4 = np.sqrt(root2)
        root8 = np.sqrt(root4)
        lanes[i + RED] = max(SRGB_2 * root2 + SRGB_4 * root4 + SRGB_8 * root8 + SRGB_1 * x, ZERO)
