"""Shadows and ambient occlusion of surfaces of revolution, in closed form.

On its path to the lamp, a ray has the distance ``rho(t)`` from the axis, a convex function. It is blocked if this is
less than the outer radius at the same height, unless the ray leaves through the cavity: there it must stay less than
the radius of the cavity. The first test needs a minimum over each piece of the outline, known in closed form; the
second a maximum, which is at one end of a piece. Both are continuous from piece to piece, so no light leaks.
"""

import numpy as np

from handloom.kernels import picture_kernel
from handloom.render.cpu.layout import (
    BIG,
    C_POS,
    FAR_GAP,
    G_CAVITY,
    G_FLOOR,
    G_HULL,
    G_HULL_COUNT,
    G_OUTER,
    HALF,
    L_RADIUS,
    LANES,
    NEAR_GAP,
    NX,
    NY,
    NZ,
    ONE,
    PX,
    PY,
    PZ,
    SHADE,
    SPARE_A,
    SPARE_B,
    SPARE_C,
    SPARE_D,
    SPARE_E,
    SPARE_F,
    SPARE_G,
    SPARE_H,
    TINY,
    VECTOR,
    ZERO,
)
from handloom.render.cpu.rays.geom_frame import position_of, rotation_of

# Keeps the penumbra a tenth of a millimetre wide at contact, as for other geoms.
CONTACT = np.float32(1e-4)
# Points this far below the floor of a cavity are still in it [m].
SUNK = np.float32(1e-3)


@picture_kernel
def _aim_at_lamp(lanes, row, caster):
    """Write point (A, B, C) and path to the lamp (D, E, F) in the geom frame, with nothing hidden yet (G, H)."""
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = rotation_of(row)
    wx, wy, wz = position_of(row)
    lx, ly, lz = caster[C_POS], caster[C_POS + VECTOR], caster[C_POS + 2 * VECTOR]
    for i in range(LANES):
        x = lanes[i + PX] - wx
        y = lanes[i + PY] - wy
        z = lanes[i + PZ] - wz
        ox = r0 * x + r3 * y + r6 * z
        oy = r1 * x + r4 * y + r7 * z
        oz = r2 * x + r5 * y + r8 * z
        lanes[i + SPARE_A] = ox
        lanes[i + SPARE_B] = oy
        lanes[i + SPARE_C] = oz
        lanes[i + SPARE_D] = lx - ox
        lanes[i + SPARE_E] = ly - oy
        lanes[i + SPARE_F] = lz - oz
        lanes[i + SPARE_G] = ZERO
        lanes[i + SPARE_H] = ZERO


@picture_kernel
def _block_level(lanes, radius, height, lamp):
    """Raise G by the part that a horizontal disc hides."""
    for i in range(LANES):
        z = lanes[i + SPARE_F]
        t = (height - lanes[i + SPARE_C]) / (z if z != ZERO else TINY)
        x = lanes[i + SPARE_A] + t * lanes[i + SPARE_D]
        y = lanes[i + SPARE_B] + t * lanes[i + SPARE_E]
        gap = np.sqrt(x * x + y * y) - radius
        hidden = min(HALF - HALF * gap / (lamp * t + CONTACT), ONE)
        hidden = hidden if (t > ZERO) & (t < ONE) else ZERO
        lanes[i + SPARE_G] = max(lanes[i + SPARE_G], hidden)


@picture_kernel
def _block_cone(lanes, r0, z0, slope, z1, lamp):
    """Raise G by the part that the solid inside one piece of the outside hides."""
    cosine = ONE / np.sqrt(ONE + slope * slope)
    for i in range(LANES):
        ox = lanes[i + SPARE_A]
        oy = lanes[i + SPARE_B]
        oz = lanes[i + SPARE_C]
        x = lanes[i + SPARE_D]
        y = lanes[i + SPARE_E]
        z = lanes[i + SPARE_F]
        inverse = ONE / (z if z != ZERO else TINY)
        p = (z0 - oz) * inverse
        q = (z1 - oz) * inverse
        low = max(min(p, q), ZERO)
        high = min(max(p, q), ONE)
        flat = x * x + y * y + TINY
        middle = -(ox * x + oy * y) / flat
        aside = ox * y - oy * x
        aside = aside * aside / flat
        growth = slope * z
        steep = flat - growth * growth
        best = middle + growth * np.sqrt(aside / (flat * max(steep, TINY)))
        best = best if steep > TINY else (high if growth > ZERO else low)
        t = min(max(best, low), high)
        gap = np.sqrt(flat * (t - middle) * (t - middle) + aside) - (r0 + slope * (oz + t * z - z0))
        hidden = min(HALF - HALF * gap * cosine / (lamp * t + CONTACT), ONE)
        hidden = hidden if low < high else ZERO
        lanes[i + SPARE_G] = max(lanes[i + SPARE_G], hidden)


