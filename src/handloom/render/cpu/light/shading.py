"""Shading: incoming light, material, tone map.

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
    MIRROR_B,
    MIRROR_BLUR,
    MIRROR_G,
    MIRROR_R,
    MIRROR_WEIGHT,
    MIRROR_X,
    MIRROR_Y,
    MIRROR_Z,
    NEAR_GAP,
    NX,
    NY,
    NZ,
    ONE,
    OPACITY,
    P_BARS,
    P_COLOR,
    P_U,
    P_V,
    P_W,
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
    W_WINDOW_COUNT,
    W_WINDOWS,
    W_ZENITH,
    WINDOW_COLUMNS,
    ZERO,
)

# Filmic curve: Narkowicz's rational fit of the ACES reference tone map (2015).
FILM_A, FILM_B, FILM_C, FILM_D, FILM_E = (np.float32(v) for v in (2.51, 0.03, 2.43, 0.59, 0.14))
# sRGB encoding as a sum of square roots of linear light, scaled to 0..255: within 0.3 of a grey level from the seventh
# level on, and within 2.5 in the near black below.
SRGB_2, SRGB_4, SRGB_8, SRGB_1 = (np.float32(255 * v) for v in (0.662002687, 0.684122060, -0.323583601, -0.0225411470))
# Sharpness of a reflection of the ambient light, relative to its diffuse light.
MIRROR_CONTRAST = np.float32(1.6)
TWO = np.float32(2)
# Share of light reflected face-on by a surface of full specular; a typical surface of 0.5 reflects 4 %.
FACE_ON = np.float32(0.08)
# Half width of the blur of a reflected edge, as the tangent of an angle: for a perfect mirror, and for a rough surface.
SHARPEST_EDGE, BLUR = np.float32(0.02), np.float32(1.6)
# A clear surface with a higher specular hides what is behind its reflections.
CLEAR_COAT = np.float32(0.7)


@picture_kernel
def add_light(lanes, light, view):
    """Add one light's diffuse part and highlight, weighted by the part that SHADE leaves."""
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
    """Add a light that casts no shadows; without a highlight colour, only its diffuse part."""
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


@picture_kernel
def _look_around(lanes, world, view):
    """Write the reflection of each surface, blurred by its roughness.

    MIRROR_R, MIRROR_G, MIRROR_B get the light, MIRROR_WEIGHT the reflected share: Schlick's Fresnel term, less at the
    rim of rough surfaces. The ambient light has no edges; those of panes blur with the width of the highlight.
    """
    r0, r1, r2, r3 = world[W_AMBIENT], world[W_AMBIENT + 3], world[W_AMBIENT + 6], world[W_AMBIENT + 9]
    g0, g1, g2, g3 = world[W_AMBIENT + 1], world[W_AMBIENT + 4], world[W_AMBIENT + 7], world[W_AMBIENT + 10]
    b0, b1, b2, b3 = world[W_AMBIENT + 2], world[W_AMBIENT + 5], world[W_AMBIENT + 8], world[W_AMBIENT + 11]
    ex, ey, ez = view[V_EYE], view[V_EYE + 1], view[V_EYE + 2]
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
        mx = twice * nx - vx * inverse
        my = twice * ny - vy * inverse
        mz = twice * nz - vz * inverse
        # Squared roughness of a highlight with this exponent.
        spread = np.sqrt(TWO / (lanes[i + SHININESS] + TWO))
        metal = lanes[i + METAL]
        specular = lanes[i + SPECULAR]
        coat = specular * (FACE_ON + (HALF - FACE_ON) * rim * (ONE - spread))
        lanes[i + MIRROR_WEIGHT] = lanes[i + NEAR_GAP] * (metal + (ONE - metal) * coat)
        lanes[i + MIRROR_X] = mx
        lanes[i + MIRROR_Y] = my
        lanes[i + MIRROR_Z] = mz
        lanes[i + MIRROR_BLUR] = SHARPEST_EDGE + BLUR * spread
        contrast = MIRROR_CONTRAST * (ONE - HALF * spread)
        mx *= contrast
        my *= contrast
        mz *= contrast
        lanes[i + MIRROR_R] = max(r0 + r1 * mx + r2 * my + r3 * mz, ZERO)
        lanes[i + MIRROR_G] = max(g0 + g1 * mx + g2 * my + g3 * mz, ZERO)
        lanes[i + MIRROR_B] = max(b0 + b1 * mx + b2 * my + b3 * mz, ZERO)
    for k in range(int(world[W_WINDOW_COUNT])):
        _mirror_window(lanes, world[W_WINDOWS + k * WINDOW_COLUMNS :])


