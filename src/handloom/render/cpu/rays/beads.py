"""Beads: many balls of one size and material, such as the grains of a fluid, rendered as one geom.

Every stage has a cost per geom; three hundred grains with a row each doubled the time of an image. As one row, they are
culled together by a box around all of them, and a batch of rays that hits the box searches the centres in vector code.
Geom ids, depths, normals and shadows are those of separate spheres; beads are ignored in ambient occlusion, like other
hollow shapes.
"""

import numpy as np

from handloom.kernels import picture_kernel
from handloom.render.cpu.layout import (
    BEAD_BLOCK,
    C_POS,
    E_MARK,
    E_X,
    E_Y,
    E_Z,
    FACE,
    G_BOX,
    G_HALF,
    G_HULL_COUNT,
    G_SIZE,
    HALF,
    ID,
    L_RADIUS,
    L_U,
    L_V,
    L_W,
    LANES,
    NEARNESS,
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
    START,
    TRIANGLE,
    VECTOR,
    ZERO,
    T,
    U,
    V,
)
from handloom.render.cpu.light.penumbra import CONTACT
from handloom.render.cpu.rays.geom_frame import eye_of, rays_of
from handloom.render.cpu.rays.space import bounds

# A bead nearer to a light than this has no position in its image plane and is never culled [m].
LIGHT_NEAR = np.float32(0.02)
# The box around a bead is less than this many radii wide from any side; penumbras extend as far at a corner.
CORNER = np.float32(1.75)


@picture_kernel(inline="always")
def place_of_bead(k):
    """Return the index of a bead in the table of beads."""
    return k // VECTOR * BEAD_BLOCK + k % VECTOR


@picture_kernel(entry=True)
def place_beads(row, beads, positions):
    """Write the centres (n, 3) [m] into the table, and the box around all beads into their row."""
    radius = row[G_SIZE]
    for a in range(3):
        low = positions[0, a]
        high = positions[0, a]
        for k in range(positions.shape[0]):
            beads[place_of_bead(k) + E_X + a * VECTOR] = positions[k, a]
            low = min(low, positions[k, a])
            high = max(high, positions[k, a])
        # The table rounds to 32 bits, at a metre to a ten-millionth of it.
        row[G_BOX + a] = 0.5 * (low + high)
        row[G_HALF + a] = 0.5 * (high - low) + 1.001 * radius + 1e-6


