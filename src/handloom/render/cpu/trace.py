"""Carry one batch of rays through all stages: visibility, surface, shadows, ambient occlusion, shading.

The functions that hand the whole scene on are inlined: a call would count a reference up and down for each of its
thirty arrays, which at ten calls per tile is a seventh of a frame.
"""

import numpy as np

from handloom.kernels import picture_kernel
from handloom.render.cpu.ambient import close_in
from handloom.render.cpu.layout import (
    BANDS,
    BIG,
    BLUE,
    C_BOTTOM,
    C_INVERSE,
    C_LEFT,
    C_RIGHT,
    C_TOP,
    FACE,
    FAR_GAP,
    G_POS,
    G_ROT,
    G_TYPE,
    GLOW,
    GREEN,
    HALF,
    ID,
    L_BAND_LOW,
    L_BAND_SCALE,
    L_POS,
    L_RADIUS,
    L_SHADOW,
    L_U,
    L_V,
    L_W,
    LANES,
    LIGHT_B,
    LIGHT_G,
    LIGHT_R,
    METAL,
    NEAR_GAP,
    NEARNESS,
    NX,
    NY,
    NZ,
    ONE,
    OPACITY,
    PLANE,
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
    SPARE_E,
    SPARE_F,
    SPECULAR,
    START,
    TINY,
    TRIANGLES,
    V_AXES,
    V_EYE,
    V_NEAR,
    V_PIXEL,
    W_AO_FLOOR,
    W_AO_HIGH,
    W_AO_LOW,
    ZERO,
    T,
    U,
    V,
)
from handloom.render.cpu.reduce import bounds
from handloom.render.cpu.shading import add_light, add_soft_light, shade_surface
from handloom.render.cpu.shadow import shade
from handloom.render.cpu.surface import covers, describe, find_face
from handloom.render.cpu.triangles import cast_triangles, orient_triangles, shade_triangles
from handloom.render.cpu.visibility import cast

# Surface points are lifted by this much before shadows are computed, against float32 noise [m].
LIFT = np.float32(2e-4)
# The next layer behind something transparent starts this much farther [m].
LAYER_GAP = np.float32(1e-4)
# At most this many things are seen behind something transparent.
MAX_LAYERS = 4
# Penumbras are mitred at corners and reach farther there, by this factor at a right angle.
MITRE = np.float32(1.42)
# Below this distance along a light's axis its picture plane is of no use for culling [m].
LIGHT_NEAR = np.float32(0.02)


@picture_kernel
def find_candidates(canvas, row, first, last):
    """List the geoms whose outline touches tile columns ``first`` to ``last`` of a row; return their number."""
    count = 0
    for g in range(canvas.first.shape[1]):
        if canvas.first[row, g] <= last and first < canvas.last[row, g]:
            canvas.candidates[count] = g
            count += 1
    return count


@picture_kernel
def _clear_surface(lanes, view):
    """Set all lanes to open sky: the normal is the direction of the ray."""
    r0, r1, r2 = view[V_AXES], view[V_AXES + 1], view[V_AXES + 2]
    r3, r4, r5 = view[V_AXES + 3], view[V_AXES + 4], view[V_AXES + 5]
    r6, r7, r8 = view[V_AXES + 6], view[V_AXES + 7], view[V_AXES + 8]
    ex, ey, ez = view[V_EYE], view[V_EYE + 1], view[V_EYE + 2]
    for i in range(LANES):
        u = lanes[i + U]
        v = lanes[i + V]
        scale = ONE / np.sqrt(u * u + v * v + ONE)
        lanes[i + NX] = (r0 * u + r1 * v + r2) * scale
        lanes[i + NY] = (r3 * u + r4 * v + r5) * scale
        lanes[i + NZ] = (r6 * u + r7 * v + r8) * scale
        lanes[i + PX] = ex
        lanes[i + PY] = ey
        lanes[i + PZ] = ez
        lanes[i + RED] = ZERO
        lanes[i + GREEN] = ZERO
        lanes[i + BLUE] = ZERO
        lanes[i + SPECULAR] = ZERO
        lanes[i + SHININESS] = ONE
        lanes[i + METAL] = ZERO
        lanes[i + GLOW] = ZERO
        lanes[i + OPACITY] = ONE


@picture_kernel
def _clear_light(lanes):
    """Start with no light."""
    for i in range(LANES):
        lanes[i + LIGHT_R] = ZERO
        lanes[i + LIGHT_G] = ZERO
        lanes[i + LIGHT_B] = ZERO
        lanes[i + SHINE_R] = ZERO
        lanes[i + SHINE_G] = ZERO
        lanes[i + SHINE_B] = ZERO