@picture_kernel
def _leave_cavity(lanes, r0, z0, slope, z1, lamp):
    """Raise H by the part that one piece of the cavity's wall hides from points inside."""
    for i in range(LANES):
        ox = lanes[i + SPARE_A]
        oy = lanes[i + SPARE_B]
        oz = lanes[i + SPARE_C]
        x = lanes[i + SPARE_D]
        y = lanes[i + SPARE_E]
        z = lanes[i + SPARE_F]
        inverse = ONE / (z if z != ZERO else TINY)
        p = (z0 - oz) * inverse
        q = (z1 - oz) * inverse
        low = max(min(p, q), ZERO)
        high = min(max(p, q), ONE)
        ax, ay = ox + low * x, oy + low * y
        bx, by = ox + high * x, oy + high * y
        a = np.sqrt(ax * ax + ay * ay) - (r0 + slope * (oz + low * z - z0))
        b = np.sqrt(bx * bx + by * by) - (r0 + slope * (oz + high * z - z0))
        hidden = max(a / (lamp * low + CONTACT), b / (lamp * high + CONTACT))
        hidden = min(HALF + HALF * hidden, ONE)
        hidden = hidden if low < high else ZERO
        lanes[i + SPARE_H] = max(lanes[i + SPARE_H], hidden)


@picture_kernel
def shade_turned(lanes, row, caster, hulls, light):
    """Raise SHADE by the part of a lamp that a surface of revolution hides, also from itself."""
    lamp = light[L_RADIUS]
    _aim_at_lamp(lanes, row, caster)
    start = int(row[G_HULL]) + 2 * int(row[G_HULL_COUNT])
    middle = start + int(row[G_OUTER])
    end = middle + int(row[G_CAVITY])
    for k in range(start, middle):
        r0, z0, r1, z1 = hulls[k, 0], hulls[k, 1], hulls[k, 2], hulls[k, 3]
        if z1 <= z0:
            _block_level(lanes, max(r0, r1), z0, lamp)
        else:
            _block_cone(lanes, r0, z0, (r1 - r0) / (z1 - z0), z1, lamp)
    for k in range(middle, end):
        r0, z0, r1, z1 = hulls[k, 0], hulls[k, 1], hulls[k, 2], hulls[k, 3]
        if z1 > z0:
            _leave_cavity(lanes, r0, z0, (r1 - r0) / (z1 - z0), z1, lamp)
    floor = row[G_FLOOR] - SUNK
    for i in range(LANES):
        z = lanes[i + SPARE_C]
        closed = (z < floor) | (z + lanes[i + SPARE_F] < floor)
        hidden = lanes[i + SPARE_G] if closed else min(lanes[i + SPARE_G], lanes[i + SPARE_H])
        lanes[i + SHADE] = min(lanes[i + SHADE] + hidden, ONE)


@picture_kernel
def close_in_turned(lanes, row, hulls, low, high):
    """Lower NEAR_GAP and FAR_GAP to the distance of the surface from the points ``low`` and ``high`` above others."""
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = rotation_of(row)
    wx, wy, wz = position_of(row)
    for i in range(LANES):
        px = lanes[i + PX] - wx
        py = lanes[i + PY] - wy
        pz = lanes[i + PZ] - wz
        nx = lanes[i + NX]
        ny = lanes[i + NY]
        nz = lanes[i + NZ]
        x = r0 * px + r3 * py + r6 * pz
        y = r1 * px + r4 * py + r7 * pz
        z = r2 * px + r5 * py + r8 * pz
        dx = r0 * nx + r3 * ny + r6 * nz
        dy = r1 * nx + r4 * ny + r7 * nz
        dz = r2 * nx + r5 * ny + r8 * nz
        ax, ay = x + low * dx, y + low * dy
        bx, by = x + high * dx, y + high * dy
        lanes[i + SPARE_A] = np.sqrt(ax * ax + ay * ay)
        lanes[i + SPARE_B] = z + low * dz
        lanes[i + SPARE_C] = np.sqrt(bx * bx + by * by)
        lanes[i + SPARE_D] = z + high * dz
        lanes[i + SPARE_E] = BIG
        lanes[i + SPARE_F] = BIG
    first = int(row[G_HULL])
    for k in range(first, first + 2 * int(row[G_HULL_COUNT]), 2):
        ra, za = hulls[k, 0], hulls[k, 1]
        dr, dz = hulls[k, 2] - ra, hulls[k, 3] - za
        inverse = ONE / (dr * dr + dz * dz)
        for i in range(LANES):
            p, q = lanes[i + SPARE_A] - ra, lanes[i + SPARE_B] - za
            share = min(max((p * dr + q * dz) * inverse, ZERO), ONE)
            p -= share * dr
            q -= share * dz
            lanes[i + SPARE_E] = min(lanes[i + SPARE_E], p * p + q * q)
            p, q = lanes[i + SPARE_C] - ra, lanes[i + SPARE_D] - za
            share = min(max((p * dr + q * dz) * inverse, ZERO), ONE)
            p -= share * dr
            q -= share * dz
            lanes[i + SPARE_F] = min(lanes[i + SPARE_F], p * p + q * q)
    for i in range(LANES):
        lanes[i + NEAR_GAP] = min(lanes[i + NEAR_GAP], np.sqrt(lanes[i + SPARE_E]))
        lanes[i + FAR_GAP] = min(lanes[i + FAR_GAP], np.sqrt(lanes[i + SPARE_F]))
