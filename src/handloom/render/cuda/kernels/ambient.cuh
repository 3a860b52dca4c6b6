// Ambient occlusion in closed form: how much free space lies above a surface point; see cpu/light/ambient.py and
// cpu/light/occlude.py.
#pragma once

DEVICE float box_distance(float x, float y, float z) {
    float inner = least(most(most(x, y), z), 0.0f);
    x = most(x, 0.0f), y = most(y, 0.0f), z = most(z, 0.0f);
    return sqrtf(x * x + y * y + z * z) + inner;
}

DEVICE float cylinder_distance(float x, float y, float z, float radius, float length) {
    x = sqrtf(x * x + y * y) - radius;
    z = fabsf(z) - length;
    float inner = least(most(x, z), 0.0f);
    x = most(x, 0.0f), z = most(z, 0.0f);
    return sqrtf(x * x + z * z) + inner;
}

DEVICE float capsule_distance(float x, float y, float z, float radius, float length) {
    z = z - limit(z, -length, length);
    return sqrtf(x * x + y * y + z * z) - radius;
}

DEVICE float ellipsoid_distance(float x, float y, float z, float kx, float ky, float kz) {
    x *= kx, y *= ky, z *= kz;
    float norm = sqrtf(x * x + y * y + z * z);
    x *= kx, y *= ky, z *= kz;
    return norm * (norm - 1.0f) / (sqrtf(x * x + y * y + z * z) + TINY);
}

// The distance of a geom from a point in its frame.
DEVICE float distance_to(const float* row, int kind, float x, float y, float z) {
    const float* size = row + G_SIZE;
    if (kind == BOX || kind == MESH)
        return box_distance(fabsf(x) - row[G_HALF], fabsf(y) - row[G_HALF + 1], fabsf(z) - row[G_HALF + 2]);
    if (kind == CYLINDER) return cylinder_distance(x, y, z, size[0], size[1]);
    if (kind == CAPSULE) return capsule_distance(x, y, z, size[0], size[1]);
    if (kind == SPHERE) return capsule_distance(x, y, z, size[0], 0.0f);
    if (kind == PLANE) return z;
    return ellipsoid_distance(x, y, z, 1.0f / size[0], 1.0f / size[1], 1.0f / size[2]);
}

// Lower the gaps to the distance of a geom from the points ``low`` and ``high`` above the surface.
DEVICE void close_in(Lane& lane, const Tile& tile, int g, float low, float high) {
    const float* row = geom_row(tile, g);
    int kind = (int)row[G_TYPE];
    // The bounding box of a hollow object, or of a heap, says nothing about the space inside it.
    if (kind == TRIANGLES || kind == BEADS) return;
    Pose p = read_pose(pose_row(tile, g));
    float px = lane.px - p.x, py = lane.py - p.y, pz = lane.pz - p.z;
    float x = p.r0 * px + p.r3 * py + p.r6 * pz;
    float y = p.r1 * px + p.r4 * py + p.r7 * pz;
    float z = p.r2 * px + p.r5 * py + p.r8 * pz;
    float dx = p.r0 * lane.nx + p.r3 * lane.ny + p.r6 * lane.nz;
    float dy = p.r1 * lane.nx + p.r4 * lane.ny + p.r7 * lane.nz;
    float dz = p.r2 * lane.nx + p.r5 * lane.ny + p.r8 * lane.nz;
    if (kind == TURNED) {
        const float* outline = tile.model->hulls + 4 * (int)row[G_HULL];
        int count = (int)row[G_HULL_COUNT];
        float ax = x + low * dx, ay = y + low * dy, bx = x + high * dx, by = y + high * dy;
        float a = outline_distance(outline, count, sqrtf(ax * ax + ay * ay), z + low * dz);
        float b = outline_distance(outline, count, sqrtf(bx * bx + by * by), z + high * dz);
        lane.near_gap = least(lane.near_gap, a);
        lane.far_gap = least(lane.far_gap, b);
        return;
    }
    if (kind == BOX || kind == MESH) x -= row[G_BOX], y -= row[G_BOX + 1], z -= row[G_BOX + 2];
    float near = distance_to(row, kind, x + low * dx, y + low * dy, z + low * dz);
    float far = distance_to(row, kind, x + high * dx, y + high * dy, z + high * dz);
    lane.near_gap = least(near, lane.near_gap);
    lane.far_gap = least(far, lane.far_gap);
}

// Spaces of a group of lanes: at the height of the upper probe above the surface points, and of the lower one.
struct Group {
    int id;
    Middle above, between;
};

