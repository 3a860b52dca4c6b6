// Triangle meshes: every ray goes through a hierarchy of boxes by itself; see cpu/rays/triangles.py and wide_tests.py.
#pragma once

struct Vector {
    float x, y, z;
};

DEVICE Vector on_grid(const float* grid, float x, float y, float z) {
    Vector p = {(x - grid[0]) * grid[3], (y - grid[1]) * grid[3], (z - grid[2]) * grid[3]};
    return p;
}

// As the vector code of the processor takes them: of two numbers that do not compare, the second.
DEVICE float lesser(float a, float b) { return a < b ? a : b; }
DEVICE float greater(float a, float b) { return a > b ? a : b; }

// Where a bundle of rays from one point is between the planes of one axis.
DEVICE void between(float low, float high, float eye, float slow, float fast, bool spread, float& enter, float& leave) {
    float p = (low - eye) * fast, q = (high - eye) * slow;
    float first = lesser(p, q), last = greater(p, q);
    enter = spread ? last : first;
    leave = spread ? BIG : last;
}

struct Bundle {
    Vector eye, slow, fast;
    bool spread_x, spread_y, spread_z;
};

// Whether a bundle enters child ``c`` of a node, and where.
DEVICE bool enter_child(const int* node, int c, const Bundle& b, float start, float best, float& enter) {
    const ushort_t* steps = (const ushort_t*)node;
    float ex, ey, ez, lx, ly, lz;
    between(steps[c], steps[3 * WIDTH + c], b.eye.x, b.slow.x, b.fast.x, b.spread_x, ex, lx);
    between(steps[WIDTH + c], steps[4 * WIDTH + c], b.eye.y, b.slow.y, b.fast.y, b.spread_y, ey, ly);
    between(steps[2 * WIDTH + c], steps[5 * WIDTH + c], b.eye.z, b.slow.z, b.fast.z, b.spread_z, ez, lz);
    enter = greater(greater(ex, ey), ez);
    float leave = lesser(lesser(lx, ly), lz) * BOX_ROUNDING;
    return enter <= leave && leave > start && enter < best;
}

// Where a ray crosses triangle ``k`` of a block, BIG where it does not: Moeller and Trumbore's test.
DEVICE float cross_triangle(const float* block, int k, const Vector& eye, const Vector& ray) {
    const float* c = block + k;
    float px = c[3 * BLOCK], py = c[4 * BLOCK], pz = c[5 * BLOCK];
    float qx = c[6 * BLOCK], qy = c[7 * BLOCK], qz = c[8 * BLOCK];
    float sx = eye.x - c[0], sy = eye.y - c[BLOCK], sz = eye.z - c[2 * BLOCK];
    float nx = py * qz - pz * qy, ny = pz * qx - px * qz, nz = px * qy - py * qx;
    float ux = qy * sz - qz * sy, uy = qz * sx - qx * sz, uz = qx * sy - qy * sx;
    float vx = sy * pz - sz * py, vy = sz * px - sx * pz, vz = sx * py - sy * px;
    float facing = nx * ray.x + ny * ray.y + nz * ray.z;
    float inverse = -1.0f / facing;
    float u = (ux * ray.x + uy * ray.y + uz * ray.z) * inverse;
    float v = (vx * ray.x + vy * ray.y + vz * ray.z) * inverse;
    float t = (qx * vx + qy * vy + qz * vz) * inverse;
    return u >= -SEAM && v >= -SEAM && u + v <= SEAM_FAR ? t : BIG;
}

