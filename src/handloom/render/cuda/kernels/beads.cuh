// Beads: many balls of one size and one material, drawn as one geom; see cpu/rays/beads.py. A warp looks through the
// centres together and each of its rays then at those that any of them can meet.
#pragma once

DEVICE void cast_beads(Lane& lane, const Tile& tile, int g) {
    Rays r = read_rays(seen_row(tile, g));
    float radius = geom_row(tile, g)[G_SIZE];
    float r2 = radius * radius;
    float left = warp_least(lane.u), right = warp_greatest(lane.u);
    float top = warp_least(lane.v), bottom = warp_greatest(lane.v);
    float width_l = sqrtf(left * left + 1.0f) * radius, width_r = sqrtf(right * right + 1.0f) * radius;
    float width_t = sqrtf(top * top + 1.0f) * radius, width_b = sqrtf(bottom * bottom + 1.0f) * radius;
    float x = lane.u * r.ax + lane.v * r.bx + r.cx;
    float y = lane.u * r.ay + lane.v * r.by + r.cy;
    float z = lane.u * r.az + lane.v * r.bz + r.cz;
    float a = 1.0f / (x * x + y * y + z * z);
    int count = tile.model->bead_count;
    for (int start = 0; start < count; start += WARP) {
        int mine = start + lane_index() % WARP;
        bool seen = false;
        if (mine < count) {
            const float* c = tile.world->beads + 3 * mine;
            float dx = c[0] - r.ox, dy = c[1] - r.oy, dz = c[2] - r.oz;
            float u = dx * r.ax + dy * r.ay + dz * r.az;
            float v = dx * r.bx + dy * r.by + dz * r.bz;
            float w = dx * r.cx + dy * r.cy + dz * r.cz;
            seen = u - left * w > -width_l && u - right * w < width_r && v - top * w > -width_t &&
                   v - bottom * w < width_b && w > -radius;
        }
        for (unsigned bits = warp_ballot(seen); bits != 0; bits &= bits - 1) {
            int k = start + first_bit(bits);
            const float* c = tile.world->beads + 3 * k;
            float ox = r.ox - c[0], oy = r.oy - c[1], oz = r.oz - c[2];
            float middle = -(ox * x + oy * y + oz * z) * a;
            float qx = ox + middle * x, qy = oy + middle * y, qz = oz + middle * z;
            float gap = r2 - (qx * qx + qy * qy + qz * qz);
            float t = middle - sqrtf(most(gap, 0.0f) * a);
            bool hit = gap > 0.0f && t > lane.start && t < lane.t;
            lane.t = hit ? t : lane.t;
            lane.id = hit ? g : lane.id;
            lane.triangle = hit ? k : lane.triangle;
        }
    }
}

// Raise the shade where beads hide a light from the surface point; a bead throws no shadow on itself.
DEVICE void shade_beads(Lane& lane, const Tile& tile, int g, const float* caster, const float* light, const float* patch) {
    float radius = geom_row(tile, g)[G_SIZE], disc = light[L_RADIUS];
    float lx = caster[K_POS], ly = caster[K_POS + 1], lz = caster[K_POS + 2];
    float lamp = BEAD_CORNER * disc, around = BEAD_CORNER * radius;
    float inverse = 1.0f / patch[4];
    int own = lane.id == g ? lane.triangle : -1;
    int count = tile.model->bead_count;
    for (int start = 0; start < count; start += WARP) {
        int mine = start + lane_index() % WARP;
        bool between = false;
        if (mine < count) {
            const float* c = tile.world->beads + 3 * mine;
            float x = lx - c[0], y = ly - c[1], z = lz - c[2];
            float w = x * light[L_W] + y * light[L_W + 1] + z * light[L_W + 2] - around;
            float nearest = 1.0f / most(w, LIGHT_NEAR);
            float u = (x * light[L_U] + y * light[L_U + 1] + z * light[L_U + 2]) * nearest;
            float v = (x * light[L_V] + y * light[L_V + 1] + z * light[L_V + 2]) * nearest;
            float penumbra = lamp * (nearest - inverse);
            float reach = (around + around * most(fabsf(u), fabsf(v)) + around) * nearest + penumbra;
            bool inside = u - reach <= patch[1] && u + reach >= patch[0] && v - reach <= patch[3] && v + reach >= patch[2];
            between = (inside && penumbra >= 0.0f) || w < LIGHT_NEAR;
        }
        for (unsigned bits = warp_ballot(between); bits != 0; bits &= bits - 1) {
            int k = start + first_bit(bits);
            const float* c = tile.world->beads + 3 * k;
            float ox = lane.px - c[0], oy = lane.py - c[1], oz = lane.pz - c[2];
            float x = lx - lane.px, y = ly - lane.py, z = lz - lane.pz;
            float t = limit(-(ox * x + oy * y + oz * z) * lane.nearness * lane.nearness, 0.0f, 1.0f);
            float p = ox + t * x, q = oy + t * y, r = oz + t * z;
            float gap = sqrtf(p * p + q * q + r * r) - radius;
            float hidden = limit(0.5f - 0.5f * gap / (disc * t + CONTACT), 0.0f, 1.0f);
            lane.shade = least(lane.shade + (k != own ? hidden : 0.0f), 1.0f);
        }
    }
}
