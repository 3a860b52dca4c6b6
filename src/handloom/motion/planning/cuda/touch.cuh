// Spheres against obstacles and against each other; see lane_kernels.py, whose tests these are, number for number. A
// thread looks at one configuration of the CONFIGS that a block checks at a time, in one of its PARTS of the tests: a
// warp is all configurations in the same part, so that its threads stay together.
#pragma once

#define PARTS (LANES / CONFIGS)
#define HALF_SIDES 12
#define BOUND 21
#define ROW 24
#define PADDED 3

enum { BOX, CAPSULE, CYLINDER, PLANE, CONVEX, HEIGHT_FIELD };

struct Robots {
    const int* parent;        // per joint: link it hangs on, plus one
    const float* joint;       // per joint: 12 numbers
    const int* prismatic;     // per joint
    const int* group_link;    // per group
    const int* group_begin;   // per group: first cluster, last cluster
    const int* cluster_begin; // per cluster: first sphere, last sphere
    const float* group;       // per group: 5 numbers
    const float* cluster;     // per cluster: 5 numbers
    const float* sphere;      // per sphere: 5 numbers
    const int* pair;          // per pair: two groups
    const float* limits;      // per joint: lower, upper
};

struct Worlds {
    const int* kind;     // per obstacle
    const float* row;    // per obstacle: 24 numbers
    const float* face;   // per supporting plane: 4 numbers
    const float* height; // heights
    const int2* item;    // per test: group, column of the radius and obstacle in one number; the group's bare radius
};

struct Tables {
    Robots robots;
    Worlds worlds;
};

// One problem: where its robot and its world lie in the tables. All indices in the tables are those of the whole table.
struct Problem {
    int joint, joints, group, groups, pair, pairs, item, items, obstacle, face, height, goal, goals;
};

struct Room {
    float sine[JOINTS][CONFIGS], cosine[JOINTS][CONFIGS];
    float pose[LINKS][12][CONFIGS];
    float centre[GROUPS][3][CONFIGS];
    int hit[CONFIGS];
    int stop;
    float near_distance[LANES];
    int near_index[LANES];
    float path[PATH][JOINTS];
    float lengths[PATH];
    float from[JOINTS], sample[JOINTS], fresh[JOINTS];
    Problem problem;
};

DEVICE bool box_hit(const float* row, int first, float x, float y, float z, float radius) {
    float dx = x - row[0], dy = y - row[1], dz = z - row[2];
    float u = fmaxf(fabsf(row[3] * dx + row[6] * dy + row[9] * dz) - row[first], 0.0f);
    float v = fmaxf(fabsf(row[4] * dx + row[7] * dy + row[10] * dz) - row[first + 1], 0.0f);
    float w = fmaxf(fabsf(row[5] * dx + row[8] * dy + row[11] * dz) - row[first + 2], 0.0f);
    return u * u + v * v + w * w < radius * radius;
}

// The box around an obstacle, or the plane it is; the row is read in pieces of four numbers.
DEVICE bool bound_hit(bool plane, const float* row, float x, float y, float z, float radius) {
    const float4* at = (const float4*)row;
    float4 p = at[0], q = at[1], r = at[2], half = at[5];
    float dx = x - p.x, dy = y - p.y, dz = z - p.z;
    float w = q.y * dx + r.x * dy + r.w * dz;
    if (plane) return w < radius;
    float u = fmaxf(fabsf(p.w * dx + q.z * dy + r.y * dz) - half.y, 0.0f);
    float v = fmaxf(fabsf(q.x * dx + q.w * dy + r.z * dz) - half.z, 0.0f);
    w = fmaxf(fabsf(w) - half.w, 0.0f);
    return u * u + v * v + w * w < radius * radius;
}

DEVICE bool plane_hit(const float* row, float x, float y, float z, float radius) {
    float dx = x - row[0], dy = y - row[1], dz = z - row[2];
    return row[5] * dx + row[8] * dy + row[11] * dz < radius;
}

DEVICE bool capsule_hit(const float* row, float x, float y, float z, float radius) {
    float dx = x - row[0], dy = y - row[1], dz = z - row[2], a = row[5], b = row[8], d = row[11], half = row[13];
    float reach = row[12] + radius, along = fminf(fmaxf(a * dx + b * dy + d * dz, -half), half);
    float u = dx - along * a, v = dy - along * b, w = dz - along * d;
    return u * u + v * v + w * w < reach * reach;
}

