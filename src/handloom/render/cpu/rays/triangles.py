"""Triangle meshes: every ray traverses a hierarchy of boxes by itself."""

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
    SPARE_I,
    START,
    TINY,
    TRIANGLE,
    VECTOR,
    ZERO,
    T,
    U,
    V,
)
from handloom.render.cpu.model.bvh import BLOCK, LINKS
from handloom.render.cpu.rays.geom_frame import eye_of, position_of, rays_of, rotation_of
from handloom.render.cpu.rays.wide_tests import cross_triangles, enter_boxes, first_bit

# More than the step to the next number, so that hits at the same depth are not culled.
AS_NEAR = np.float32(1 + 3e-7)
# A single ray has one direction along every axis.
NO_SPREAD = (False, False, False)
# A lamp is represented by four points on its disc, in units of its radius along its two axes.
LAMP_U = (np.float32(0.6), np.float32(-0.25), np.float32(-0.6), np.float32(0.25))
LAMP_V = (np.float32(0.25), np.float32(0.6), np.float32(-0.25), np.float32(-0.6))
LAMP_POINTS = 4
LAMP_WEIGHT = np.float32(0.25)
# Penumbras are mitred at corners and extend farther there, by this factor at a right angle.
MITRE = np.float32(1.42)
# Shadow rays ignore the first part of their path, to avoid hits on the surface they start from.
SHADOW_START = np.float32(1e-3)


@picture_kernel(inline="always")
def _on_grid(grid, x, y, z):
    """Return a point of the geom frame in steps of a mesh's grid."""
    return (x - grid[0]) * grid[3], (y - grid[1]) * grid[3], (z - grid[2]) * grid[3]


@picture_kernel
def _nearest(lanes, meshes, root, grid, eye, ray, start, best):
    """Return the nearest hit of a ray after ``start`` and before ``best``, and the number of its triangle or -1.

    The nearest child is visited first. Pending nodes are in spares A to D, and their entry distances in spares E to H.
    """
    nodes, triangles = meshes.nodes, meshes.triangles
    x, y, z = ray
    origin = _on_grid(grid, eye[0], eye[1], eye[2])
    inverse = (ONE / (x * grid[3] + TINY), ONE / (y * grid[3] + TINY), ONE / (z * grid[3] + TINY))
    found, waiting, node = -1, 0, root
    while True:
        if node >= 0:
            bits = enter_boxes(nodes, node, origin, inverse, inverse, NO_SPREAD, start, best, lanes, SPARE_I)
            if bits != 0:
                child = first_bit(bits)
                near, near_t = nodes[node, LINKS + child], lanes[SPARE_I + child]
                bits &= bits - 1
                while bits != 0:
                    child = first_bit(bits)
                    far, far_t = nodes[node, LINKS + child], lanes[SPARE_I + child]
                    bits &= bits - 1
                    if far_t < near_t:
                        near, far, near_t, far_t = far, near, far_t, near_t
                    lanes[waiting + SPARE_A], lanes[waiting + SPARE_E] = np.float32(far), far_t
                    waiting += 1
                node = near
                continue
        else:
            block = -1 - node
            cross_triangles(triangles, block, eye, ray, lanes, SPARE_I)
            for k in range(BLOCK):
                t = lanes[SPARE_I + k]
                if (t > start) & (t < best):
                    best, found = t, block * BLOCK + k
        while waiting > 0 and lanes[waiting - 1 + SPARE_E] >= best:
            waiting -= 1
        if waiting == 0:
            return best, found
        waiting -= 1
        node = int(lanes[waiting + SPARE_A])


@picture_kernel
def cast_triangles(lanes, row, meshes, gid):
    """Keep the nearest hits with a triangle mesh in T, ID and TRIANGLE.

    Every ray traverses the hierarchy by itself: a scanned mesh has more triangles than pixels, and two neighbouring
    rays share few of them.
    """
    eye = eye_of(row)
    ax, ay, az, bx, by, bz, cx, cy, cz = rays_of(row)
    root, grid = int(row[G_HULL]), meshes.grids[int(row[G_HULL_COUNT])]
    for i in range(LANES):
        u, v = lanes[i + U], lanes[i + V]
        ray = (u * ax + v * bx + cx, u * ay + v * by + cy, u * az + v * bz + cz)
        # Of two geoms at the same depth, the one with the lower number is visible.
        limit = lanes[i + T] * AS_NEAR if gid < lanes[i + ID] else lanes[i + T]
        t, found = _nearest(lanes, meshes, root, grid, eye, ray, lanes[i + START], limit)
        if found >= 0 and t <= lanes[i + T]:
            lanes[i + T] = t
            lanes[i + ID] = gid
            lanes[i + TRIANGLE] = np.float32(found)