@picture_kernel
def _pick_casters(picked, casters, radius, left, right, top, bottom, farthest):
    """Mark the geoms that can stand between a light and a patch of its picture plane, by their bounding rectangles.

    The rectangle is widened by the penumbra, ``radius (1 / w_geom - 1 / w_surface)``, next to nothing for things that
    stand on the surface.
    """
    lefts, rights, tops, bottoms = casters[C_LEFT], casters[C_RIGHT], casters[C_TOP], casters[C_BOTTOM]
    inverses = casters[C_INVERSE]
    inverse = ONE / farthest
    for g in range(inverses.shape[0]):
        margin = MITRE * radius * (inverses[g] - inverse)
        inside = (lefts[g] - margin <= right) & (rights[g] + margin >= left)
        inside = inside & (tops[g] - margin <= bottom) & (bottoms[g] + margin >= top)
        picked[g] = inside & (margin >= ZERO)


@picture_kernel
def _outline_touches(band, light, margin, left, right, top, bottom):
    """Tell whether a geom's outline touches the patch, band by band: most of a slanted link's rectangle is empty."""
    low = light[L_BAND_LOW]
    scale = light[L_BAND_SCALE]
    first = int(min(max((top - margin - low) * scale, ZERO), np.float32(BANDS - 1)))
    last = int(min(max((bottom + margin - low) * scale, ZERO), np.float32(BANDS - 1)))
    for b in range(first, last + 1):  # noqa: SIM110 - Numba knows no generators
        if band[b, 0] - margin <= right and band[b, 1] + margin >= left:
            return True
    return False


@picture_kernel
def _shadow_patch(lanes, light):
    """Return the patch of a light's picture plane that holds the lit surface points.

    Left, right, top, bottom and the farthest distance along its axis; left exceeds right when it reaches none of them.
    NEARNESS is filled on the way.
    """
    lx, ly, lz = light[L_POS], light[L_POS + 1], light[L_POS + 2]
    ux, uy, uz = light[L_U], light[L_U + 1], light[L_U + 2]
    vx, vy, vz = light[L_V], light[L_V + 1], light[L_V + 2]
    wx, wy, wz = light[L_W], light[L_W + 1], light[L_W + 2]
    for i in range(LANES):
        x = lx - lanes[i + PX]
        y = ly - lanes[i + PY]
        z = lz - lanes[i + PZ]
        lit = (lanes[i + ID] >= ZERO) & (x * lanes[i + NX] + y * lanes[i + NY] + z * lanes[i + NZ] > ZERO)
        w = x * wx + y * wy + z * wz
        lanes[i + NEARNESS] = ONE / np.sqrt(x * x + y * y + z * z + TINY)
        inverse = ONE / max(w, LIGHT_NEAR)
        u = (x * ux + y * uy + z * uz) * inverse
        v = (x * vx + y * vy + z * vz) * inverse
        lanes[i + SPARE_A] = u if lit else BIG
        lanes[i + SPARE_B] = u if lit else -BIG
        lanes[i + SPARE_C] = v if lit else BIG
        lanes[i + SPARE_D] = v if lit else -BIG
        lanes[i + SPARE_E] = w if lit else BIG
        lanes[i + SPARE_F] = w if lit else -BIG
    left, right, top, bottom, nearest, farthest = bounds(lanes)
    if nearest < LIGHT_NEAR:
        return -BIG, BIG, -BIG, BIG, BIG
    return left, right, top, bottom, farthest


@picture_kernel
def _sole_geom(lanes):
    """Return the geom that fills a block, or -1: a convex geom throws no shadow on itself."""
    first = lanes[ID]
    others = 0
    for i in range(LANES):
        others += lanes[i + ID] != first
    return first if others == 0 else -ONE


@picture_kernel
def _cast_shadows(lanes, scene, canvas, k, sole):
    """Fill SHADE for light ``k`` from the geoms that can stand between it and the surface points."""
    light = scene.lights[k]
    casters = scene.casters[k]
    for i in range(LANES):
        lanes[i + SHADE] = ZERO
    left, right, top, bottom, farthest = _shadow_patch(lanes, light)
    if right < left:
        return
    radius = light[L_RADIUS]
    _pick_casters(canvas.picked, casters, radius, left, right, top, bottom, farthest)
    inverse = ONE / farthest
    for word in range(canvas.picked_words.shape[0]):
        if canvas.picked_words[word] == 0:
            continue
        for g in range(8 * word, 8 * word + 8):
            if canvas.picked[g] == 0:
                continue
            gid = np.float32(g)
            mesh = scene.geoms[g, G_TYPE] == TRIANGLES
            margin = MITRE * radius * (casters[C_INVERSE, g] - inverse)
            if sole == gid and not mesh:
                continue
            if _outline_touches(scene.bands[k, g], light, margin, left, right, top, bottom):
                if mesh:
                    shade_triangles(lanes, scene.geoms[g], casters[:, g], scene.meshes, light)
                else:
                    shade(lanes, scene.geoms[g], gid, casters[:, g], scene.hulls, light)