DEVICE bool cylinder_hit(const float* row, float x, float y, float z, float radius) {
    float dx = x - row[0], dy = y - row[1], dz = z - row[2], a = row[5], b = row[8], d = row[11];
    float along = a * dx + b * dy + d * dz;
    float p = dx - along * a, q = dy - along * b, r = dz - along * d;
    float u = fmaxf(fabsf(along) - row[13], 0.0f);
    float v = fmaxf(sqrtf(p * p + q * q + r * r) - row[12], 0.0f);
    return u * u + v * v < radius * radius;
}

DEVICE bool convex_hit(const float* row, const float* face, float x, float y, float z, float radius) {
    float dx = x - row[0], dy = y - row[1], dz = z - row[2];
    float u = row[3] * dx + row[6] * dy + row[9] * dz, v = row[4] * dx + row[7] * dy + row[10] * dz;
    float w = row[5] * dx + row[8] * dy + row[11] * dz, most = sqrtf(dx * dx + dy * dy + dz * dz) - row[15];
    for (int k = (int)row[16]; k < (int)row[17] && most < radius; k++) {
        const float* n = face + 4 * k;
        most = fmaxf(most, n[0] * u + n[1] * v + n[2] * w - n[3]);
    }
    return most < radius;
}

DEVICE int cell(float at, int count) { return min(max((int)at, 0), count - 1); }

DEVICE bool field_hit(const float* row, const float* height, float x, float y, float z, float radius) {
    int rows = (int)row[17], columns = (int)row[18];
    float dx = x - row[0], dy = y - row[1], dz = z - row[2], top = -1e30f;
    float u = row[3] * dx + row[6] * dy + row[9] * dz, v = row[4] * dx + row[7] * dy + row[10] * dz;
    float w = row[5] * dx + row[8] * dy + row[11] * dz;
    if (fabsf(u) > row[12] + radius || fabsf(v) > row[13] + radius) return false;
    int left = cell(floorf((u - radius + row[12]) / row[19]), columns);
    int right = cell(ceilf((u + radius + row[12]) / row[19]), columns);
    int low = cell(floorf((v - radius + row[13]) / row[20]), rows);
    int high = cell(ceilf((v + radius + row[13]) / row[20]), rows);
    for (int i = low; i <= high; i++)
        for (int j = left; j <= right; j++) top = fmaxf(top, height[(int)row[16] + i * columns + j]);
    return w - radius < top;
}

DEVICE bool obstacle_hit(
    int kind, const float* row, const float* face, const float* height, float x, float y, float z, float radius) {
    switch (kind) {
    case BOX: return box_hit(row, HALF_SIDES, x, y, z, radius);
    case CAPSULE: return capsule_hit(row, x, y, z, radius);
    case CYLINDER: return cylinder_hit(row, x, y, z, radius);
    case PLANE: return plane_hit(row, x, y, z, radius);
    case CONVEX: return convex_hit(row, face, x, y, z, radius);
    default: return field_hit(row, height, x, y, z, radius);
    }
}

struct Point {
    float x, y, z;
};

DEVICE Point placed(const Room& room, int link, const float* s, int c) {
    const float(*p)[CONFIGS] = room.pose[link];
    float x = s[0], y = s[1], z = s[2];
    return {p[9][c] + p[0][c] * x + p[1][c] * y + p[2][c] * z, p[10][c] + p[3][c] * x + p[4][c] * y + p[5][c] * z,
            p[11][c] + p[6][c] * x + p[7][c] * y + p[8][c] * z};
}

DEVICE bool meet_points(Point a, Point b, float reach) {
    float dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
    return dx * dx + dy * dy + dz * dz < reach * reach;
}

