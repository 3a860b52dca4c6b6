"""Surfaces: point, normal, face and material of every lane whose nearest geom is the given one."""

import numpy as np

from handloom.kernels import picture_kernel
from handloom.render.cpu.layout import (
    BEADS,
    BIG,
    BLUE,
    BOX,
    CAPSULE,
    CYLINDER,
    ELLIPSOID,
    FACE,
    G_ALPHA,
    G_COLOR,
    G_EDGE,
    G_GLOW,
    G_HULL,
    G_HULL_COUNT,
    G_METAL,
    G_SHININESS,
    G_SPECULAR,
    G_TEXTURE,
    G_TYPE,
    GLOW,
    GREEN,
    HALF,
    ID,
    LANES,
    MESH,
    METAL,
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
    SHININESS,
    SPARE_A,
    SPARE_B,
    SPARE_C,
    SPECULAR,
    TINY,
    TRIANGLES,
    TURNED,
    ZERO,
    T,
    U,
    V,
)
from handloom.render.cpu.model.texture import sample_texture
from handloom.render.cpu.rays.beads import number_beads, orient_beads
from handloom.render.cpu.rays.geom_frame import eye_of, position_of, rays_of, rotation_of, size_of
from handloom.render.cpu.rays.turned import orient_turned, paint_band


@picture_kernel
def _paint(lanes, row, gid):
    """Write the material of the geom."""
    red, green, blue = row[G_COLOR], row[G_COLOR + 1], row[G_COLOR + 2]
    specular, shininess, metal, glow, alpha = (
        row[G_SPECULAR],
        row[G_SHININESS],
        row[G_METAL],
        row[G_GLOW],
        row[G_ALPHA],
    )
    for i in range(LANES):
        mine = lanes[i + ID] == gid
        lanes[i + RED] = red if mine else lanes[i + RED]
        lanes[i + GREEN] = green if mine else lanes[i + GREEN]
        lanes[i + BLUE] = blue if mine else lanes[i + BLUE]
        lanes[i + SPECULAR] = specular if mine else lanes[i + SPECULAR]
        lanes[i + SHININESS] = shininess if mine else lanes[i + SHININESS]
        lanes[i + METAL] = metal if mine else lanes[i + METAL]
        lanes[i + GLOW] = glow if mine else lanes[i + GLOW]
        lanes[i + OPACITY] = alpha if mine else lanes[i + OPACITY]


@picture_kernel
def _locate(lanes, row):
    """Write the hit point in the geom frame to the three spare quantities."""
    ox, oy, oz = eye_of(row)
    ax, ay, az, bx, by, bz, cx, cy, cz = rays_of(row)
    for i in range(LANES):
        u = lanes[i + U]
        v = lanes[i + V]
        t = lanes[i + T]
        lanes[i + SPARE_A] = ox + t * (u * ax + v * bx + cx)
        lanes[i + SPARE_B] = oy + t * (u * ay + v * by + cy)
        lanes[i + SPARE_C] = oz + t * (u * az + v * bz + cz)


@picture_kernel
def _place(lanes, row, gid):
    """Write the hit point in the world."""
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = rotation_of(row)
    wx, wy, wz = position_of(row)
    for i in range(LANES):
        x = lanes[i + SPARE_A]
        y = lanes[i + SPARE_B]
        z = lanes[i + SPARE_C]
        mine = lanes[i + ID] == gid
        lanes[i + PX] = r0 * x + r1 * y + r2 * z + wx if mine else lanes[i + PX]
        lanes[i + PY] = r3 * x + r4 * y + r5 * z + wy if mine else lanes[i + PY]
        lanes[i + PZ] = r6 * x + r7 * y + r8 * z + wz if mine else lanes[i + PZ]


@picture_kernel(inline="always")
def _turn(lanes, i, rotation, nx, ny, nz, gid):
    """Write the unit normal given in the geom frame, if the lane shows the geom."""
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = rotation
    mine = lanes[i + ID] == gid
    lanes[i + NX] = r0 * nx + r1 * ny + r2 * nz if mine else lanes[i + NX]
    lanes[i + NY] = r3 * nx + r4 * ny + r5 * nz if mine else lanes[i + NY]
    lanes[i + NZ] = r6 * nx + r7 * ny + r8 * nz if mine else lanes[i + NZ]


@picture_kernel
def _orient_box(lanes, rotation, size, gid):
    ex, ey, ez = ONE / size[0], ONE / size[1], ONE / size[2]
    for i in range(LANES):
        x = lanes[i + SPARE_A]
        y = lanes[i + SPARE_B]
        z = lanes[i + SPARE_C]
        p, q, r = abs(x) * ex, abs(y) * ey, abs(z) * ez
        on_x = (p >= q) & (p >= r)
        on_y = (not on_x) & (q >= r)
        nx = (ONE if x > ZERO else -ONE) if on_x else ZERO
        ny = (ONE if y > ZERO else -ONE) if on_y else ZERO
        nz = ZERO if on_x | on_y else (ONE if z > ZERO else -ONE)
        face = nx + np.float32(2) * ny + np.float32(4) * nz
        lanes[i + FACE] = face if lanes[i + ID] == gid else lanes[i + FACE]
        _turn(lanes, i, rotation, nx, ny, nz, gid)


