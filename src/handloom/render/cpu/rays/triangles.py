"""Triangle meshes: a whole batch of rays walks the hierarchy together.

Rays of a tile are coherent, so a node is tested against all lanes in vector code and entered when any of them needs it.
Camera rays share their origin, which turns the triangle test into three dot products with constants per triangle.
"""

import numpy as np

from handloom.kernels import picture_kernel
from handloom.render.cpu.layout import (
    C_POS,
    G_HULL,
    G_HULL_COUNT,
    ID,
    L_RADIUS,
    L_U,
    L_V,
    LANES,
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
    SPARE_I,
    SPARE_J,
    SPARE_K,
    START,
    TINY,
    TRIANGLE,
    VECTOR,
    ZERO,
    T,
    U,
    V,
)
from handloom.render.cpu.rays.geom_frame import eye_of, position_of, rays_of, rotation_of

# Neighbouring triangles overlap by this much in barycentric coordinates, so that no ray slips between them.
SEAM = np.float32(1e-6)
# A lamp is four points on its disc, in units of its radius along its two axes.
LAMP_U = (np.float32(0.6), np.float32(-0.25), np.float32(-0.6), np.float32(0.25))
LAMP_V = (np.float32(0.25), np.float32(0.6), np.float32(-0.25), np.float32(-0.6))
LAMP_WEIGHT = np.float32(0.25)
# Shadow rays ignore the first part of their way, against hits on the surface they start from.
SHADOW_START = np.float32(1e-3)


@picture_kernel
def _invert_directions(lanes):
    """Write one over the direction in spares A, B, C to spares D, E, F."""
    for i in range(LANES):
        lanes[i + SPARE_D] = ONE / (lanes[i + SPARE_A] + TINY)
        lanes[i + SPARE_E] = ONE / (lanes[i + SPARE_B] + TINY)
        lanes[i + SPARE_F] = ONE / (lanes[i + SPARE_C] + TINY)


@picture_kernel
def _eye_sees(lanes, box, ox, oy, oz):
    """Count the camera rays that enter a box before their nearest hit so far."""
    x0, y0, z0 = box[0] - ox, box[1] - oy, box[2] - oz
    x1, y1, z1 = box[3] - ox, box[4] - oy, box[5] - oz
    count = 0
    for i in range(LANES):
        ix = lanes[i + SPARE_D]
        iy = lanes[i + SPARE_E]
        iz = lanes[i + SPARE_F]
        ax, bx = x0 * ix, x1 * ix
        ay, by = y0 * iy, y1 * iy
        az, bz = z0 * iz, z1 * iz
        enter = max(min(ax, bx), min(ay, by), min(az, bz))
        leave = min(max(ax, bx), max(ay, by), max(az, bz))
        count += (enter <= leave) & (leave > lanes[i + START]) & (enter < lanes[i + T])
    return count


@picture_kernel
def cast_triangles(lanes, row, meshes, gid):
    """Keep the nearest hits with a triangle mesh in T, ID and TRIANGLE."""
    ox, oy, oz = eye_of(row)
    ax, ay, az, bx, by, bz, cx, cy, cz = rays_of(row)
    for i in range(LANES):
        u = lanes[i + U]
        v = lanes[i + V]
        lanes[i + SPARE_A] = u * ax + v * bx + cx
        lanes[i + SPARE_B] = u * ay + v * by + cy
        lanes[i + SPARE_C] = u * az + v * bz + cz
    _invert_directions(lanes)
    node = int(row[G_HULL])
    end = node + int(row[G_HULL_COUNT])
    while node < end:
        if _eye_sees(lanes, meshes.boxes[node], ox, oy, oz) == 0:
            node = meshes.links[node, 0]
            continue
        first = meshes.links[node, 1]
        for k in range(first, first + meshes.links[node, 2]):
            _cast_triangle(lanes, meshes.triangles[k], ox, oy, oz, gid, np.float32(k))
        node += 1