// Sine and cosine of one joint of a configuration; of a joint that slides, no turn.
DEVICE void turn_joint(const Robots& robots, const Problem& problem, Room& room, int k, int c, float value) {
    float angle = robots.prismatic[problem.joint + k] ? 0.0f : value;
    angle -= TURN * rintf(angle * PER_TURN);
    float h = angle * 0.5f, z = h * h;
    float s = h * (1.0f + z * (SINE_3 + z * (SINE_5 + z * (SINE_7 + z * SINE_9))));
    float e = 1.0f + z * (-0.5f + z * (COSINE_4 + z * (COSINE_6 + z * (COSINE_8 + z * COSINE_10))));
    room.sine[k][c] = 2.0f * s * e, room.cosine[k][c] = 1.0f - 2.0f * s * s;
}

// Row ``part`` of the pose of every link: rows do not depend on each other. ``q`` gives a joint's value.
template <class Q> DEVICE void place_links(const Robots& robots, const Problem& problem, Room& room, int part, int c, Q q) {
    float a = part == 0, b = part == 1, d = part == 2, p = 0.0f;
    room.pose[0][3 * part][c] = a, room.pose[0][3 * part + 1][c] = b, room.pose[0][3 * part + 2][c] = d;
    room.pose[0][9 + part][c] = p;
    for (int k = 0; k < problem.joints; k++) {
        const float* F = robots.joint + 12 * (problem.joint + k);
        int up = robots.parent[problem.joint + k];
        if (up != k) {
            a = room.pose[up][3 * part][c], b = room.pose[up][3 * part + 1][c], d = room.pose[up][3 * part + 2][c];
            p = room.pose[up][9 + part][c];
        }
        float slide = robots.prismatic[problem.joint + k] ? q(k) : 0.0f;
        float sine = room.sine[k][c], cosine = room.cosine[k][c];
        float u = a * F[0] + b * F[3] + d * F[6], v = a * F[1] + b * F[4] + d * F[7], w = a * F[2] + b * F[5] + d * F[8];
        p = p + a * F[9] + b * F[10] + d * F[11] + w * slide;
        a = u * cosine + v * sine, b = v * cosine - u * sine, d = w;
        float(*out)[CONFIGS] = room.pose[k + 1];
        out[3 * part][c] = a, out[3 * part + 1][c] = b, out[3 * part + 2][c] = d, out[9 + part][c] = p;
    }
}

// Whether another thread found a hit already, where one is enough.
template <bool ONE> DEVICE bool stopped(const Room& room) { return ONE && now_at(&room.stop); }

template <bool ONE>
DEVICE bool group_hits(
    const Robots& robots, const Worlds& worlds, const Problem& problem, const Room& room, int g, int b, int column,
    float padding, int c) {
    const float *row = worlds.row + ROW * b, *face = worlds.face + 4 * problem.face;
    const float* height = worlds.height + problem.height;
    int kind = worlds.kind[b], link = robots.group_link[g];
    for (int k = robots.group_begin[2 * g]; k < robots.group_begin[2 * g + 1]; k++) {
        if (stopped<ONE>(room)) return false;
        const float* cluster = robots.cluster + 5 * k;
        Point at = placed(room, link, cluster, c);
        if (!obstacle_hit(kind, row, face, height, at.x, at.y, at.z, cluster[column] + padding)) continue;
        for (int i = robots.cluster_begin[2 * k]; i < robots.cluster_begin[2 * k + 1]; i++) {
            const float* sphere = robots.sphere + 5 * i;
            at = placed(room, link, sphere, c);
            if (obstacle_hit(kind, row, face, height, at.x, at.y, at.z, sphere[column] + padding)) return true;
        }
    }
    return false;
}

template <bool ONE>
DEVICE bool pair_hits(const Robots& robots, const Room& room, int a, int b, Point centre, int c) {
    int i = robots.group_link[a], j = robots.group_link[b];
    float outer = robots.group[5 * b + 4];
    for (int k = robots.group_begin[2 * a]; k < robots.group_begin[2 * a + 1]; k++) {
        if (stopped<ONE>(room)) return false;
        const float* one = robots.cluster + 5 * k;
        Point large = placed(room, i, one, c);
        if (!meet_points(large, centre, one[4] + outer)) continue;
        for (int l = robots.group_begin[2 * b]; l < robots.group_begin[2 * b + 1]; l++) {
            const float* two = robots.cluster + 5 * l;
            if (!meet_points(large, placed(room, j, two, c), one[4] + two[4])) continue;
            for (int s = robots.cluster_begin[2 * k]; s < robots.cluster_begin[2 * k + 1]; s++) {
                Point at = placed(room, i, robots.sphere + 5 * s, c);
                for (int t = robots.cluster_begin[2 * l]; t < robots.cluster_begin[2 * l + 1]; t++) {
                    const float* other = robots.sphere + 5 * t;
                    if (meet_points(at, placed(room, j, other, c), robots.sphere[5 * s + 4] + other[4])) return true;
                }
            }
        }
    }
    return false;
}