@picture_kernel
def _pick_near(picked, boxes, low, high, reach):
    """Mark the geoms whose bounds come closer than ``reach`` to the box between ``low`` and ``high``."""
    x0, y0, z0, x1, y1, z1 = boxes[0], boxes[1], boxes[2], boxes[3], boxes[4], boxes[5]
    ax, ay, az = low[0] - reach, low[1] - reach, low[2] - reach
    bx, by, bz = high[0] + reach, high[1] + reach, high[2] + reach
    for g in range(x0.shape[0]):
        near = (x0[g] <= bx) & (y0[g] <= by) & (z0[g] <= bz) & (x1[g] >= ax) & (y1[g] >= ay) & (z1[g] >= az)
        picked[g] = near


@picture_kernel(inline="always")
def _plane_is_near(row, low, high, reach):
    """Tell whether any point between ``low`` and ``high`` lies less than ``reach`` above a plane."""
    nx, ny, nz = row[G_ROT + 2], row[G_ROT + 5], row[G_ROT + 8]
    height = (
        nx * ((low[0] if nx > ZERO else high[0]) - row[G_POS])
        + ny * ((low[1] if ny > ZERO else high[1]) - row[G_POS + 1])
        + nz * ((low[2] if nz > ZERO else high[2]) - row[G_POS + 2])
    )
    return height < reach


@picture_kernel
def _occlude(lanes, scene, canvas, sole):
    """Turn the free distance above each surface point into the ambient factor, left in NEAR_GAP.

    A geom matters only when it comes closer than ``far`` to a point ``far`` above the surface; then it need not be
    looked at twice for the lower point, whose sphere lies inside that of the upper one.
    """
    world = scene.world
    near, far, floor = world[W_AO_LOW], world[W_AO_HIGH], world[W_AO_FLOOR]
    for i in range(LANES):
        lanes[i + NEAR_GAP] = near
        lanes[i + FAR_GAP] = far
        hit = lanes[i + ID] >= ZERO
        x = lanes[i + PX] + far * lanes[i + NX]
        y = lanes[i + PY] + far * lanes[i + NY]
        z = lanes[i + PZ] + far * lanes[i + NZ]
        lanes[i + SPARE_A] = x if hit else BIG
        lanes[i + SPARE_B] = x if hit else -BIG
        lanes[i + SPARE_C] = y if hit else BIG
        lanes[i + SPARE_D] = y if hit else -BIG
        lanes[i + SPARE_E] = z if hit else BIG
        lanes[i + SPARE_F] = z if hit else -BIG
    x0, x1, y0, y1, z0, z1 = bounds(lanes)
    low = (x0, y0, z0)
    high = (x1, y1, z1)
    if high[0] < low[0]:
        return
    _pick_near(canvas.picked, scene.boxes, low, high, far)
    for word in range(canvas.picked_words.shape[0]):
        if canvas.picked_words[word] == 0:
            continue
        for g in range(8 * word, 8 * word + 8):
            # Nothing above a convex surface is closer to it than its height, so a geom does not occlude itself.
            if canvas.picked[g] == 0 or sole == np.float32(g):
                continue
            row = scene.geoms[g]
            if int(row[G_TYPE]) != PLANE or _plane_is_near(row, low, high, far):
                close_in(lanes, row, near, far)
    a = HALF * (ONE - floor) / near
    b = HALF * (ONE - floor) / far
    for i in range(LANES):
        lanes[i + NEAR_GAP] = floor + a * max(lanes[i + NEAR_GAP], ZERO) + b * max(lanes[i + FAR_GAP], ZERO)


@picture_kernel
def cast_all(lanes, candidates, count, scene, layer):
    """Cast the rays against all candidates; callees in this loop get single arrays."""
    geoms = scene.geoms
    hulls = scene.hulls
    for k in range(count):
        g = candidates[k]
        if geoms[g, G_TYPE] == TRIANGLES:
            cast_triangles(lanes, geoms[g], scene.meshes, np.float32(g))
        else:
            cast(lanes, geoms, g, hulls, layer)