DEVICE void make_group(Group& group, int id, const float* surface, const float* above, float share) {
    float between[6];
    for (int i = 0; i < 6; i++) between[i] = surface[i] + share * (above[i] - surface[i]);
    group.id = id;
    group.above = middle_of(above);
    group.between = middle_of(between);
}

// Group the lanes by the geom they show; the last group holds all that are left and stands for no geom.
DEVICE int find_groups(const Lane& lane, Tile& tile, float height, float share, Group* groups) {
    int count = 0;
    int highest = 1 << 30;
    while (count < GROUPS) {
        float next = lane.id < highest ? (float)lane.id : -1.0f;
        tile_greatest<1>(tile.fold, &next);
        highest = (int)next;
        if (highest < 0) break;
        bool last = count == GROUPS - 1;
        float surface[6], above[6];
        bound(lane, tile.fold, 0.0f, last ? 0 : highest, highest, surface);
        bound(lane, tile.fold, height, last ? 0 : highest, highest, above);
        make_group(groups[count], last ? -1 : highest, surface, above, share);
        count++;
    }
    return count;
}

// Turn the free distance above each surface point into the ambient factor, left in near_gap.
DEVICE void occlude(Lane& lane, Tile& tile, const float* surface) {
    const Model& model = *tile.model;
    float near = model.world[W_AO_LOW], far = model.world[W_AO_HIGH], floor = model.world[W_AO_FLOOR];
    bool hit = lane.id >= 0;
    lane.near_gap = hit ? near : 0.0f;
    lane.far_gap = hit ? far : 0.0f;
    float above[6];
    bound(lane, tile.fold, far, 0, 1 << 30, above);
    if (above[1] < above[0]) return;
    // The geom that fills the tile, or -1.
    if (lane_index() == 0) tile.counts[LANES / WARP] = lane.id;
    tile_sync();
    int sole = tile.counts[LANES / WARP];
    if (!all_of_tile(lane.id == sole)) sole = -1;
    Middle space = middle_of(above);
    int count = list_chosen(tile, model.geom_count, [&](int g) {
        int kind = (int)geom_row(tile, g)[G_TYPE];
        // A convex geom leaves the space above itself free, a vessel does not.
        if ((g == sole && kind != TURNED) || !(least_gap(tile.world->boxes + g * BOX_COLUMNS, space) < far)) return false;
        return kind != PLANE || height_above(pose_row(tile, g), above) < far;
    });
    if (count > 0) {
        Group groups[GROUPS];
        int group_count = 1;
        if (sole >= 0 || count < WORTH_GROUPS) make_group(groups[0], sole, surface, above, near / far);
        else group_count = find_groups(lane, tile, far, near / far, groups);
        for (int j = lane_index(); j < count; j += LANES) {
            int g = tile.list[j];
            const float* box = tile.world->boxes + g * BOX_COLUMNS;
            float gap = BIG, low_gap = BIG;
            for (int k = 0; k < group_count; k++)
                if (groups[k].id != g) {
                    gap = least(gap, least_gap(box, groups[k].above));
                    low_gap = least(low_gap, least_gap(box, groups[k].between));
                }
            tile.gaps[2 * j] = gap;
            tile.gaps[2 * j + 1] = low_gap;
        }
        tile_sync();
        // Bring the geom with the least gap to the front of the list.
        if (lane_index() == 0) {
            float least_so_far = BIG;
            for (int j = 0; j < count; j++) {
                if (!(tile.gaps[2 * j] < least_so_far)) continue;
                least_so_far = tile.gaps[2 * j];
                int g = tile.list[j];
                float gap = tile.gaps[2 * j], low_gap = tile.gaps[2 * j + 1];
                tile.list[j] = tile.list[0];
                tile.gaps[2 * j] = tile.gaps[0];
                tile.gaps[2 * j + 1] = tile.gaps[1];
                tile.list[0] = g;
                tile.gaps[0] = gap;
                tile.gaps[1] = low_gap;
            }
        }
        tile_sync();
    }
    float left[2] = {near, far};
    bool closed = false;
    for (int j = 0; j < count; j++) {
        float gap = tile.gaps[2 * j], low_gap = tile.gaps[2 * j + 1];
        if (closed && gap > 0.0f) {
            left[0] = lane.near_gap;
            left[1] = lane.far_gap;
            tile_greatest<2>(tile.fold, left);
            closed = false;
        }
        if (gap < left[1] || low_gap < left[0]) {
            close_in(lane, tile, tile.list[j], near, far);
            closed = true;
        }
    }
    float a = 0.5f * (1.0f - floor) / near, b = 0.5f * (1.0f - floor) / far;
    lane.near_gap = floor + a * most(lane.near_gap, 0.0f) + b * most(lane.far_gap, 0.0f);
    tile_sync();  // The list is free again.
}
