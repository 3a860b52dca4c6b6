// Anti-aliasing: the pixels on outlines and creases are looked at once more, with four rays each; see cpu/smooth.py.
#pragma once

#define SAMPLES 4
#define BATCH (LANES / SAMPLES)

DEVICE bool is_edge(const View& view, const Eye& eye, int x, int y) {
    if (x < 1 || x >= eye.width - 1 || y >= eye.height) return false;
    const int* here = view.key + (long long)y * eye.width + x;
    int k = here[0];
    int above = y > 0 ? here[-eye.width] : k, below = y < eye.height - 1 ? here[eye.width] : k;
    return here[1] != k || here[-1] != k || above != k || below != k;
}

// The pixel around (x, y) that shows key ``k``, looking first where the sample lies; itself if none.
DEVICE long long neighbour(const View& view, const Eye& eye, int x, int y, int k, int right, int down) {
    int w = eye.width, h = eye.height;
    long long y_near = min(max(y + down, 0), h - 1), y_far = min(max(y - down, 0), h - 1);
    int x_near = min(max(x + right, 0), w - 1), x_far = min(max(x - right, 0), w - 1);
    if (view.key[y_near * w + x] == k) return y_near * w + x;
    if (view.key[(long long)y * w + x_near] == k) return (long long)y * w + x_near;
    if (view.key[(long long)y * w + x_far] == k) return (long long)y * w + x_far;
    if (view.key[y_far * w + x] == k) return y_far * w + x;
    if (view.key[y_near * w + x_near] == k) return y_near * w + x_near;
    return (long long)y * w + x;
}

// List the geoms that the edge pixels of a batch or their neighbours show, the only ones with a colour to borrow.
DEVICE int find_seen(Tile& tile, const View& view, const int* todo, int pixels) {
    const Eye& eye = *tile.eye;
    int count = tile.model->geom_count;
    int* seen = tile.list + count;  // Marks, in the room for sorting.
    for (int g = lane_index(); g < count; g += LANES) seen[g] = 0;
    tile_sync();
    for (int j = lane_index(); j < pixels; j += LANES) {
        int y = todo[j] / eye.width, x = todo[j] % eye.width;
        int y_above = max(y - 1, 0), y_below = min(y + 1, eye.height - 1);
        int keys[5] = {view.key[(long long)y * eye.width + x], view.key[(long long)y * eye.width + x - 1],
                       view.key[(long long)y * eye.width + x + 1], view.key[(long long)y_above * eye.width + x],
                       view.key[(long long)y_below * eye.width + x]};
        // Beads, of which there may be more than keys, are the last row. All lanes write the same mark.
        for (int k = 0; k < 5; k++)
            if (keys[k] >= 0) seen[min(keys[k] / FACE_KEYS, count - 1)] = 1;
    }
    tile_sync();
    int found = list_chosen(tile, count, [&](int g) { return seen[g] != 0; });
    tile_sync();
    return found;
}

DEVICE void store_rgb(unsigned char* rgb, long long pixel, int red, int green, int blue) {
    rgb[3 * pixel] = (unsigned char)red;
    rgb[3 * pixel + 1] = (unsigned char)green;
    rgb[3 * pixel + 2] = (unsigned char)blue;
}

