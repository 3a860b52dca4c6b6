"""Shadows of a batch of surface points: cull the geoms that cast none in two passes, then shade with the rest.

The first pass culls all geoms at once by rectangles in the light's image plane and by the faces of their boxes, the
second culls each remaining geom per surface point (a lane of the batch) by its rotated rectangle. A quarter remains.
"""

import numpy as np

from handloom.kernels import picture_kernel
from handloom.render.cpu.layout import (
    B_CENTER,
    B_HALF,
    BEADS,
    BIG,
    BOX_BLOCK,
    C_ACROSS_HIGH,
    C_ACROSS_LOW,
    C_ALONG_HIGH,
    C_ALONG_LOW,
    C_BOTTOM,
    C_DIRECTION,
    C_INVERSE,
    C_LEFT,
    C_RIGHT,
    C_TOP,
    CASTER_BLOCK,
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
    TURNED,
    VECTOR,
    ZERO,
)
from handloom.render.cpu.light.penumbra import CONTACT, shade
from handloom.render.cpu.light.turned_light import shade_turned
from handloom.render.cpu.rays.beads import shade_beads
from handloom.render.cpu.rays.space import bounds, box_along, middle_of
from handloom.render.cpu.rays.triangles import MITRE, shade_triangles

# Below this distance along a light's axis, its image plane is useless for culling [m].
LIGHT_NEAR = np.float32(0.02)


@picture_kernel
def _find_patch(lanes, light):
    """Return the patch of a light's image plane that holds the lit surface points.

    Left, right, top, bottom and the largest distance along its axis; left exceeds right if there are no lit points.
    NEARNESS and the positions of the points are also written.
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


@picture_kernel(inline="always")
def _face_between(boxes, i, caster, j, center, half, radius):
    """Return whether both a space and a light are in front of one of a box's two faces along axis ``j``.

    At ``t`` on the path to the light, a penumbra is ``radius t`` wide, plus CONTACT. Both ends of the path have at
    least this distance from the face, and so does all of it.
    """
    edge = boxes[i + j + B_HALF] + CONTACT
    before = (center - half > edge) & (caster - radius > edge)
    return before | ((center + half < -edge) & (caster + radius < -edge))


@picture_kernel
def pick_casters(picked, casters, boxes, light, patch, space):
    """Mark the geoms that can be between a light and some surface points.

    By upright rectangles in the light's image plane, widened by the penumbra, which is
    ``radius (1 / w_geom - 1 / w_surface)``, almost zero for objects that stand on the surface; and by the faces of
    bounding boxes.

    Args:
        picked: Marks (g rounded up to VECTOR,).
        casters: Caster table of the light.
        boxes: Table of bounding boxes.
        light: Light row.
        patch: Patch of the image plane that holds the points.
        space: Bounds of the points.
    """
    radius = light[L_RADIUS]
    lx, ly, lz = light[L_POS], light[L_POS + 1], light[L_POS + 2]
    left, right, top, bottom = patch[0], patch[1], patch[2], patch[3]
    inverse = ONE / patch[4]
    px, py, pz, dx, dy, dz = middle_of(space)
    for block in range(boxes.shape[0] // BOX_BLOCK):
        for lane in range(VECTOR):
            i = lane + block * BOX_BLOCK
            k = lane + block * CASTER_BLOCK
            margin = MITRE * radius * (casters[k + C_INVERSE] - inverse)
            inside = (casters[k + C_LEFT] - margin <= right) & (casters[k + C_RIGHT] + margin >= left)
            inside = inside & (casters[k + C_TOP] - margin <= bottom) & (casters[k + C_BOTTOM] + margin >= top)
            cx, cy, cz = boxes[i + B_CENTER], boxes[i + B_CENTER + VECTOR], boxes[i + B_CENTER + 2 * VECTOR]
            x, y, z = px - cx, py - cy, pz - cz
            u, v, w = lx - cx, ly - cy, lz - cz
            apart = False
            for j in (0, VECTOR, 2 * VECTOR):
                center, half = box_along(boxes, i, j, x, y, z, dx, dy, dz)
                lamp, _ = box_along(boxes, i, j, u, v, w, ZERO, ZERO, ZERO)
                apart = apart | _face_between(boxes, i, lamp, j, center, half, radius)
            picked[block * VECTOR + lane] = inside & (margin >= ZERO) & (not apart)


@picture_kernel
def _any_behind(lanes, caster, radius, gid):
    """Return whether any lane lies in the rotated rectangle of a geom, widened by its own penumbra, and behind it.

    Lanes that show geom ``gid``, or that are already completely dark, do not count.
    """
    x, y = caster[C_DIRECTION], caster[C_DIRECTION + VECTOR]
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
        count += inside & (margin >= ZERO) & (lanes[i + ID] != gid) & (lanes[i + SHADE] < ONE)
    return count > 0


@picture_kernel(inline="always")
def cast_shadows(lanes, scene, canvas, k):
    """Fill SHADE for light ``k`` from the geoms that can be between it and the surface points.

    Args:
        lanes: Flat batch with surface points and normals.
        scene: ``SceneArrays``.
        canvas: ``CanvasArrays`` with the space of the batch; its patch is written, geoms that may cast shadows are
            marked.
        k: Row of the light.
    """
    light = scene.lights[k]
    for i in range(LANES):
        lanes[i + SHADE] = ZERO
    patch = canvas.patches[k]
    patch[0], patch[1], patch[2], patch[3], patch[4] = _find_patch(lanes, light)
    if patch[1] < patch[0]:
        return
    radius = light[L_RADIUS]
    endless = patch[4] >= BIG
    pick_casters(canvas.picked, scene.casters[k], scene.boxes, light, patch, canvas.spaces[SURFACE])
    for word in range(canvas.picked_words.shape[0]):
        if canvas.picked_words[word] == 0:
            continue
        canvas.touching_words[word] |= canvas.picked_words[word]
        for g in range(8 * word, 8 * word + 8):
            if canvas.picked[g] == 0:
                continue
            caster = scene.casters[k, g // VECTOR * CASTER_BLOCK + g % VECTOR :]
            row = scene.geoms[g]
            gid = np.float32(g)
            mesh = row[G_TYPE] == TRIANGLES
            beads = row[G_TYPE] == BEADS
            turned = row[G_TYPE] == TURNED
            # A convex geom casts no shadow on itself; a mesh or a vessel does, and so does a bead on another bead.
            if not (endless or _any_behind(lanes, caster, radius, BIG if mesh or beads or turned else gid)):
                continue
            if mesh:
                shade_triangles(lanes, row, caster, scene.meshes, light, endless)
            elif beads:
                shade_beads(lanes, row, gid, scene.beads, caster, light, patch)
            elif turned:
                shade_turned(lanes, row, caster, scene.hulls, light)
            else:
                shade(lanes, row, gid, caster, scene.hulls, light)