@picture_kernel(inline="always")
def _bend(lanes, i, rotation, nx, ny, nz, share, gid):
    """Bend the normal towards one given in the geom frame, by a fraction."""
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = rotation
    ox, oy, oz = lanes[i + NX], lanes[i + NY], lanes[i + NZ]
    x = ox + share * (r0 * nx + r1 * ny + r2 * nz - ox)
    y = oy + share * (r3 * nx + r4 * ny + r5 * nz - oy)
    z = oz + share * (r6 * nx + r7 * ny + r8 * nz - oz)
    scale = ONE / np.sqrt(x * x + y * y + z * z + TINY)
    mine = lanes[i + ID] == gid
    lanes[i + NX] = x * scale if mine else ox
    lanes[i + NY] = y * scale if mine else oy
    lanes[i + NZ] = z * scale if mine else oz


@picture_kernel(inline="always")
def _edge_share(lanes, i, edge, pixel):
    """Return the visible fraction of a rounded edge: 0 if it is half a pixel wide, since it would flicker."""
    return min(max(edge / (lanes[i + T] * pixel + TINY) - HALF, ZERO), ONE)


@picture_kernel
def _round_box(lanes, rotation, size, edge, pixel, gid):
    """Bend the normals of a box near its edges, as if the edges were rounded."""
    sx, sy, sz = size[0] - edge, size[1] - edge, size[2] - edge
    for i in range(LANES):
        x = lanes[i + SPARE_A]
        y = lanes[i + SPARE_B]
        z = lanes[i + SPARE_C]
        nx = max(abs(x) - sx, ZERO)
        ny = max(abs(y) - sy, ZERO)
        nz = max(abs(z) - sz, ZERO)
        scale = ONE / np.sqrt(nx * nx + ny * ny + nz * nz + TINY * TINY)
        nx = (nx if x > ZERO else -nx) * scale
        ny = (ny if y > ZERO else -ny) * scale
        nz = (nz if z > ZERO else -nz) * scale
        _bend(lanes, i, rotation, nx, ny, nz, _edge_share(lanes, i, edge, pixel), gid)


@picture_kernel
def _round_cylinder(lanes, rotation, size, edge, pixel, gid):
    """Bend the normals of a cylinder near its rims, as if the rims were rounded."""
    sr, sz = size[0] - edge, size[1] - edge
    for i in range(LANES):
        x = lanes[i + SPARE_A]
        y = lanes[i + SPARE_B]
        z = lanes[i + SPARE_C]
        radius = np.sqrt(x * x + y * y + TINY * TINY)
        out = max(radius - sr, ZERO)
        nz = max(abs(z) - sz, ZERO)
        scale = ONE / np.sqrt(out * out + nz * nz + TINY * TINY)
        out *= scale / radius
        nz = (nz if z > ZERO else -nz) * scale
        _bend(lanes, i, rotation, x * out, y * out, nz, _edge_share(lanes, i, edge, pixel), gid)


@picture_kernel
def _orient_plane(lanes, rotation, gid):
    for i in range(LANES):
        _turn(lanes, i, rotation, ZERO, ZERO, ONE, gid)


@picture_kernel
def _orient_cylinder(lanes, rotation, size, gid):
    sx, sy, _ = size
    for i in range(LANES):
        x = lanes[i + SPARE_A]
        y = lanes[i + SPARE_B]
        z = lanes[i + SPARE_C]
        radius = np.sqrt(x * x + y * y + TINY * TINY)
        scale = ONE / radius
        cap = abs(z) - sy > radius - sx
        nx = ZERO if cap else x * scale
        ny = ZERO if cap else y * scale
        nz = (ONE if z > ZERO else -ONE) if cap else ZERO
        face = ONE if cap else ZERO
        lanes[i + FACE] = face if lanes[i + ID] == gid else lanes[i + FACE]
        _turn(lanes, i, rotation, nx, ny, nz, gid)


@picture_kernel
def _orient_round(lanes, rotation, scales, length, gid):
    """Write normals of a capsule of half length ``length``, or of a sphere or ellipsoid with weighted axes."""
    ex, ey, ez = scales
    for i in range(LANES):
        z = lanes[i + SPARE_C]
        nx = lanes[i + SPARE_A] * ex
        ny = lanes[i + SPARE_B] * ey
        nz = (z - min(max(z, -length), length)) * ez
        scale = ONE / np.sqrt(nx * nx + ny * ny + nz * nz + TINY * TINY)
        _turn(lanes, i, rotation, nx * scale, ny * scale, nz * scale, gid)