@picture_kernel
def orient_triangles(lanes, row, meshes, gid):
    """Write the interpolated normal, turned towards the camera; leave texture coordinates in spares D and E.

    The texture lookup, which comes next, does not change spares D and E.
    """
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = rotation_of(row)
    ox, oy, oz = eye_of(row)
    ax, ay, az, bx, by, bz, cx, cy, cz = rays_of(row)
    for i in range(LANES):
        if lanes[i + ID] != gid:
            continue
        k = int(lanes[i + TRIANGLE])
        triangle = meshes.triangles[k // BLOCK, k % BLOCK :]
        normal = meshes.corners[k]
        coords = meshes.corners[k, 9:]
        ray_u, ray_v, t = lanes[i + U], lanes[i + V], lanes[i + T]
        hx = ox + t * (ray_u * ax + ray_v * bx + cx)
        hy = oy + t * (ray_u * ay + ray_v * by + cy)
        hz = oz + t * (ray_u * az + ray_v * bz + cz)
        dx, dy, dz = hx - triangle[0], hy - triangle[BLOCK], hz - triangle[2 * BLOCK]
        px, py, pz = triangle[3 * BLOCK], triangle[4 * BLOCK], triangle[5 * BLOCK]
        qx, qy, qz = triangle[6 * BLOCK], triangle[7 * BLOCK], triangle[8 * BLOCK]
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
def _block(lanes, triangles, block, point):
    """Mark in spare D the lamp points that a block of triangles hides from a point; return the number of new ones."""
    more = 0
    for s in range(LAMP_POINTS):
        if lanes[s + SPARE_D] == ZERO:
            ray = (lanes[s + SPARE_A] - point[0], lanes[s + SPARE_B] - point[1], lanes[s + SPARE_C] - point[2])
            cross_triangles(triangles, block, point, ray, lanes, SPARE_I)
            hidden = 0
            for k in range(BLOCK):
                t = lanes[SPARE_I + k]
                hidden |= (t > SHADOW_START) & (t < ONE)
            if hidden:
                lanes[s + SPARE_D] = ONE
                more += 1
    return more


@picture_kernel
def _count_blocked(lanes, meshes, root, grid, point, lamp):
    """Return the number of lamp points that a mesh hides from a point; the four rays are traced as one bounded bundle.

    Pending boxes and leaves are in spares E to H.
    """
    nodes, triangles = meshes.nodes, meshes.triangles
    px, py, pz = _on_grid(grid, point[0], point[1], point[2])
    x0, y0, z0 = _on_grid(grid, lamp[0], lamp[1], lamp[2])
    x1, y1, z1 = _on_grid(grid, lamp[3], lamp[4], lamp[5])
    spread = ((x0 < px) & (px < x1), (y0 < py) & (py < y1), (z0 < pz) & (pz < z1))
    slow = (ONE / (x0 - px + TINY), ONE / (y0 - py + TINY), ONE / (z0 - pz + TINY))
    fast = (ONE / (x1 - px + TINY), ONE / (y1 - py + TINY), ONE / (z1 - pz + TINY))
    for s in range(LAMP_POINTS):
        lanes[s + SPARE_D] = ZERO
    lanes[SPARE_E] = np.float32(root)
    blocked, waiting = 0, 1
    while waiting > 0 and blocked < LAMP_POINTS:
        waiting -= 1
        node = int(lanes[waiting + SPARE_E])
        if node < 0:
            blocked += _block(lanes, triangles, -1 - node, point)
            continue
        bits = enter_boxes(nodes, node, (px, py, pz), slow, fast, spread, SHADOW_START, ONE, lanes, SPARE_I)
        while bits != 0:
            lanes[waiting + SPARE_E] = np.float32(nodes[node, LINKS + first_bit(bits)])
            bits &= bits - 1
            waiting += 1
    return blocked


@picture_kernel
def shade_triangles(lanes, row, caster, meshes, light, endless):
    """Raise SHADE by the fraction of four points of the lamp that the mesh hides from each surface point.

    Args:
        lanes: Flat batch with surface points and their positions in the light's image plane.
        row: Geom row of the mesh.
        caster: The mesh as seen by the light.
        meshes: ``Hierarchy`` of all meshes.
        light: Light row.
        endless: Whether the image plane is useless, so that all points must be tested.
    """
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = rotation_of(row)
    wx, wy, wz = position_of(row)
    lamp = _place_lamp(lanes, row, caster, light)
    root, grid = int(row[G_HULL]), meshes.grids[int(row[G_HULL_COUNT])]
    for i in range(LANES):
        if lanes[i + SHADE] >= ONE or not (endless or _is_behind(lanes, i, caster, light[L_RADIUS])):
            continue
        x, y, z = lanes[i + PX] - wx, lanes[i + PY] - wy, lanes[i + PZ] - wz
        point = (r0 * x + r3 * y + r6 * z, r1 * x + r4 * y + r7 * z, r2 * x + r5 * y + r8 * z)
        blocked = _count_blocked(lanes, meshes, root, grid, point, lamp)
        lanes[i + SHADE] = max(lanes[i + SHADE], LAMP_WEIGHT * np.float32(blocked))


@picture_kernel(inline="always")
def _is_behind(lanes, i, caster, radius):
    """Return whether a lane lies in the rotated rectangle of a geom, widened by its own penumbra, and behind it."""
    x, y = caster[C_DIRECTION], caster[C_DIRECTION + VECTOR]
    u, v = lanes[i + LAMP_X], lanes[i + LAMP_Y]
    margin = MITRE * radius * (caster[C_INVERSE] - lanes[i + LAMP_INVERSE])
    along, across = u * x + v * y, v * x - u * y
    inside = (along >= caster[C_ALONG_LOW] - margin) & (along <= caster[C_ALONG_HIGH] + margin)
    inside = inside & (across >= caster[C_ACROSS_LOW] - margin) & (across <= caster[C_ACROSS_HIGH] + margin)
    return inside & (margin >= ZERO)
