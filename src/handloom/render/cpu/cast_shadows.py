"""Shadows of a batch: find the geoms between a light and its surface points, ever more closely, and let them shade.

First all geoms at once by rectangles in the light's picture plane, then each one that is left against planes, then
against every lane by its turned rectangle; only one in ten of the first comes through, and shading costs the most.
"""

import numpy as np

from handloom.kernels import picture_kernel
from handloom.render.cpu.layout import (
    BIG,
    C_ACROSS_HIGH,
    C_ACROSS_LOW,
    C_ALONG_HIGH,
    C_ALONG_LOW,
    C_BOTTOM,
    C_DIRECTION,
    C_INVERSE,
    C_LEFT,
    C_POS,
    C_RIGHT,
    C_TOP,
    G_BOX,
    G_HALF,
    G_TYPE,
    ID,
    L_POS,
    L_RADIUS,
    L_U,
    L_V,
    L_W,
    LAMP_INVERSE,
    LAMP_X,
    LAMP_Y,
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
    SURFACE,
    TINY,
    TRIANGLES,
    ZERO,
)
from handloom.render.cpu.reduce import bounds
from handloom.render.cpu.shadow import CONTACT, shade
from handloom.render.cpu.space import box_along
from handloom.render.cpu.triangles import shade_triangles

# Penumbras are mitred at corners and reach farther there, by this factor at a right angle.
MITRE = np.float32(1.42)
# Below this distance along a light's axis its picture plane is of no use for culling [m].
LIGHT_NEAR = np.float32(0.02)


@picture_kernel
def _find_patch(lanes, light):
    """Return the patch of a light's picture plane that holds the lit surface points.

    Left, right, top, bottom and the farthest distance along its axis; left exceeds right when it reaches none of them.
    NEARNESS and the places of the points are filled on the way.
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
        lanes[i + LAMP_X] = u if lit else BIG
        lanes[i + LAMP_Y] = v
        lanes[i + LAMP_INVERSE] = inverse
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
def pick_casters(picked, casters, radius, patch):
    """Mark the geoms that can stand between a light and a patch of its picture plane, by their bounding rectangles.

    The rectangle is widened by the penumbra, ``radius (1 / w_geom - 1 / w_surface)``, next to nothing for things that
    stand on the surface.
    """
    lefts, rights, tops, bottoms = casters[C_LEFT], casters[C_RIGHT], casters[C_TOP], casters[C_BOTTOM]
    inverses = casters[C_INVERSE]
    left, right, top, bottom = patch[0], patch[1], patch[2], patch[3]
    inverse = ONE / patch[4]
    for g in range(inverses.shape[0]):
        margin = MITRE * radius * (inverses[g] - inverse)
        inside = (lefts[g] - margin <= right) & (rights[g] + margin >= left)
        inside = inside & (tops[g] - margin <= bottom) & (bottoms[g] + margin >= top)
        picked[g] = inside & (margin >= ZERO)


@picture_kernel
def may_shade(row, caster, space, radius):
    """Tell whether a geom can hide a light from a point of a space; not when a face of its box has both before it.

    At ``t`` on the way to the light a penumbra is ``radius t`` wide, and CONTACT more. Both ends of the way are that
    far from the face, so all of it is.
    """
    for j in range(3):
        center, half = box_along(row, j, space)
        lamp = caster[C_POS + j] - row[G_BOX + j]
        edge = row[G_HALF + j] + CONTACT
        if (center - half > edge and lamp - radius > edge) or (center + half < -edge and lamp + radius < -edge):
            return False
    return True


@picture_kernel
def _may_shade_others(row, gid, caster, canvas, groups, radius):
    """Tell whether a geom can hide a light from a point of any group but its own."""
    for k in range(groups):
        if canvas.group_ids[k] != gid and may_shade(row, caster, canvas.group_spaces[k, SURFACE], radius):
            return True
    return False


@picture_kernel
def _any_behind(lanes, caster, radius, gid):
    """Tell whether any lane lies in the turned rectangle of a geom, widened by its own penumbra, and behind it.

    Lanes that show geom ``gid`` do not count.
    """
    x, y = caster[C_DIRECTION], caster[C_DIRECTION + 1]
    a0, a1, b0, b1 = caster[C_ALONG_LOW], caster[C_ALONG_HIGH], caster[C_ACROSS_LOW], caster[C_ACROSS_HIGH]
    inverse = caster[C_INVERSE]
    widest = MITRE * radius
    count = 0
    for i in range(LANES):
        u = lanes[i + LAMP_X]
        v = lanes[i + LAMP_Y]
        margin = widest * (inverse - lanes[i + LAMP_INVERSE])
        along = u * x + v * y
        across = v * x - u * y
        inside = (along >= a0 - margin) & (along <= a1 + margin) & (across >= b0 - margin) & (across <= b1 + margin)
        count += inside & (margin >= ZERO) & (lanes[i + ID] != gid)
    return count > 0


@picture_kernel
def join_patch(patches, k, patch):
    """Widen the patch in row ``k`` so that it holds another."""
    for i in range(0, 4, 2):
        patches[k, i] = min(patches[k, i], patch[i])
        patches[k, i + 1] = max(patches[k, i + 1], patch[i + 1])
    patches[k, 4] = max(patches[k, 4], patch[4])


@picture_kernel
def cast_shadows(lanes, scene, canvas, k, groups):
    """Fill SHADE for light ``k`` from the geoms that can stand between it and the surface points.

    Args:
        lanes: Flat batch with surface points and normals.
        scene: ``SceneArrays``.
        canvas: ``CanvasArrays`` with the groups of the batch; geoms that may shade are noted as touching.
        k: Row of the light.
        groups: Number of groups of the batch.
    """
    light = scene.lights[k]
    casters = scene.casters[k]
    for i in range(LANES):
        lanes[i + SHADE] = ZERO
    patch = _find_patch(lanes, light)
    if patch[1] < patch[0]:
        return
    join_patch(canvas.patches, k, patch)
    radius = light[L_RADIUS]
    endless = patch[4] >= BIG
    pick_casters(canvas.picked, casters, radius, patch)
    for word in range(canvas.picked_words.shape[0]):
        if canvas.picked_words[word] == 0:
            continue
        for g in range(8 * word, 8 * word + 8):
            caster = casters[:, g]
            row = scene.geoms[g]
            if canvas.picked[g] == 0 or not may_shade(row, caster, canvas.spaces[SURFACE], radius):
                continue
            canvas.touching[g] = 1
            mesh = row[G_TYPE] == TRIANGLES
            gid = np.float32(g)
            # A convex geom throws no shadow on itself; a mesh is no geom of its own here.
            own = BIG if mesh else gid
            if not _may_shade_others(row, own, caster, canvas, groups, radius):
                continue
            if not (endless or _any_behind(lanes, caster, radius, own)):
                continue
            if mesh:
                shade_triangles(lanes, row, caster, scene.meshes, light)
            else:
                shade(lanes, row, gid, caster, scene.hulls, light)
