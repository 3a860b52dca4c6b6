"""Triangle meshes: every ray goes through a hierarchy of boxes by itself."""

import numpy as np

from handloom.kernels import picture_kernel
from handloom.render.cpu.layout import (
    BIG,
    C_ACROSS_HIGH,
    C_ACROSS_LOW,
    C_ALONG_HIGH,
    C_ALONG_LOW,
    C_DIRECTION,
    C_INVERSE,
    C_POS,
    G_HULL,
    G_HULL_COUNT,
    ID,
    L_RADIUS,
    L_U,
    L_V,
    LAMP_INVERSE,
    LAMP_X,
    LAMP_Y,
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
# More than the step to the next number, so that hits at the same depth are not culled.
AS_NEAR = np.float32(1 + 3e-7)
# A lamp is four points on its disc, in units of its radius along its two axes.
LAMP_U = (np.float32(0.6), np.float32(-0.25), np.float32(-0.6), np.float32(0.25))
LAMP_V = (np.float32(0.25), np.float32(0.6), np.float32(-0.25), np.float32(-0.6))
LAMP_POINTS = 4
LAMP_WEIGHT = np.float32(0.25)
# Penumbras are mitred at corners and reach farther there, by this factor at a right angle.
MITRE = np.float32(1.42)
# Shadow rays ignore the first part of their way, against hits on the surface they start from.
SHADOW_START = np.float32(1e-3)


@picture_kernel(inline="always")
def _entry(box, ox, oy, oz, ix, iy, iz, start, best):
    """Return where a ray enters a box, or BIG when it does not before ``best`` or leaves it before ``start``."""
    ax, bx = (box[0] - ox) * ix, (box[3] - ox) * ix
    ay, by = (box[1] - oy) * iy, (box[4] - oy) * iy
    az, bz = (box[2] - oz) * iz, (box[5] - oz) * iz
    enter = max(min(ax, bx), min(ay, by), min(az, bz))
    leave = min(max(ax, bx), max(ay, by), max(az, bz))
    return enter if (enter <= leave) & (leave > start) & (enter < best) else BIG


@picture_kernel(inline="always")
def _crossing(triangle, ox, oy, oz, x, y, z):
    """Möller-Trumbore: return t, or BIG when the ray passes the triangle by."""
    px, py, pz = triangle[3], triangle[4], triangle[5]
    qx, qy, qz = triangle[6], triangle[7], triangle[8]
    sx, sy, sz = ox - triangle[0], oy - triangle[1], oz - triangle[2]
    nx, ny, nz = py * qz - pz * qy, pz * qx - px * qz, px * qy - py * qx
    ux, uy, uz = qy * sz - qz * sy, qz * sx - qx * sz, qx * sy - qy * sx
    vx, vy, vz = sy * pz - sz * py, sz * px - sx * pz, sx * py - sy * px
    inverse = ONE / -(x * nx + y * ny + z * nz)
    u = (x * ux + y * uy + z * uz) * inverse
    v = (x * vx + y * vy + z * vz) * inverse
    t = (qx * vx + qy * vy + qz * vz) * inverse
    return t if (u >= -SEAM) & (v >= -SEAM) & (u + v <= ONE + SEAM) else BIG


@picture_kernel
def _nearest(lanes, meshes, node, eye, ray, start, best):
    """Return the nearest hit of a ray after ``start`` and before ``best``, and the number of its triangle or -1.

    The nearer child goes first. Nodes that wait are in spare A, where the ray enters them in spare B.
    """
    ox, oy, oz = eye
    x, y, z = ray
    boxes, links, triangles = meshes.boxes, meshes.links, meshes.triangles
    ix, iy, iz = ONE / (x + TINY), ONE / (y + TINY), ONE / (z + TINY)
    found, waiting = -1, 0
    if _entry(boxes[node], ox, oy, oz, ix, iy, iz, start, best) >= BIG:
        return best, found
    while node >= 0:
        count = links[node, 2]
        if count == 0:
            near, far = node + 1, links[node, 1]
            near_t = _entry(boxes[near], ox, oy, oz, ix, iy, iz, start, best)
            far_t = _entry(boxes[far], ox, oy, oz, ix, iy, iz, start, best)
            if far_t < near_t:
                near, far, near_t, far_t = far, near, far_t, near_t
            if far_t < BIG:
                lanes[waiting + SPARE_A] = np.float32(far)
                lanes[waiting + SPARE_B] = far_t
                waiting += 1
            if near_t < BIG:
                node = near
                continue
        for k in range(links[node, 1], links[node, 1] + count):
            t = _crossing(triangles[k], ox, oy, oz, x, y, z)
            if (t > start) & (t < best):
                best, found = t, k
        node = -1
        while waiting > 0 and node < 0:
            waiting -= 1
            if lanes[waiting + SPARE_B] < best:
                node = int(lanes[waiting + SPARE_A])
    return best, found


@picture_kernel
def cast_triangles(lanes, row, meshes, gid):
    """Keep the nearest hits with a triangle mesh in T, ID and TRIANGLE.

    Every ray goes through the hierarchy by itself: a mesh from a scanner has more triangles than it covers pixels, and
    two neighbouring rays share few of them.
    """
    eye = eye_of(row)
    ax, ay, az, bx, by, bz, cx, cy, cz = rays_of(row)
    root = int(row[G_HULL])
    for i in range(LANES):
        u, v = lanes[i + U], lanes[i + V]
        ray = (u * ax + v * bx + cx, u * ay + v * by + cy, u * az + v * bz + cz)
        # Of two geoms at the same depth, the one with the lesser number is seen.
        limit = lanes[i + T] * AS_NEAR if gid < lanes[i + ID] else lanes[i + T]
        t, found = _nearest(lanes, meshes, root, eye, ray, lanes[i + START], limit)
        if found >= 0 and t <= lanes[i + T]:
            lanes[i + T] = t
            lanes[i + ID] = gid
            lanes[i + TRIANGLE] = np.float32(found)


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


@picture_kernel(inline="always")
def _span(low, high, slow, fast, spread):
    """Return when a bundle of rays can be between two planes: first and last t.

    Args:
        low: Distance to the nearer plane along an axis [m].
        high: Distance to the other.
        slow: One over the least speed of the bundle along the axis.
        fast: One over the greatest.
        spread: Whether some rays go one way along the axis and some the other.
    """
    p, q = low * fast, high * slow
    return (max(p, q), BIG) if spread else (min(p, q), max(p, q))


@picture_kernel
def _place_lamp(lanes, row, caster, light):
    """Write four points of a lamp in the geom frame to spares A, B, C; return their bounds."""
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = rotation_of(row)
    x0, y0, z0, x1, y1, z1 = BIG, BIG, BIG, -BIG, -BIG, -BIG
    for s in range(LAMP_POINTS):
        a = LAMP_U[s] * light[L_RADIUS]
        b = LAMP_V[s] * light[L_RADIUS]
        dx = a * light[L_U] + b * light[L_V]
        dy = a * light[L_U + 1] + b * light[L_V + 1]
        dz = a * light[L_U + 2] + b * light[L_V + 2]
        x = caster[C_POS] + r0 * dx + r3 * dy + r6 * dz
        y = caster[C_POS + VECTOR] + r1 * dx + r4 * dy + r7 * dz
        z = caster[C_POS + 2 * VECTOR] + r2 * dx + r5 * dy + r8 * dz
        lanes[s + SPARE_A], lanes[s + SPARE_B], lanes[s + SPARE_C] = x, y, z
        x0, y0, z0 = min(x0, x), min(y0, y), min(z0, z)
        x1, y1, z1 = max(x1, x), max(y1, y), max(z1, z)
    return x0, y0, z0, x1, y1, z1


@picture_kernel
def _block(lanes, triangle, px, py, pz):
    """Mark the points of the lamp that a triangle hides from a point in spare D; return how many more they are."""
    more = 0
    for s in range(LAMP_POINTS):
        if lanes[s + SPARE_D] == ZERO:
            x, y, z = lanes[s + SPARE_A] - px, lanes[s + SPARE_B] - py, lanes[s + SPARE_C] - pz
            t = _crossing(triangle, px, py, pz, x, y, z)
            if (t > SHADOW_START) & (t < ONE):
                lanes[s + SPARE_D] = ONE
                more += 1
    return more


@picture_kernel
def _count_blocked(lanes, meshes, node, end, point, lamp):
    """Return how many points of the lamp a mesh hides from a point; the four rays go together, as a bounded bundle."""
    px, py, pz = point
    x0, y0, z0, x1, y1, z1 = lamp
    boxes, links, triangles = meshes.boxes, meshes.links, meshes.triangles
    spread_x, slow_x, fast_x = (x0 < px) & (px < x1), ONE / (x0 - px + TINY), ONE / (x1 - px + TINY)
    spread_y, slow_y, fast_y = (y0 < py) & (py < y1), ONE / (y0 - py + TINY), ONE / (y1 - py + TINY)
    spread_z, slow_z, fast_z = (z0 < pz) & (pz < z1), ONE / (z0 - pz + TINY), ONE / (z1 - pz + TINY)
    for s in range(LAMP_POINTS):
        lanes[s + SPARE_D] = ZERO
    blocked = 0
    while node < end and blocked < LAMP_POINTS:
        box = boxes[node]
        enter_x, leave_x = _span(box[0] - px, box[3] - px, slow_x, fast_x, spread_x)
        enter_y, leave_y = _span(box[1] - py, box[4] - py, slow_y, fast_y, spread_y)
        enter_z, leave_z = _span(box[2] - pz, box[5] - pz, slow_z, fast_z, spread_z)
        enter, leave = max(enter_x, enter_y, enter_z), min(leave_x, leave_y, leave_z)
        if (enter <= leave) & (leave > SHADOW_START) & (enter < ONE):
            for k in range(links[node, 1], links[node, 1] + links[node, 2]):
                blocked += _block(lanes, triangles[k], px, py, pz)
            node += 1
        else:
            node = links[node, 0]
    return blocked


@picture_kernel
def shade_triangles(lanes, row, caster, meshes, light, endless):
    """Raise SHADE by the share of four points of the lamp that the mesh hides from each surface point.

    Args:
        lanes: Flat batch with surface points and their places in the light's picture plane.
        row: Geom row of the mesh.
        caster: What the light sees of the mesh.
        meshes: ``Hierarchy`` of all meshes.
        light: Light row.
        endless: Whether the picture plane is of no use, and all points are to be looked at.
    """
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = rotation_of(row)
    wx, wy, wz = position_of(row)
    lamp = _place_lamp(lanes, row, caster, light)
    root = int(row[G_HULL])
    end = root + int(row[G_HULL_COUNT])
    for i in range(LANES):
        if lanes[i + SHADE] >= ONE or not (endless or _is_behind(lanes, i, caster, light[L_RADIUS])):
            continue
        x, y, z = lanes[i + PX] - wx, lanes[i + PY] - wy, lanes[i + PZ] - wz
        point = (r0 * x + r3 * y + r6 * z, r1 * x + r4 * y + r7 * z, r2 * x + r5 * y + r8 * z)
        blocked = _count_blocked(lanes, meshes, root, end, point, lamp)
        lanes[i + SHADE] = max(lanes[i + SHADE], LAMP_WEIGHT * np.float32(blocked))


@picture_kernel(inline="always")
def _is_behind(lanes, i, caster, radius):
    """Tell whether a lane lies in the turned rectangle of a geom, widened by its own penumbra, and behind it."""
    x, y = caster[C_DIRECTION], caster[C_DIRECTION + VECTOR]
    u, v = lanes[i + LAMP_X], lanes[i + LAMP_Y]
    margin = MITRE * radius * (caster[C_INVERSE] - lanes[i + LAMP_INVERSE])
    along, across = u * x + v * y, v * x - u * y
    inside = (along >= caster[C_ALONG_LOW] - margin) & (along <= caster[C_ALONG_HIGH] + margin)
    inside = inside & (across >= caster[C_ACROSS_LOW] - margin) & (across <= caster[C_ACROSS_HIGH] + margin)
    return inside & (margin >= ZERO)
