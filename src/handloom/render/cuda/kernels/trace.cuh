// Carry the rays of a tile through all stages: visibility, surface, shadows, ambient occlusion, shading; see
// cpu/trace.py.
#pragma once

// List the geoms whose outline touches tile columns ``first`` to ``last`` of a row; return their number.
DEVICE int find_candidates(Tile& tile, int row, int first, int last) {
    int count = tile.model->geom_count;
    const ushort_t* spans = tile.eye->spans + 2 * (long long)row * count;
    return list_chosen(tile, count, [&](int g) { return spans[2 * g] <= last && first < spans[2 * g + 1]; });
}

// Sort the candidates by the depth at which they begin.
DEVICE void nearest_first(Tile& tile, int count) {
    int* sorted = tile.list + tile.model->geom_count;
    for (int k = lane_index(); k < count; k += LANES) {
        float depth = seen_row(tile, tile.list[k])[S_DEPTH];
        int place = 0;
        for (int j = 0; j < count; j++) {
            float other = seen_row(tile, tile.list[j])[S_DEPTH];
            place += other < depth || (other == depth && j < k);
        }
        sorted[place] = tile.list[k];
    }
    tile_sync();
}

// Cast the rays against all candidates, sorted, until the next begins behind all hits.
DEVICE void cast_all(Lane& lane, Tile& tile, int count, int layer) {
    const int* sorted = tile.list + tile.model->geom_count;
    for (int k = 0; k < count; k++) {
        int g = sorted[k];
        if (k > 0 && !any_of_warp(lane.t >= seen_row(tile, g)[S_DEPTH])) break;
        int kind = (int)geom_row(tile, g)[G_TYPE];
        if (kind == BEADS) cast_beads(lane, tile, g);
        else if (kind == TRIANGLES) cast_triangles(lane, tile, g);
        else if (kind == TURNED) cast_turned(lane, tile, g);
        else cast(lane, tile, g, layer);
    }
}

DEVICE void find_nearest(Lane& lane, Tile& tile, int count) {
    lane.start = tile.eye->row[V_NEAR];
    lane.t = BIG;
    lane.id = -1;
    lane.triangle = 0;
    nearest_first(tile, count);
    cast_all(lane, tile, count, 0);
}

// Turn surfaces into screen colours 0..255.
DEVICE void light_up(Lane& lane, Tile& tile) {
    const Model& model = *tile.model;
    lane.light_r = lane.light_g = lane.light_b = 0.0f;
    lane.shine_r = lane.shine_g = lane.shine_b = 0.0f;
    lane.px += LIFT * lane.nx;
    lane.py += LIFT * lane.ny;
    lane.pz += LIFT * lane.nz;
    lane.near_gap = 1.0f;
    float surface[6];
    if (SHADOWS || OCCLUSION) bound(lane, tile.fold, 0.0f, 0, 1 << 30, surface);
    for (int k = 0; k < model.light_count; k++) {
        const float* light = tile.world->lights + k * LIGHT_COLUMNS;
        float at[3], axis[3];
        light_place(tile, k, at, axis);
        if (SHADOWS && light[L_SHADOW] > 0.0f) {
            cast_shadows(lane, tile, k, surface);
            add_light(lane, light, at, axis, tile.eye->row);
        } else
            add_soft_light(lane, light, at, axis, tile.eye->row);
    }
    if (OCCLUSION) occlude(lane, tile, surface);
    shade_surface(lane, model.world, tile.eye->row);
}

// Turn the surfaces, and what lies behind transparent ones, into screen colours 0..255: layer by layer, blended on
// screen, as GL does. Destroys depth, id and opacity. The candidates are sorted in the second half of the list, which
// lighting leaves alone.
DEVICE void shade_layers(Lane& lane, Tile& tile, int count) {
    float red = 0.0f, green = 0.0f, blue = 0.0f, left = 1.0f;
    for (int layer = 0; layer <= MAX_LAYERS; layer++) {
        if (layer > 0) {
            lane.start = lane.t + LAYER_GAP;
            lane.t = BIG;
            lane.id = -1;
            cast_all(lane, tile, count, layer);
            find_surface(lane, tile);
        }
        light_up(lane, tile);
        float weight = left * lane.opacity;
        red += lane.red * weight;
        green += lane.green * weight;
        blue += lane.blue * weight;
        left -= weight;
        if (!any_of_tile(lane.opacity < 1.0f)) break;
    }
    lane.red = red, lane.green = green, lane.blue = blue;
}
