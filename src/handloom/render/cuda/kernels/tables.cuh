// The tables on the card. Columns of rows have the names of layout.py, from which their numbers are generated.
//
// A model is what never changes, a world one moment of it, an eye one camera in that moment (or its image behind a
// mirror), a view the pictures of a camera. One launch draws views of many worlds of many models.
#pragma once

struct Model {
    const float* geoms;      // (g, GEOM_COLUMNS): shapes and materials
    const float* hulls;      // (k, 4)
    const int* nodes;        // (n, 32)
    const float* grids;      // (m, 4)
    const float* triangles;  // (blocks, 9 * BLOCK)
    const float* corners;    // (blocks * BLOCK, 16)
    const int* textures;     // (k, 4)
    const int* texels;
    const float* world;      // (WORLD_COLUMNS,)
    const int* ids;          // -1, then the geom id of each row or bead
    int geom_count, light_count, bead_count, mirror_count;
    int mirrors[MAX_MIRRORS];  // geom rows
    int headlight;             // 1 when the last light is carried by the camera
    int unused;
};

struct World {
    const float* poses;   // (g, POSE): rotation, position; then the box around all beads, centre and half extents
    const float* lights;  // (l, LIGHT_COLUMNS)
    const float* beads;   // (b, 3)
    float* boxes;         // (g, BOX_COLUMNS), written by place_worlds
    float* casters;       // (l, g, CASTER_COLUMNS), likewise
    int model, unused;
};

struct Eye {
    float* seen;          // (g, SEEN_COLUMNS), written by place_eyes
    ushort_t* spans;      // (tile rows, g, 2): first tile column and one past the last, likewise
    float row[VIEW_COLUMNS];
    float body;           // that rigidly carries the camera
    int world, width, height;
    int unused[2];
};

struct View {
    unsigned char* rgb;      // images: null when not wanted
    float* depth;
    int* segmentation;
    float* normals;
    unsigned char* albedo;
    int* key;                // scratch: geom and face of each pixel
    unsigned* base;          // scratch: colours before anti-aliasing, red in the lowest byte
    float* distance;         // scratch: depths, where mirrors are drawn
    int eye, unused;         // its own, those behind the mirrors follow
};

#define BOX_COLUMNS 16       // rotation, centre, half extents
#define X_CENTER 9
#define X_HALF 12
#define CASTER_COLUMNS 16    // as layout.py has them
#define K_POS 0
#define K_LEFT 3
#define K_RIGHT 4
#define K_TOP 5
#define K_BOTTOM 6
#define K_INVERSE 7
#define K_DIRECTION 8
#define K_ALONG_LOW 10
#define K_ALONG_HIGH 11
#define K_ACROSS_LOW 12
#define K_ACROSS_HIGH 13
#define SEEN_COLUMNS 16      // eye, rays u, v, w; inside; depth
#define S_EYE 0
#define S_RAY_U 3
#define S_RAY_V 6
#define S_RAY_W 9
#define S_INSIDE 12
#define S_DEPTH 13

// One ray and all that becomes of it; see the lanes of layout.py.
struct Lane {
    float start, u, v, t;
    int id, triangle;
    float nx, ny, nz, px, py, pz;
    float red, green, blue, specular, shininess, metal, glow, opacity, face;
    float shade, near_gap, far_gap;
    float light_r, light_g, light_b, shine_r, shine_g, shine_b;
    float nearness, lamp_x, lamp_y, lamp_inverse;
};

// What a tile is drawn with: the tables of its world, and lists that its lanes share.
struct Tile {
    const Model* model;
    const World* world;
    const Eye* eye;        // whose rays these are
    const float* view;     // row of the camera; the headlight is there, also when the eye is behind a mirror
    int* list;             // (2 g,): candidates, later casters or near geoms; and room to sort
    float* gaps;           // (2 g,): how near geoms of the list can come
    int* counts;           // (LANES / WARP + 1,)
    Fold fold;
};

DEVICE const float* geom_row(const Tile& tile, int g) { return tile.model->geoms + g * GEOM_COLUMNS; }
DEVICE const float* pose_row(const Tile& tile, int g) { return tile.world->poses + g * POSE; }
DEVICE const float* seen_row(const Tile& tile, int g) { return tile.eye->seen + g * SEEN_COLUMNS; }

struct Pose {
    float r0, r1, r2, r3, r4, r5, r6, r7, r8, x, y, z;
};
DEVICE Pose read_pose(const float* p) {
    Pose pose = {p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11]};
    return pose;
}

// Write a normal given in the geom frame.
DEVICE void turn(Lane& lane, const Pose& pose, float nx, float ny, float nz) {
    lane.nx = pose.r0 * nx + pose.r1 * ny + pose.r2 * nz;
    lane.ny = pose.r3 * nx + pose.r4 * ny + pose.r5 * nz;
    lane.nz = pose.r6 * nx + pose.r7 * ny + pose.r8 * nz;
}

struct Rays {
    float ox, oy, oz, ax, ay, az, bx, by, bz, cx, cy, cz;
};
DEVICE Rays read_rays(const float* s) {
    Rays rays = {s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9], s[10], s[11]};
    return rays;
}

// The columns of a light that the headlight takes from the camera.
DEVICE void light_place(const Tile& tile, int k, float* position, float* axis) {
    const float* light = tile.world->lights + k * LIGHT_COLUMNS;
    bool carried = tile.model->headlight && k == tile.model->light_count - 1;
    for (int i = 0; i < 3; i++) {
        position[i] = carried ? tile.view[V_EYE + i] : light[L_POS + i];
        axis[i] = carried ? -tile.view[V_AXES + 3 * i + 2] : light[L_W + i];
    }
}

// Lists the numbers below ``count`` of the lanes' choice in rising order in tile.list; returns how many.
template <class Choose> DEVICE int list_chosen(Tile& tile, int count, Choose choose) {
    int found = 0;
    int warp = lane_index() / WARP;
    for (int start = 0; start < count; start += LANES) {
        int g = start + lane_index();
        bool chosen = g < count && choose(g);
        unsigned bits = warp_ballot(chosen);
        if (lane_index() % WARP == 0) tile.counts[warp] = count_bits(bits);
        tile_sync();
        int before = found;
        for (int w = 0; w < LANES / WARP; w++) {
            if (w < warp) before += tile.counts[w];
            found += tile.counts[w];
        }
        if (chosen) tile.list[before + warp_sum_before(bits)] = g;
        tile_sync();
    }
    return found;
}