// Smooth a batch of edge pixels, four lanes each; spare lanes repeat the last pixel. ``spare`` holds LANES * 3 numbers.
DEVICE void smooth_batch(Tile& tile, const View& view, int row, const int* todo, int pixels, float* spare) {
    const Eye& eye = *tile.eye;
    int mine = min(lane_index() / SAMPLES, pixels - 1), q = lane_index() % SAMPLES;
    int pixel = todo[mine];
    int y = pixel / eye.width, x = pixel % eye.width;
    const float sample_x[SAMPLES] = SAMPLE_X, sample_y[SAMPLES] = SAMPLE_Y;
    Lane lane;
    lane.u = ((float)x - eye.row[V_CX] + sample_x[q]) * eye.row[V_INV_FX];
    lane.v = ((float)y - eye.row[V_CY] + sample_y[q]) * eye.row[V_INV_FY];
    float red, green, blue;
    if (SMOOTHING == RESHADE) {
        int first = todo[0] % eye.width / TILE_WIDTH, last = todo[pixels - 1] % eye.width / TILE_WIDTH;
        int count = find_candidates(tile, row, first, last);
        find_nearest(lane, tile, count);
        find_surface(lane, tile);
        shade_layers(lane, tile, count);
        red = lane.red, green = lane.green, blue = lane.blue;
    } else {
        int count = find_seen(tile, view, todo, pixels);
        find_nearest(lane, tile, count);
        find_face(lane, tile);
        int k = lane.id * FACE_KEYS + FACE_ZERO + (int)lane.face;
        long long from = (long long)y * eye.width + x;
        if (k != view.key[from]) from = neighbour(view, eye, x, y, k, q < 2 ? 1 : -1, q < 2 ? -1 : 1);
        unsigned color = view.base[from];
        red = (float)(color & 255), green = (float)(color >> 8 & 255), blue = (float)(color >> 16 & 255);
    }
    tile_sync();
    spare[lane_index()] = red;
    spare[LANES + lane_index()] = green;
    spare[2 * LANES + lane_index()] = blue;
    tile_sync();
    if (lane_index() < pixels) {
        long long to = todo[lane_index()];
        int color[3];
        for (int c = 0; c < 3; c++) {
            const float* s = spare + c * LANES + SAMPLES * lane_index();
            if (SMOOTHING == RESHADE) color[c] = (int)(0.25f * (s[0] + s[1] + s[2] + s[3]) + 0.5f);
            else color[c] = (2 + (int)s[0] + (int)s[1] + (int)s[2] + (int)s[3]) >> 2;
        }
        store_rgb(view.rgb, to, color[0], color[1], color[2]);
    }
    tile_sync();
}

#define WORD 8
#define WORDS_AT_ONCE (LANES / (WORD * TILE_HEIGHT))

// Smooth a row of tiles: its edge pixels, word by word of eight columns, in full batches.
DEVICE void smooth_row(Tile& tile, const View& view, int row, int* todo, float* spare) {
    const Eye& eye = *tile.eye;
    int words = (eye.width + TILE_WIDTH - 1) / TILE_WIDTH * (TILE_WIDTH / WORD);
    int pending = 0;
    int warp = lane_index() / WARP;
    for (int word = 0; word < words; word += WORDS_AT_ONCE) {
        int within = lane_index() % (WORD * TILE_HEIGHT);
        int x = (word + lane_index() / (WORD * TILE_HEIGHT)) * WORD + within % WORD;
        int y = row * TILE_HEIGHT + within / WORD;
        bool edge = is_edge(view, eye, x, y);
        unsigned bits = warp_ballot(edge);
        if (lane_index() % WARP == 0) tile.counts[warp] = count_bits(bits);
        tile_sync();
        int before = pending;
        for (int w = 0; w < LANES / WARP; w++) {
            if (w < warp) before += tile.counts[w];
            pending += tile.counts[w];
        }
        if (edge) todo[before + warp_sum_before(bits)] = y * eye.width + x;
        tile_sync();
        bool last = word + WORDS_AT_ONCE >= words;
        int start = 0;
        for (; pending - start >= BATCH || (last && start < pending); start += BATCH)
            smooth_batch(tile, view, row, todo + start, min(BATCH, pending - start), spare);
        pending = max(pending - start, 0);
        // Fewer than a batch are left; they go to the front.
        int kept = lane_index() < pending ? todo[start + lane_index()] : 0;
        tile_sync();
        if (lane_index() < pending) todo[lane_index()] = kept;
        tile_sync();
    }
}