// The nearest hit of a ray after ``start`` and before ``best``; the number of its triangle, or -1.
DEVICE_CALL int nearest_triangle(
    const Model& model, int root, const float* grid, const Vector& eye, const Vector& ray, float start, float& best) {
    int waiting_node[STACK];
    float waiting_t[STACK];
    Bundle b;
    b.eye = on_grid(grid, eye.x, eye.y, eye.z);
    b.slow.x = 1.0f / (ray.x * grid[3] + TINY);
    b.slow.y = 1.0f / (ray.y * grid[3] + TINY);
    b.slow.z = 1.0f / (ray.z * grid[3] + TINY);
    b.fast = b.slow;
    b.spread_x = b.spread_y = b.spread_z = false;
    int found = -1, waiting = 0, node = root;
    while (true) {
        if (node >= 0) {
            const int* here = model.nodes + 32 * node;
            float near_t = 0.0f;
            int near = 0;
            bool entered = false;
            for (int c = 0; c < WIDTH; c++) {
                float far_t;
                if (!enter_child(here, c, b, start, best, far_t)) continue;
                int far = here[LINKS + c];
                if (!entered) {
                    near = far;
                    near_t = far_t;
                    entered = true;
                    continue;
                }
                if (far_t < near_t) {
                    int link = near;
                    near = far;
                    far = link;
                    float t = near_t;
                    near_t = far_t;
                    far_t = t;
                }
                waiting_node[waiting] = far;
                waiting_t[waiting] = far_t;
                waiting++;
            }
            if (entered) {
                node = near;
                continue;
            }
        } else {
            int block = -1 - node;
            for (int k = 0; k < BLOCK; k++) {
                float t = cross_triangle(model.triangles + 9 * BLOCK * block, k, eye, ray);
                if (t > start && t < best) {
                    best = t;
                    found = block * BLOCK + k;
                }
            }
        }
        while (waiting > 0 && waiting_t[waiting - 1] >= best) waiting--;
        if (waiting == 0) return found;
        waiting--;
        node = waiting_node[waiting];
    }
}

DEVICE void cast_triangles(Lane& lane, const Tile& tile, int g) {
    const float* row = geom_row(tile, g);
    Rays r = read_rays(seen_row(tile, g));
    Vector eye = {r.ox, r.oy, r.oz};
    Vector ray = {lane.u * r.ax + lane.v * r.bx + r.cx, lane.u * r.ay + lane.v * r.by + r.cy,
                  lane.u * r.az + lane.v * r.bz + r.cz};
    // Of two geoms at the same depth, the one with the lesser number is seen.
    float t = g < lane.id ? lane.t * AS_NEAR : lane.t;
    const float* grid = tile.model->grids + 4 * (int)row[G_HULL_COUNT];
    int found = nearest_triangle(*tile.model, (int)row[G_HULL], grid, eye, ray, lane.start, t);
    if (found >= 0 && t <= lane.t) {
        lane.t = t;
        lane.id = g;
        lane.triangle = found;
    }
}

// The interpolated normal, turned towards the camera, and the texture coordinates.
DEVICE void orient_triangle(Lane& lane, const Model& model, const Rays& r, const Pose& pose, float& tex_u, float& tex_v) {
    int k = lane.triangle;
    const float* c = model.triangles + 9 * BLOCK * (k / BLOCK) + k % BLOCK;
    const float* n = model.corners + 16 * k;
    float hx = r.ox + lane.t * (lane.u * r.ax + lane.v * r.bx + r.cx);
    float hy = r.oy + lane.t * (lane.u * r.ay + lane.v * r.by + r.cy);
    float hz = r.oz + lane.t * (lane.u * r.az + lane.v * r.bz + r.cz);
    float dx = hx - c[0], dy = hy - c[BLOCK], dz = hz - c[2 * BLOCK];
    float px = c[3 * BLOCK], py = c[4 * BLOCK], pz = c[5 * BLOCK];
    float qx = c[6 * BLOCK], qy = c[7 * BLOCK], qz = c[8 * BLOCK];
    float pp = px * px + py * py + pz * pz, pq = px * qx + py * qy + pz * qz, qq = qx * qx + qy * qy + qz * qz;
    float dp = dx * px + dy * py + dz * pz, dq = dx * qx + dy * qy + dz * qz;
    float inverse = 1.0f / most(pp * qq - pq * pq, TINY * TINY);
    float u = (qq * dp - pq * dq) * inverse;
    float v = (pp * dq - pq * dp) * inverse;
    float w = 1.0f - u - v;
    float nx = w * n[0] + u * n[3] + v * n[6];
    float ny = w * n[1] + u * n[4] + v * n[7];
    float nz = w * n[2] + u * n[5] + v * n[8];
    float length = sqrtf(nx * nx + ny * ny + nz * nz) + TINY;
    if ((r.ox - hx) * nx + (r.oy - hy) * ny + (r.oz - hz) * nz < 0.0f) length = -length;
    nx /= length;
    ny /= length;
    nz /= length;
    lane.nx = pose.r0 * nx + pose.r1 * ny + pose.r2 * nz;
    lane.ny = pose.r3 * nx + pose.r4 * ny + pose.r5 * nz;
    lane.nz = pose.r6 * nx + pose.r7 * ny + pose.r8 * nz;
    tex_u = w * n[9] + u * n[11] + v * n[13];
    tex_v = w * n[10] + u * n[12] + v * n[14];
}