@picture_kernel(inline="always")
def find_nearest(lanes, candidates, count, scene, view):
    """Fill T and ID of ``n`` rays from the candidate geoms."""
    near = view[V_NEAR]
    for i in range(LANES):
        lanes[i + START] = near
        lanes[i + T] = BIG
        lanes[i + ID] = -ONE
    cast_all(lanes, candidates, count, scene, 0)


@picture_kernel
def find_next(lanes, candidates, count, scene, layer):
    """Fill T and ID with what lies behind the present hits."""
    for i in range(LANES):
        lanes[i + START] = lanes[i + T] + LAYER_GAP
        lanes[i + T] = BIG
        lanes[i + ID] = -ONE
    cast_all(lanes, candidates, count, scene, layer)


@picture_kernel
def find_surface(lanes, candidates, count, scene, canvas, view):
    """Fill point, normal, face and material; open sky where nothing was hit."""
    _clear_surface(lanes, view)
    for i in range(LANES):
        lanes[i + FACE] = ZERO
    geoms, hulls, textures, texels = scene.geoms, scene.hulls, scene.textures, scene.texels
    best, corners, pixel = canvas.best, canvas.corners, view[V_PIXEL]
    for k in range(count):
        g = candidates[k]
        if not covers(lanes, np.float32(g)):
            continue
        if geoms[g, G_TYPE] == TRIANGLES:
            orient_triangles(lanes, geoms[g], scene.meshes, np.float32(g))
        describe(lanes, geoms[g], np.float32(g), hulls, textures, texels, best, corners, pixel)


@picture_kernel(inline="always")
def find_faces(lanes, candidates, count, scene, best):
    """Fill FACE only, for the anti-aliasing of creases."""
    for i in range(LANES):
        lanes[i + FACE] = ZERO
    geoms, hulls = scene.geoms, scene.hulls
    for k in range(count):
        find_face(lanes, geoms, candidates[k], hulls, best)


@picture_kernel
def light_up(lanes, scene, canvas, view, shadows, occlusion):
    """Turn surfaces into screen colours 0..255 in RED, GREEN, BLUE."""
    _clear_light(lanes)
    for i in range(LANES):
        lanes[i + PX] += LIFT * lanes[i + NX]
        lanes[i + PY] += LIFT * lanes[i + NY]
        lanes[i + PZ] += LIFT * lanes[i + NZ]
        lanes[i + NEAR_GAP] = ONE
    sole = _sole_geom(lanes)
    for k in range(scene.lights.shape[0]):
        if shadows and scene.lights[k, L_SHADOW] > ZERO:
            _cast_shadows(lanes, scene, canvas, k, sole)
            add_light(lanes, scene.lights[k], view)
        else:
            add_soft_light(lanes, scene.lights[k], view)
    if occlusion:
        _occlude(lanes, scene, canvas, sole)
    shade_surface(lanes, scene.world, view)


@picture_kernel(inline="always")
def is_clear(lanes):
    """Tell whether any lane shows something transparent."""
    count = 0
    for i in range(LANES):
        count += lanes[i + OPACITY] < ONE
    return count > 0


@picture_kernel
def shade_behind(lanes, candidates, scene, canvas, view, shadows, occlusion):
    """Blend what lies behind transparent hits, layer by layer, on screen, as GL does. Destroys T, ID and OPACITY."""
    layers = canvas.layers
    alpha_left = canvas.layers[3 * LANES :]
    for i in range(LANES):
        alpha = lanes[i + OPACITY]
        layers[i] = lanes[i + RED] * alpha
        layers[i + LANES] = lanes[i + GREEN] * alpha
        layers[i + 2 * LANES] = lanes[i + BLUE] * alpha
        alpha_left[i] = ONE - alpha
    for layer in range(1, 1 + MAX_LAYERS):
        find_next(lanes, canvas.candidates, candidates, scene, layer)
        find_surface(lanes, canvas.candidates, candidates, scene, canvas, view)
        light_up(lanes, scene, canvas, view, shadows, occlusion)
        for i in range(LANES):
            weight = alpha_left[i] * lanes[i + OPACITY]
            layers[i] += lanes[i + RED] * weight
            layers[i + LANES] += lanes[i + GREEN] * weight
            layers[i + 2 * LANES] += lanes[i + BLUE] * weight
            alpha_left[i] -= weight
        if not is_clear(lanes):
            break
    for i in range(LANES):
        lanes[i + RED] = layers[i]
        lanes[i + GREEN] = layers[i + LANES]
        lanes[i + BLUE] = layers[i + 2 * LANES]
