// Shadows of a tile: cull the geoms that cast none in two passes, then shade with the rest; see
// cpu/light/shadow_culling.py.
#pragma once

// The patch of a light's picture plane that holds the lit surface points: left, right, top, bottom, farthest distance.
DEVICE void find_patch(Lane& lane, Tile& tile, const float* light, float* patch) {
    float x = light[L_POS] - lane.px, y = light[L_POS + 1] - lane.py, z = light[L_POS + 2] - lane.pz;
    bool lit = lane.id >= 0 && x * lane.nx + y * lane.ny + z * lane.nz > 0.0f;
    float w = x * light[L_W] + y * light[L_W + 1] + z * light[L_W + 2];
    lane.nearness = 1.0f / sqrtf(x * x + y * y + z * z + TINY);
    float inverse = 1.0f / most(w, LIGHT_NEAR);
    float u = (x * light[L_U] + y * light[L_U + 1] + z * light[L_U + 2]) * inverse;
    float v = (x * light[L_V] + y * light[L_V + 1] + z * light[L_V + 2]) * inverse;
    lane.lamp_x = lit ? u : BIG;
    lane.lamp_y = v;
    lane.lamp_inverse = inverse;
    float values[6] = {lit ? -u : -BIG, lit ? u : -BIG, lit ? -v : -BIG, lit ? v : -BIG, lit ? -w : -BIG, lit ? w : -BIG};
    tile_greatest<6>(tile.fold, values);
    bool endless = -values[4] < LIGHT_NEAR;
    patch[0] = endless ? -BIG : -values[0];
    patch[1] = endless ? BIG : values[1];
    patch[2] = endless ? -BIG : -values[2];
    patch[3] = endless ? BIG : values[3];
    patch[4] = endless ? BIG : values[5];
}

// Whether a geom can stand between a light and some surface points.
DEVICE bool may_cast(const float* caster, const float* box, const float* light, const float* patch, const Middle& m) {
    float radius = light[L_RADIUS];
    float margin = MITRE * radius * (caster[K_INVERSE] - 1.0f / patch[4]);
    bool inside = caster[K_LEFT] - margin <= patch[1] && caster[K_RIGHT] + margin >= patch[0] &&
                  caster[K_TOP] - margin <= patch[3] && caster[K_BOTTOM] + margin >= patch[2];
    if (!inside || !(margin >= 0.0f)) return false;
    float x = m.x - box[X_CENTER], y = m.y - box[X_CENTER + 1], z = m.z - box[X_CENTER + 2];
    float u = light[L_POS] - box[X_CENTER], v = light[L_POS + 1] - box[X_CENTER + 1], w = light[L_POS + 2] - box[X_CENTER + 2];
    bool apart = false;
    for (int j = 0; j < 3; j++) {
        float center = box_along(box, j, x, y, z), half = box_reach(box, j, m.dx, m.dy, m.dz);
        float lamp = box_along(box, j, u, v, w);
        float edge = box[X_HALF + j] + CONTACT;
        apart = apart || (center - half > edge && lamp - radius > edge) || (center + half < -edge && lamp + radius < -edge);
    }
    return !apart;
}

// Whether the surface point lies in the turned rectangle of a geom, widened by its own penumbra, and behind it.
DEVICE bool is_behind(const Lane& lane, const float* caster, float radius) {
    float x = caster[K_DIRECTION], y = caster[K_DIRECTION + 1];
    float margin = MITRE * radius * (caster[K_INVERSE] - lane.lamp_inverse);
    float along = lane.lamp_x * x + lane.lamp_y * y, across = lane.lamp_y * x - lane.lamp_x * y;
    return along >= caster[K_ALONG_LOW] - margin && along <= caster[K_ALONG_HIGH] + margin &&
           across >= caster[K_ACROSS_LOW] - margin && across <= caster[K_ACROSS_HIGH] + margin && margin >= 0.0f;
}

// Raise the shade by the share of four points of the lamp that a mesh hides.
DEVICE void shade_triangles(Lane& lane, const Tile& tile, int g, const float* caster, const float* light, bool endless) {
    if (lane.shade >= 1.0f || !(endless || is_behind(lane, caster, light[L_RADIUS]))) return;
    const float* row = geom_row(tile, g);
    Pose pose = read_pose(pose_row(tile, g));
    const float lamp_u[LAMP_POINTS] = LAMP_U, lamp_v[LAMP_POINTS] = LAMP_V;
    Vector lamp[LAMP_POINTS];
    for (int s = 0; s < LAMP_POINTS; s++) {
        float a = lamp_u[s] * light[L_RADIUS], b = lamp_v[s] * light[L_RADIUS];
        float dx = a * light[L_U] + b * light[L_V];
        float dy = a * light[L_U + 1] + b * light[L_V + 1];
        float dz = a * light[L_U + 2] + b * light[L_V + 2];
        lamp[s].x = caster[K_POS] + pose.r0 * dx + pose.r3 * dy + pose.r6 * dz;
        lamp[s].y = caster[K_POS + 1] + pose.r1 * dx + pose.r4 * dy + pose.r7 * dz;
        lamp[s].z = caster[K_POS + 2] + pose.r2 * dx + pose.r5 * dy + pose.r8 * dz;
    }
    float x = lane.px - pose.x, y = lane.py - pose.y, z = lane.pz - pose.z;
    Vector point = {pose.r0 * x + pose.r3 * y + pose.r6 * z, pose.r1 * x + pose.r4 * y + pose.r7 * z,
                    pose.r2 * x + pose.r5 * y + pose.r8 * z};
    const float* grid = tile.model->grids + 4 * (int)row[G_HULL_COUNT];
    int blocked = count_blocked(*tile.model, (int)row[G_HULL], grid, point, lamp);
    lane.shade = most(lane.shade, LAMP_WEIGHT * (float)blocked);
}

// Fill the shade for light ``k`` from the geoms that can stand between it and the surface points.
DEVICE void cast_shadows(Lane& lane, Tile& tile, int k, const float* surface) {
    const Model& model = *tile.model;
    const float* light = tile.world->lights + k * LIGHT_COLUMNS;
    const float* casters = tile.world->casters + (long long)k * model.geom_count * CASTER_COLUMNS;
    float patch[5];
    lane.shade = 0.0f;
    find_patch(lane, tile, light, patch);
    if (patch[1] < patch[0]) return;
    bool endless = patch[4] >= BIG;
    Middle m = middle_of(surface);
    int count = list_chosen(tile, model.geom_count, [&](int g) {
        return may_cast(casters + g * CASTER_COLUMNS, tile.world->boxes + g * BOX_COLUMNS, light, patch, m);
    });
    for (int j = 0; j < count; j++) {
        int g = tile.list[j];
        const float* caster = casters + g * CASTER_COLUMNS;
        int kind = (int)geom_row(tile, g)[G_TYPE];
        bool hollow = kind == TRIANGLES || kind == BEADS || kind == TURNED;
        // A convex geom throws no shadow on itself; a mesh or a vessel does, and a bead on another.
        if (!endless) {
            bool behind = is_behind(lane, caster, light[L_RADIUS]) && (hollow || lane.id != g) && lane.shade < 1.0f;
            if (!any_of_tile(behind)) continue;
        }
        if (kind == TRIANGLES) shade_triangles(lane, tile, g, caster, light, endless);
        else if (kind == BEADS) shade_beads(lane, tile, g, caster, light, patch);
        else if (kind == TURNED) shade_turned(lane, tile, g, caster, light);
        else shade_by(lane, tile, g, caster, light);
    }
    tile_sync();  // The list is free again.
}