// Return whether this thread's part of its configuration's tests finds a hit. All threads of the block take part. Where
// ONE hit of any of them is enough, the others stop when there is one.
template <bool ONE, class Q>
DEVICE bool hits(const Robots& robots, const Worlds& worlds, Room& room, float padding, Q q) {
    const Problem& problem = room.problem;
    int part = lane_index() / CONFIGS, c = lane_index() % CONFIGS;
    if (ONE && lane_index() == 0) room.stop = 0;
    for (int k = part; k < problem.joints; k += PARTS) turn_joint(robots, problem, room, k, c, q(k));
    tile_sync();
    if (part < 3) place_links(robots, problem, room, part, c, q);
    tile_sync();
    for (int g = part; g < problem.groups; g += PARTS) {
        Point at = placed(room, robots.group_link[problem.group + g], robots.group + 5 * (problem.group + g), c);
        room.centre[g][0][c] = at.x, room.centre[g][1][c] = at.y, room.centre[g][2][c] = at.z;
    }
    tile_sync();
    for (int i = problem.item + part; i < problem.item + problem.items; i += PARTS) {
        if (stopped<ONE>(room)) return false;
        int2 item = worlds.item[i];
        int g = item.x & 0xff, column = item.x >> 8 & 0xf, b = problem.obstacle + (item.x >> 12);
        float more = column == PADDED ? padding : 0.0f, radius = as_float(item.y) + more;
        const float(*at)[CONFIGS] = room.centre[g];
        bool plane = worlds.kind[b] == PLANE;
        if (bound_hit(plane, worlds.row + ROW * b, at[0][c], at[1][c], at[2][c], radius) &&
            group_hits<ONE>(robots, worlds, problem, room, problem.group + g, b, column, more, c)) {
            room.stop = 1;
            return true;
        }
    }
    for (int k = problem.pair + part; k < problem.pair + problem.pairs; k += PARTS) {
        if (stopped<ONE>(room)) return false;
        int a = robots.pair[2 * k], b = robots.pair[2 * k + 1];
        const float(*p)[CONFIGS] = room.centre[a - problem.group];
        const float(*r)[CONFIGS] = room.centre[b - problem.group];
        Point one = {p[0][c], p[1][c], p[2][c]}, two = {r[0][c], r[1][c], r[2][c]};
        if (meet_points(one, two, robots.group[5 * a + 4] + robots.group[5 * b + 4]) &&
            pair_hits<ONE>(robots, room, a, b, two, c)) {
            room.stop = 1;
            return true;
        }
    }
    return false;
}

// The straight motion between two configurations in shared memory: the configurations that the processor checks,
// spread over the whole of it first.
DEVICE_CALL bool edge_is_free(
    const Robots& all_robots, const Worlds& all_worlds, Room& room, float padding, float per_unit, const float* a,
    const float* b) {
    // Copies stay in registers, which nothing that is written to memory can change.
    const Robots robots = all_robots;
    const Worlds worlds = all_worlds;
    float squared = 0.0f;
    for (int i = 0; i < room.problem.joints; i++) squared += (a[i] - b[i]) * (a[i] - b[i]);
    int rounds = max(1, (int)ceilf(sqrtf(squared) * per_unit / 16)), total = 16 * rounds;
    for (int first = 0; first < total; first += CONFIGS) {
        int e = min(first + lane_index() % CONFIGS, total - 1);
        float at = (float)(e % 16) * 0.0625f + (float)(rounds - e / 16) / (float)total;
        bool hit = hits<true>(robots, worlds, room, padding, [&](int k) { return a[k] + (b[k] - a[k]) * at; });
        if (any_of_tile(hit)) return false;
    }
    return true;
}
