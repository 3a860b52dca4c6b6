"""All stages for one batch of rays: visibility, surface, shadows, ambient occlusion, shading.

Functions that pass on the whole scene are inlined: a call would count references to each of its thirty arrays, which at
ten calls per tile takes a seventh of a frame.
"""

import numpy as np

from handloom.kernels import picture_kernel
from handloom.render.cpu.layout import (
    BEADS,
    BIG,
    BLUE,
    FACE,
    G_DEPTH,
    G_TYPE,
    GLOW,
    GREEN,
    ID,
    L_SHADOW,
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
    OPACITY,
    PX,
    PY,
    PZ,
    RED,
    SHINE_B,
    SHINE_G,
    SHINE_R,
    SHININESS,
    SPECULAR,
    START,
    SURFACE,
    TRIANGLES,
    TURNED,
    V_AXES,
    V_EYE,
    V_NEAR,
    V_PIXEL,
    ZERO,
    T,
    U,
    V,
)
from handloom.render.cpu.light.occlude import occlude
from handloom.render.cpu.light.shading import add_light, add_soft_light, shade_surface
from handloom.render.cpu.light.shadow_culling import cast_shadows
from handloom.render.cpu.rays.beads import cast_beads
from handloom.render.cpu.rays.space import bound, greatest
from handloom.render.cpu.rays.surface import covers, describe, find_face
from handloom.render.cpu.rays.triangles import cast_triangles, orient_triangles
from handloom.render.cpu.rays.turned import cast_turned
from handloom.render.cpu.rays.visibility import cast

# Surface points are lifted by this much before shadows are computed, because of float32 noise [m].
LIFT = np.float32(2e-4)
# The next layer behind a transparent surface starts this much farther [m].
LAYER_GAP = np.float32(1e-4)
# Maximum number of objects shown behind a transparent surface.
MAX_LAYERS = 4


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
    """Reset the light."""
    for i in range(LANES):
        lanes[i + LIGHT_R] = ZERO
        lanes[i + LIGHT_G] = ZERO
        lanes[i + LIGHT_B] = ZERO
        lanes[i + SHINE_R] = ZERO
        lanes[i + SHINE_G] = ZERO
        lanes[i + SHINE_B] = ZERO


@picture_kernel
def _nearest_first(candidates, count, geoms):
    """Sort the candidates by the depth at which they start."""
    for k in range(1, count):
        g = candidates[k]
        depth = geoms[g, G_DEPTH]
        place = k
        while place > 0 and geoms[candidates[place - 1], G_DEPTH] > depth:
            candidates[place] = candidates[place - 1]
            place -= 1
        candidates[place] = g


@picture_kernel
def cast_all(lanes, candidates, count, scene, layer):
    """Cast the rays against all candidates, until the next one starts behind all hits.

    Callees in this loop get single arrays.
    """
    geoms = scene.geoms
    hulls = scene.hulls
    _nearest_first(candidates, count, geoms)
    for k in range(count):
        g = candidates[k]
        if k > 0 and geoms[g, G_DEPTH] > greatest(lanes, T):
            break
        if geoms[g, G_TYPE] == BEADS:
            cast_beads(lanes, geoms[g], scene.beads, np.float32(g))
        elif geoms[g, G_TYPE] == TRIANGLES:
            cast_triangles(lanes, geoms[g], scene.meshes, np.float32(g))
        elif geoms[g, G_TYPE] == TURNED:
            cast_turned(lanes, geoms[g], hulls, np.float32(g))
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
    """Fill T and ID with the hits behind the current ones."""
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
        describe(lanes, geoms[g], np.float32(g), hulls, scene.beads, textures, texels, best, corners, pixel)


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
    if shadows or occlusion:
        bound(lanes, ZERO, BIG, ZERO, canvas.spaces[SURFACE])
    for k in range(scene.lights.shape[0]):
        if shadows and scene.lights[k, L_SHADOW] > ZERO:
            cast_shadows(lanes, scene, canvas, k)
            add_light(lanes, scene.lights[k], view)
        else:
            add_soft_light(lanes, scene.lights[k], view)
    if occlusion:
        occlude(lanes, scene, canvas)
    shade_surface(lanes, scene.world, view)


@picture_kernel(inline="always")
def is_clear(lanes):
    """Return whether any lane shows something transparent."""
    count = 0
    for i in range(LANES):
        count += lanes[i + OPACITY] < ONE
    return count > 0


@picture_kernel
def shade_behind(lanes, candidates, scene, canvas, view, shadows, occlusion):
    """Blend the surfaces behind transparent hits, layer by layer, in screen colours, like OpenGL.

    Destroys T, ID and OPACITY.
    """
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