@picture_kernel
def _cast_triangle(lanes, triangle, ox, oy, oz, gid, number):
    """Möller-Trumbore for rays from one point: det = -d . (e1 x e2), u = d . (e2 x s), v = d . (s x e1)."""
    px, py, pz = triangle[3], triangle[4], triangle[5]
    qx, qy, qz = triangle[6], triangle[7], triangle[8]
    sx, sy, sz = ox - triangle[0], oy - triangle[1], oz - triangle[2]
    nx, ny, nz = py * qz - pz * qy, pz * qx - px * qz, px * qy - py * qx
    ux, uy, uz = qy * sz - qz * sy, qz * sx - qx * sz, qx * sy - qy * sx
    vx, vy, vz = sy * pz - sz * py, sz * px - sx * pz, sx * py - sy * px
    height = qx * vx + qy * vy + qz * vz
    for i in range(LANES):
        x = lanes[i + SPARE_A]
        y = lanes[i + SPARE_B]
        z = lanes[i + SPARE_C]
        inverse = ONE / -(x * nx + y * ny + z * nz)
        u = (x * ux + y * uy + z * uz) * inverse
        v = (x * vx + y * vy + z * vz) * inverse
        t = height * inverse
        best = lanes[i + T]
        hit = (u >= -SEAM) & (v >= -SEAM) & (u + v <= ONE + SEAM) & (t > lanes[i + START]) & (t < best)
        lanes[i + T] = t if hit else best
        lanes[i + ID] = gid if hit else lanes[i + ID]
        lanes[i + TRIANGLE] = number if hit else lanes[i + TRIANGLE]


@picture_kernel
def orient_triangles(lanes, row, meshes, gid):
    """Write the interpolated normal, turned towards the camera; leave texture coordinates in spares D and E.

    The texture lookup, which comes next, leaves spares D and E alone.
    """
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = rotation_of(row)
    ox, oy, oz = eye_of(row)
    ax, ay, az, bx, by, bz, cx, cy, cz = rays_of(row)
    for i in range(LANES):
        if lanes[i + ID] != gid:
            continue
        k = int(lanes[i + TRIANGLE])
        triangle = meshes.triangles[k]
        normal = meshes.normals[k]
        coords = meshes.texcoords[k]
        ray_u, ray_v, t = lanes[i + U], lanes[i + V], lanes[i + T]
        hx = ox + t * (ray_u * ax + ray_v * bx + cx)
        hy = oy + t * (ray_u * ay + ray_v * by + cy)
        hz = oz + t * (ray_u * az + ray_v * bz + cz)
        dx, dy, dz = hx - triangle[0], hy - triangle[1], hz - triangle[2]
        px, py, pz = triangle[3], triangle[4], triangle[5]
        qx, qy, qz = triangle[6], triangle[7], triangle[8]
        pp, pq, qq = px * px + py * py + pz * pz, px * qx + py * qy + pz * qz, qx * qx + qy * qy + qz * qz
        dp, dq = dx * px + dy * py + dz * pz, dx * qx + dy * qy + dz * qz
        inverse = ONE / max(pp * qq - pq * pq, TINY * TINY)
        u = (qq * dp - pq * dq) * inverse
        v = (pp * dq - pq * dp) * inverse
        w = ONE - u - v
        nx = w * normal[0] + u * normal[3] + v * normal[6]
        ny = w * normal[1] + u * normal[4] + v * normal[7]
        nz = w * normal[2] + u * normal[5] + v * normal[8]
        length = np.sqrt(nx * nx + ny * ny + nz * nz) + TINY
        if (ox - hx) * nx + (oy - hy) * ny + (oz - hz) * nz < ZERO:
            length = -length
        nx /= length
        ny /= length
        nz /= length
        lanes[i + NX] = r0 * nx + r1 * ny + r2 * nz
        lanes[i + NY] = r3 * nx + r4 * ny + r5 * nz
        lanes[i + NZ] = r6 * nx + r7 * ny + r8 * nz
        lanes[i + SPARE_D] = w * coords[0] + u * coords[2] + v * coords[4]
        lanes[i + SPARE_E] = w * coords[1] + u * coords[3] + v * coords[5]