@picture_kernel
def _mark_seen(beads, count, eye, rays, radius, left, right, top, bottom):
    """Mark the beads that reach into the pyramid of rays between left and right, top and bottom."""
    ox, oy, oz = eye
    ax, ay, az, bx, by, bz, cx, cy, cz = rays
    width_l, width_r = np.sqrt(left * left + ONE) * radius, np.sqrt(right * right + ONE) * radius
    width_t, width_b = np.sqrt(top * top + ONE) * radius, np.sqrt(bottom * bottom + ONE) * radius
    for block in range((count + VECTOR - 1) // VECTOR):
        for lane in range(VECTOR):
            i = lane + block * BEAD_BLOCK
            x, y, z = beads[i + E_X] - ox, beads[i + E_Y] - oy, beads[i + E_Z] - oz
            u = x * ax + y * ay + z * az
            v = x * bx + y * by + z * bz
            w = x * cx + y * cy + z * cz
            seen = (u - left * w > -width_l) & (u - right * w < width_r)
            seen = seen & (v - top * w > -width_t) & (v - bottom * w < width_b) & (w > -radius)
            beads[i + E_MARK] = ONE if seen else ZERO


@picture_kernel
def cast_beads(lanes, row, beads, gid):
    """Keep the nearest hits with the beads in T, ID and TRIANGLE (the number of the bead)."""
    ox, oy, oz = eye_of(row)
    ax, ay, az, bx, by, bz, cx, cy, cz = rays_of(row)
    for i in range(LANES):
        lanes[i + SPARE_A] = lanes[i + U]
        lanes[i + SPARE_B] = lanes[i + U]
        lanes[i + SPARE_C] = lanes[i + V]
        lanes[i + SPARE_D] = lanes[i + V]
        lanes[i + SPARE_E] = ZERO
        lanes[i + SPARE_F] = ZERO
    left, right, top, bottom, _, _ = bounds(lanes)
    radius, count = row[G_SIZE], int(row[G_HULL_COUNT])
    _mark_seen(beads, count, (ox, oy, oz), (ax, ay, az, bx, by, bz, cx, cy, cz), radius, left, right, top, bottom)
    for i in range(LANES):
        u = lanes[i + U]
        v = lanes[i + V]
        x = u * ax + v * bx + cx
        y = u * ay + v * by + cy
        z = u * az + v * bz + cz
        lanes[i + SPARE_A] = x
        lanes[i + SPARE_B] = y
        lanes[i + SPARE_C] = z
        lanes[i + SPARE_D] = ONE / (x * x + y * y + z * z)
    for k in range(count):
        at = place_of_bead(k)
        if beads[at + E_MARK] > ZERO:
            px, py, pz = ox - beads[at + E_X], oy - beads[at + E_Y], oz - beads[at + E_Z]
            _cast_bead(lanes, px, py, pz, radius * radius, gid, np.float32(k))


@picture_kernel
def _cast_bead(lanes, ox, oy, oz, r2, gid, number):
    """Solve for the entering hit around the point of closest approach, as for other spheres."""
    for i in range(LANES):
        x = lanes[i + SPARE_A]
        y = lanes[i + SPARE_B]
        z = lanes[i + SPARE_C]
        a = lanes[i + SPARE_D]
        middle = -(ox * x + oy * y + oz * z) * a
        qx = ox + middle * x
        qy = oy + middle * y
        qz = oz + middle * z
        gap = r2 - (qx * qx + qy * qy + qz * qz)
        t = middle - np.sqrt(max(gap, ZERO) * a)
        best = lanes[i + T]
        hit = (gap > ZERO) & (t > lanes[i + START]) & (t < best)
        lanes[i + T] = t if hit else best
        lanes[i + ID] = gid if hit else lanes[i + ID]
        lanes[i + TRIANGLE] = number if hit else lanes[i + TRIANGLE]


@picture_kernel
def number_beads(lanes, gid):
    """Make every bead its own face, so that edges between beads are anti-aliased."""
    for i in range(LANES):
        lanes[i + FACE] = lanes[i + TRIANGLE] if lanes[i + ID] == gid else lanes[i + FACE]


@picture_kernel
def orient_beads(lanes, row, beads, gid):
    """Write normals and faces of the lanes that show a bead; their surface points are already known."""
    scale = ONE / row[G_SIZE]
    for i in range(LANES):
        if lanes[i + ID] == gid:
            at = place_of_bead(int(lanes[i + TRIANGLE]))
            lanes[i + NX] = (lanes[i + PX] - beads[at + E_X]) * scale
            lanes[i + NY] = (lanes[i + PY] - beads[at + E_Y]) * scale
            lanes[i + NZ] = (lanes[i + PZ] - beads[at + E_Z]) * scale
    number_beads(lanes, gid)


@picture_kernel
def _mark_between(beads, count, radius, caster, light, patch):
    """Mark the beads that can be between a light and the surface points of a patch of its image plane."""
    lx, ly, lz = caster[C_POS], caster[C_POS + VECTOR], caster[C_POS + 2 * VECTOR]
    ux, uy, uz = light[L_U], light[L_U + 1], light[L_U + 2]
    vx, vy, vz = light[L_V], light[L_V + 1], light[L_V + 2]
    wx, wy, wz = light[L_W], light[L_W + 1], light[L_W + 2]
    left, right, top, bottom, farthest = patch[0], patch[1], patch[2], patch[3], patch[4]
    lamp, around = CORNER * light[L_RADIUS], CORNER * radius
    inverse = ONE / farthest
    for block in range((count + VECTOR - 1) // VECTOR):
        for lane in range(VECTOR):
            i = lane + block * BEAD_BLOCK
            x, y, z = lx - beads[i + E_X], ly - beads[i + E_Y], lz - beads[i + E_Z]
            w = x * wx + y * wy + z * wz - around
            nearest = ONE / max(w, LIGHT_NEAR)
            u = (x * ux + y * uy + z * uz) * nearest
            v = (x * vx + y * vy + z * vz) * nearest
            penumbra = lamp * (nearest - inverse)
            # Dividing by the smallest distance moves the centre outwards, by its fraction of the bead's depth.
            reach = (around + around * max(abs(u), abs(v)) + around) * nearest + penumbra
            inside = (u - reach <= right) & (u + reach >= left) & (v - reach <= bottom) & (v + reach >= top)
            beads[i + E_MARK] = ONE if (inside & (penumbra >= ZERO)) | (w < LIGHT_NEAR) else ZERO


@picture_kernel
def shade_beads(lanes, row, gid, beads, caster, light, patch):
    """Raise SHADE where beads hide the light from the surface points; a bead casts no shadow on itself."""
    radius, count, lamp = row[G_SIZE], int(row[G_HULL_COUNT]), light[L_RADIUS]
    lx, ly, lz = caster[C_POS], caster[C_POS + VECTOR], caster[C_POS + 2 * VECTOR]
    _mark_between(beads, count, radius, caster, light, patch)
    for i in range(LANES):
        lanes[i + SPARE_A] = lanes[i + TRIANGLE] if lanes[i + ID] == gid else -ONE
    for k in range(count):
        at = place_of_bead(k)
        if beads[at + E_MARK] > ZERO:
            _shade_bead(
                lanes, (beads[at + E_X], beads[at + E_Y], beads[at + E_Z]), (lx, ly, lz), radius, lamp, np.float32(k)
            )


@picture_kernel
def _shade_bead(lanes, center, light, radius, lamp, number):
    """Raise SHADE by one bead; see ``penumbra``."""
    cx, cy, cz = center
    lx, ly, lz = light
    for i in range(LANES):
        ox, oy, oz = lanes[i + PX] - cx, lanes[i + PY] - cy, lanes[i + PZ] - cz
        x, y, z = lx - lanes[i + PX], ly - lanes[i + PY], lz - lanes[i + PZ]
        nearness = lanes[i + NEARNESS]
        t = min(max(-(ox * x + oy * y + oz * z) * nearness * nearness, ZERO), ONE)
        p, q, r = ox + t * x, oy + t * y, oz + t * z
        gap = np.sqrt(p * p + q * q + r * r) - radius
        hidden = min(max(HALF - HALF * gap / (lamp * t + CONTACT), ZERO), ONE)
        lanes[i + SHADE] = min(lanes[i + SHADE] + (hidden if lanes[i + SPARE_A] != number else ZERO), ONE)