// How many of four points of a lamp a mesh hides from a point; the four rays go together, as a bounded bundle.
DEVICE_CALL int count_blocked(const Model& model, int root, const float* grid, const Vector& point, const Vector* lamp) {
    int waiting_node[STACK];
    Vector low = lamp[0], high = lamp[0];
    for (int s = 1; s < LAMP_POINTS; s++) {
        low.x = least(low.x, lamp[s].x), high.x = most(high.x, lamp[s].x);
        low.y = least(low.y, lamp[s].y), high.y = most(high.y, lamp[s].y);
        low.z = least(low.z, lamp[s].z), high.z = most(high.z, lamp[s].z);
    }
    Bundle b;
    b.eye = on_grid(grid, point.x, point.y, point.z);
    Vector p0 = on_grid(grid, low.x, low.y, low.z), p1 = on_grid(grid, high.x, high.y, high.z);
    b.spread_x = p0.x < b.eye.x && b.eye.x < p1.x;
    b.spread_y = p0.y < b.eye.y && b.eye.y < p1.y;
    b.spread_z = p0.z < b.eye.z && b.eye.z < p1.z;
    b.slow.x = 1.0f / (p0.x - b.eye.x + TINY), b.fast.x = 1.0f / (p1.x - b.eye.x + TINY);
    b.slow.y = 1.0f / (p0.y - b.eye.y + TINY), b.fast.y = 1.0f / (p1.y - b.eye.y + TINY);
    b.slow.z = 1.0f / (p0.z - b.eye.z + TINY), b.fast.z = 1.0f / (p1.z - b.eye.z + TINY);
    unsigned hidden = 0;
    waiting_node[0] = root;
    int waiting = 1;
    while (waiting > 0 && hidden != (1u << LAMP_POINTS) - 1) {
        int node = waiting_node[--waiting];
        if (node < 0) {
            const float* block = model.triangles + 9 * BLOCK * (-1 - node);
            for (int s = 0; s < LAMP_POINTS; s++) {
                if (hidden >> s & 1) continue;
                Vector ray = {lamp[s].x - point.x, lamp[s].y - point.y, lamp[s].z - point.z};
                for (int k = 0; k < BLOCK; k++) {
                    float t = cross_triangle(block, k, point, ray);
                    if (t > SHADOW_START && t < 1.0f) hidden |= 1u << s;
                }
            }
            continue;
        }
        const int* here = model.nodes + 32 * node;
        for (int c = 0; c < WIDTH; c++) {
            float enter;
            if (enter_child(here, c, b, SHADOW_START, 1.0f, enter)) waiting_node[waiting++] = here[LINKS + c];
        }
    }
    return count_bits(hidden);
}