@picture_kernel
def _lamp_sees(lanes, box):
    """Count the shadow rays, from spares G, H, I, that cross a box and are not blocked yet (spare J is 0)."""
    x0, y0, z0, x1, y1, z1 = box[0], box[1], box[2], box[3], box[4], box[5]
    count = 0
    for i in range(LANES):
        ix = lanes[i + SPARE_D]
        iy = lanes[i + SPARE_E]
        iz = lanes[i + SPARE_F]
        ax, bx = (x0 - lanes[i + SPARE_G]) * ix, (x1 - lanes[i + SPARE_G]) * ix
        ay, by = (y0 - lanes[i + SPARE_H]) * iy, (y1 - lanes[i + SPARE_H]) * iy
        az, bz = (z0 - lanes[i + SPARE_I]) * iz, (z1 - lanes[i + SPARE_I]) * iz
        enter = max(min(ax, bx), min(ay, by), min(az, bz))
        leave = min(max(ax, bx), max(ay, by), max(az, bz))
        count += (enter <= leave) & (leave > SHADOW_START) & (enter < ONE) & (lanes[i + SPARE_J] == ZERO)
    return count


@picture_kernel
def _block(lanes, triangle):
    """Set spare J to 1 where the shadow ray of a lane crosses a triangle, from either side."""
    cx, cy, cz = triangle[0], triangle[1], triangle[2]
    px, py, pz = triangle[3], triangle[4], triangle[5]
    qx, qy, qz = triangle[6], triangle[7], triangle[8]
    nx, ny, nz = py * qz - pz * qy, pz * qx - px * qz, px * qy - py * qx
    for i in range(LANES):
        x = lanes[i + SPARE_A]
        y = lanes[i + SPARE_B]
        z = lanes[i + SPARE_C]
        sx = lanes[i + SPARE_G] - cx
        sy = lanes[i + SPARE_H] - cy
        sz = lanes[i + SPARE_I] - cz
        inverse = ONE / -(x * nx + y * ny + z * nz)
        mx, my, mz = sy * z - sz * y, sz * x - sx * z, sx * y - sy * x
        u = (qx * mx + qy * my + qz * mz) * inverse
        v = -(px * mx + py * my + pz * mz) * inverse
        t = (sx * nx + sy * ny + sz * nz) * inverse
        hit = (u >= -SEAM) & (v >= -SEAM) & (u + v <= ONE + SEAM) & (t > SHADOW_START) & (t < ONE)
        lanes[i + SPARE_J] = ONE if hit else lanes[i + SPARE_J]


@picture_kernel
def shade_triangles(lanes, row, caster, meshes, light):
    """Raise SHADE by the share of four points of the lamp that the mesh hides from each surface point."""
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = rotation_of(row)
    wx, wy, wz = position_of(row)
    radius = light[L_RADIUS]
    for i in range(LANES):
        px = lanes[i + PX] - wx
        py = lanes[i + PY] - wy
        pz = lanes[i + PZ] - wz
        lanes[i + SPARE_G] = r0 * px + r3 * py + r6 * pz
        lanes[i + SPARE_H] = r1 * px + r4 * py + r7 * pz
        lanes[i + SPARE_I] = r2 * px + r5 * py + r8 * pz
        lanes[i + SPARE_K] = ZERO
    for sample in range(4):
        a = LAMP_U[sample] * radius
        b = LAMP_V[sample] * radius
        dx = a * light[L_U] + b * light[L_V]
        dy = a * light[L_U + 1] + b * light[L_V + 1]
        dz = a * light[L_U + 2] + b * light[L_V + 2]
        lx = caster[C_POS] + r0 * dx + r3 * dy + r6 * dz
        ly = caster[C_POS + VECTOR] + r1 * dx + r4 * dy + r7 * dz
        lz = caster[C_POS + 2 * VECTOR] + r2 * dx + r5 * dy + r8 * dz
        for i in range(LANES):
            lanes[i + SPARE_A] = lx - lanes[i + SPARE_G]
            lanes[i + SPARE_B] = ly - lanes[i + SPARE_H]
            lanes[i + SPARE_C] = lz - lanes[i + SPARE_I]
            lanes[i + SPARE_J] = ZERO
        _invert_directions(lanes)
        node = int(row[G_HULL])
        end = node + int(row[G_HULL_COUNT])
        while node < end:
            if _lamp_sees(lanes, meshes.boxes[node]) == 0:
                node = meshes.links[node, 0]
                continue
            first = meshes.links[node, 1]
            for k in range(first, first + meshes.links[node, 2]):
                _block(lanes, meshes.triangles[k])
            node += 1
        for i in range(LANES):
            lanes[i + SPARE_K] += LAMP_WEIGHT * lanes[i + SPARE_J]
    for i in range(LANES):
        lanes[i + SHADE] = max(lanes[i + SHADE], lanes[i + SPARE_K])