@picture_kernel
def _mirror_window(lanes, pane):
    """Add one pane to the reflected light."""
    wx, wy, wz = pane[P_W], pane[P_W + 1], pane[P_W + 2]
    ux, uy, uz = pane[P_U], pane[P_U + 1], pane[P_U + 2]
    vx, vy, vz = pane[P_V], pane[P_V + 1], pane[P_V + 2]
    red, green, blue = pane[P_COLOR], pane[P_COLOR + 1], pane[P_COLOR + 2]
    bars = pane[P_BARS]
    # Edges blur by an angle, which is a larger fraction of a small pane.
    u_scale = np.sqrt(ux * ux + uy * uy + uz * uz)
    v_scale = np.sqrt(vx * vx + vy * vy + vz * vz)
    for i in range(LANES):
        x = lanes[i + MIRROR_X]
        y = lanes[i + MIRROR_Y]
        z = lanes[i + MIRROR_Z]
        ahead = wx * x + wy * y + wz * z
        scale = ONE / max(ahead, np.float32(0.05))
        u = abs(ux * x + uy * y + uz * z) * scale
        v = abs(vx * x + vy * y + vz * z) * scale
        blur = lanes[i + MIRROR_BLUR]
        a, b = blur * u_scale, blur * v_scale
        # A box blurred by a box: a ramp at the edges, with the same amount of light.
        inside = min(max(HALF + (ONE - u) * HALF / a, ZERO), ONE) * min(max(HALF + (ONE - v) * HALF / b, ZERO), ONE)
        inside *= min(ONE / a, ONE) * min(ONE / b, ONE)
        clear = min(max((u - bars) / a + HALF, a), ONE) * min(max((v - bars) / b + HALF, b), ONE)
        inside *= min(clear, ONE) if bars > ZERO else ONE
        inside *= min(max(ahead * np.float32(8), ZERO), ONE)
        lanes[i + MIRROR_R] += inside * red
        lanes[i + MIRROR_G] += inside * green
        lanes[i + MIRROR_B] += inside * blue


@picture_kernel(inline="always")
def _sensor(albedo, metal, ambient, light, glow, shine, mirror):
    """Return linear light of one channel: the matte part, and highlights tinted by the colour of a metal."""
    matte = albedo * ((ONE - metal) * (ambient + light) + glow)
    return matte + (ONE + (albedo - ONE) * metal) * (shine + mirror)


@picture_kernel
def shade_surface(lanes, world, view):
    """Turn albedo, light and surroundings into screen colours 0..255 in RED, GREEN, BLUE.

    The surroundings light a surface from all sides, and shiny surfaces reflect them. The reflections of clear shiny
    surfaces (glass, water) hide what is behind them.
    """
    r0, r1, r2, r3 = world[W_AMBIENT], world[W_AMBIENT + 3], world[W_AMBIENT + 6], world[W_AMBIENT + 9]
    g0, g1, g2, g3 = world[W_AMBIENT + 1], world[W_AMBIENT + 4], world[W_AMBIENT + 7], world[W_AMBIENT + 10]
    b0, b1, b2, b3 = world[W_AMBIENT + 2], world[W_AMBIENT + 5], world[W_AMBIENT + 8], world[W_AMBIENT + 11]
    exposure = world[W_EXPOSURE]
    _look_around(lanes, world, view)
    for i in range(LANES):
        nx = lanes[i + NX]
        ny = lanes[i + NY]
        nz = lanes[i + NZ]
        gap = lanes[i + NEAR_GAP]
        metal = lanes[i + METAL]
        specular = lanes[i + SPECULAR]
        glow = lanes[i + GLOW]
        weight = lanes[i + MIRROR_WEIGHT]
        red = _sensor(
            lanes[i + RED],
            metal,
            (r0 + r1 * nx + r2 * ny + r3 * nz) * gap,
            lanes[i + LIGHT_R],
            glow,
            specular * lanes[i + SHINE_R],
            lanes[i + MIRROR_R] * weight,
        )
        green = _sensor(
            lanes[i + GREEN],
            metal,
            (g0 + g1 * nx + g2 * ny + g3 * nz) * gap,
            lanes[i + LIGHT_G],
            glow,
            specular * lanes[i + SHINE_G],
            lanes[i + MIRROR_G] * weight,
        )
        blue = _sensor(
            lanes[i + BLUE],
            metal,
            (b0 + b1 * nx + b2 * ny + b3 * nz) * gap,
            lanes[i + LIGHT_B],
            glow,
            specular * lanes[i + SHINE_B],
            lanes[i + MIRROR_B] * weight,
        )
        lanes[i + RED] = red * exposure
        lanes[i + GREEN] = green * exposure
        lanes[i + BLUE] = blue * exposure
        clear = (lanes[i + OPACITY] < ONE) & (specular > CLEAR_COAT)
        mirrored = min(lanes[i + MIRROR_G] * weight + specular * lanes[i + SHINE_G] + TWO * weight, ONE)
        lanes[i + OPACITY] += (ONE - lanes[i + OPACITY]) * (mirrored if clear else ZERO)
    _paint_sky(lanes, world)
    _develop(lanes)


@picture_kernel
def _paint_sky(lanes, world):
    """Write the sky to lanes that hit nothing; their normal is the direction of the ray."""
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
    """Roll off the highlights and encode linear light as sRGB 0..255."""
    # The three channels are contiguous, so one loop encodes them all.
    for i in range(3 * LANES):
        x = lanes[i + RED]
        x = x * (FILM_A * x + FILM_B) / (x * (FILM_C * x + FILM_D) + FILM_E)
        x = min(max(x, ZERO), ONE)
        root2 = np.sqrt(x)
        root4 = np.sqrt(root2)
        root8 = np.sqrt(root4)
        lanes[i + RED] = max(SRGB_2 * root2 + SRGB_4 * root4 + SRGB_8 * root8 + SRGB_1 * x, ZERO)