@picture_kernel
def _orient(lanes, row, pixel, gid):
    """Write the outward normal of a primitive, from the hit point in its frame; one loop per kind, without branches."""
    kind = int(row[G_TYPE])
    size = size_of(row)
    rotation = rotation_of(row)
    if kind == BOX:
        _orient_box(lanes, rotation, size, gid)
        if row[G_EDGE] > ZERO:
            _round_box(lanes, rotation, size, row[G_EDGE], pixel, gid)
    elif kind == CYLINDER:
        _orient_cylinder(lanes, rotation, size, gid)
        if row[G_EDGE] > ZERO:
            _round_cylinder(lanes, rotation, size, row[G_EDGE], pixel, gid)
    elif kind == PLANE:
        _orient_plane(lanes, rotation, gid)
    elif kind == CAPSULE:
        _orient_round(lanes, rotation, (ONE, ONE, ONE), size[1], gid)
    elif kind == ELLIPSOID:
        scales = (ONE / (size[0] * size[0]), ONE / (size[1] * size[1]), ONE / (size[2] * size[2]))
        _orient_round(lanes, rotation, scales, ZERO, gid)
    else:
        _orient_round(lanes, rotation, (ONE, ONE, ONE), ZERO, gid)


@picture_kernel
def _number_polytope(lanes, row, hulls, gid, best):
    """Write to FACE the number of the half space whose plane is nearest to the hit point; ``best`` is scratch."""
    for i in range(LANES):
        best[i] = -BIG
    first = int(row[G_HULL])
    for f in range(first, first + int(row[G_HULL_COUNT])):
        p = hulls[f, 0]
        q = hulls[f, 1]
        r = hulls[f, 2]
        offset = hulls[f, 3]
        face = np.float32(f - first)
        for i in range(LANES):
            height = lanes[i + SPARE_A] * p + lanes[i + SPARE_B] * q + lanes[i + SPARE_C] * r - offset
            higher = height > best[i]
            best[i] = height if higher else best[i]
            lanes[i + FACE] = face if higher & (lanes[i + ID] == gid) else lanes[i + FACE]


@picture_kernel
def _orient_polytope(lanes, row, hulls, gid, best):
    """Write face and normal of the half space whose plane is nearest to the hit point; ``best`` is scratch."""
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = rotation_of(row)
    _number_polytope(lanes, row, hulls, gid, best)
    first = int(row[G_HULL])
    for i in range(LANES):
        if lanes[i + ID] == gid:
            f = first + int(lanes[i + FACE])
            p, q, r = hulls[f, 0], hulls[f, 1], hulls[f, 2]
            lanes[i + NX] = r0 * p + r1 * q + r2 * r
            lanes[i + NY] = r3 * p + r4 * q + r5 * r
            lanes[i + NZ] = r6 * p + r7 * q + r8 * r


@picture_kernel
def covers(lanes, gid):
    """Return whether any lane shows the geom."""
    count = 0
    for i in range(LANES):
        count += lanes[i + ID] == gid
    return count > 0


@picture_kernel
def find_face(lanes, geoms, g, hulls, best):
    """Fill FACE (and possibly the normal) of the lanes whose nearest geom is ``g``, if it has creases."""
    gid = np.float32(g)
    row = geoms[g]
    kind = int(row[G_TYPE])
    if kind not in (BOX, CYLINDER, MESH, BEADS, TURNED) or not covers(lanes, gid):
        return
    if kind == BEADS:
        number_beads(lanes, gid)
        return
    _locate(lanes, row)
    if kind == MESH:
        _number_polytope(lanes, row, hulls, gid, best)
    elif kind == TURNED:
        orient_turned(lanes, row, hulls, gid)
    else:
        _orient(lanes, row, ONE, gid)


@picture_kernel
def describe(lanes, row, gid, hulls, beads, textures, texels, best, corners, pixel):
    """Fill point, normal, face and material of the lanes whose nearest geom is ``gid``; a mesh already has its normals.

    Args:
        lanes: Flat batch of rays, see ``layout``.
        row: Geom row.
        gid: Its number, as float32.
        hulls: Half spaces (k, 4).
        beads: Table of beads.
        textures: Texture table.
        texels: All texels.
        best: Scratch (LANES,) float32.
        corners: Scratch (4 * LANES,) int32.
        pixel: Size of a pixel at depth 1 [m], for the choice of the texture level.
    """
    _locate(lanes, row)
    _place(lanes, row, gid)
    kind = int(row[G_TYPE])
    if kind == MESH:
        _orient_polytope(lanes, row, hulls, gid, best)
    elif kind == BEADS:
        orient_beads(lanes, row, beads, gid)
    elif kind == TURNED:
        orient_turned(lanes, row, hulls, gid)
    elif kind != TRIANGLES:
        _orient(lanes, row, pixel, gid)
    _paint(lanes, row, gid)
    if kind == TURNED:
        paint_band(lanes, row, gid)
    if row[G_TEXTURE] >= ZERO:
        sample_texture(lanes, row, gid, textures, texels, corners, pixel)
