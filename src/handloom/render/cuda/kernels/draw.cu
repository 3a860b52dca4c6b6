// The entries: place the geoms of many worlds and eyes, draw many views, add mirror images, smooth; see cpu/frame.py
// and cpu/reflect.py. Constants come first, generated from the processor's modules, and the settings of this build:
// SHADOWS, OCCLUSION and SMOOTHING (0 none, 1 borrow, RESHADE).
#include "portable.cuh"
#include "tables.cuh"
#include "visibility.cuh"
#include "triangles.cuh"
#include "beads.cuh"
#include "turned.cuh"
#include "texture.cuh"
#include "surface.cuh"
#include "penumbra.cuh"
#include "space.cuh"
#include "shadows.cuh"
#include "ambient.cuh"
#include "shading.cuh"
#include "trace.cuh"
#include "smooth.cuh"
#include "place.cuh"

// One thread per geom, one row of blocks per world.
ENTRY place_worlds(const Model* models, const World* worlds) {
    const World& world = worlds[block_y()];
    const Model& model = models[world.model];
    int g = block_x() * LANES + lane_index();
    if (g < model.geom_count) place_in_world(model, world, g);
}

// One thread per geom, one row of blocks per eye.
ENTRY place_eyes(const Model* models, const World* worlds, const Eye* eyes) {
    const Eye& eye = eyes[block_y()];
    const World& world = worlds[eye.world];
    const Model& model = models[world.model];
    int g = block_x() * LANES + lane_index();
    if (g < model.geom_count) place_in_view(model, world, eye, g);
}

// The tables and lists of a tile; ``room`` is shared by its lanes and holds 4 numbers per geom of the largest model.
#define BEGIN_TILE(tile, view, room)                                                                                   \
    FOLD_PLACES(fold_places);                                                                                          \
    SHARED int tile_counts[LANES / WARP + 1];                                                                          \
    Tile tile;                                                                                                         \
    tile.eye = eyes + view.eye;                                                                                        \
    tile.view = tile.eye->row;                                                                                         \
    tile.world = worlds + tile.eye->world;                                                                             \
    tile.model = models + tile.world->model;                                                                           \
    tile.list = (int*)room;                                                                                            \
    tile.gaps = (float*)room + 2 * tile.model->geom_count;                                                             \
    tile.counts = tile_counts;                                                                                         \
    tile.fold.places = fold_places;                                                                                    \
    tile.fold.turn = 0

#ifdef __CUDACC__
#define ROOM(name) extern __shared__ float name[]
#else
#define ROOM(name) float* name = shared_room()
#endif

DEVICE void aim(Lane& lane, const float* view, int left, int top) {
    float x = (float)left + 0.5f - view[V_CX], y = (float)top + 0.5f - view[V_CY];
    lane.u = (x + (float)(lane_index() % TILE_WIDTH)) * view[V_INV_FX];
    lane.v = (y + (float)(lane_index() / TILE_WIDTH)) * view[V_INV_FY];
}

// One block per tile, one row of blocks per view.
ENTRY draw_views(const Model* models, const World* worlds, const Eye* eyes, const View* views) {
    const View& view = views[block_y()];
    ROOM(room);
    BEGIN_TILE(tile, view, room);
    const Eye& eye = *tile.eye;
    int columns = (eye.width + TILE_WIDTH - 1) / TILE_WIDTH, rows = (eye.height + TILE_HEIGHT - 1) / TILE_HEIGHT;
    if (block_x() >= rows * columns) return;
    int row = block_x() / columns, column = block_x() % columns;
    int left = column * TILE_WIDTH, top = row * TILE_HEIGHT;
    int x = left + lane_index() % TILE_WIDTH, y = top + lane_index() / TILE_WIDTH;
    bool drawn = x < eye.width && y < eye.height;
    long long pixel = (long long)y * eye.width + x;
    Lane lane;
    aim(lane, eye.row, left, top);
    int count = find_candidates(tile, row, column, column);
    find_nearest(lane, tile, count);
    if (view.rgb || view.normals || view.albedo) find_surface(lane, tile);
    if (drawn) {
        if (view.depth) view.depth[pixel] = lane.t < BIG ? lane.t : INFINITE;
        if (view.distance) view.distance[pixel] = lane.t;
        if (view.segmentation) {
            bool bead = lane.id >= 0 && (int)geom_row(tile, lane.id)[G_TYPE] == BEADS;
            view.segmentation[pixel] = tile.model->ids[lane.id + 1 + (bead ? lane.triangle : 0)];
        }
        if (view.key) view.key[pixel] = (int)((float)lane.id * (float)FACE_KEYS + lane.face) + FACE_ZERO;
        if (view.normals) {
            bool hit = lane.id >= 0;
            view.normals[3 * pixel] = hit ? lane.nx : 0.0f;
            view.normals[3 * pixel + 1] = hit ? lane.ny : 0.0f;
            view.normals[3 * pixel + 2] = hit ? lane.nz : 0.0f;
        }
        if (view.albedo)
            store_rgb(view.albedo, pixel, (int)(encode(limit(lane.red, 0.0f, 1.0f)) + 0.5f),
                      (int)(encode(limit(lane.green, 0.0f, 1.0f)) + 0.5f),
                      (int)(encode(limit(lane.blue, 0.0f, 1.0f)) + 0.5f));
    }
    if (!view.rgb) return;
    shade_layers(lane, tile, count);
    if (!drawn) return;
    int red = (int)(lane.red + 0.5f), green = (int)(lane.green + 0.5f), blue = (int)(lane.blue + 0.5f);
    store_rgb(view.rgb, pixel, red, green, blue);
    if (view.base) view.base[pixel] = (unsigned)red | (unsigned)green << 8 | (unsigned)blue << 16;
}

// One block per row of tiles, one row of blocks per view.
ENTRY smooth_views(const Model* models, const World* worlds, const Eye* eyes, const View* views) {
    const View& view = views[block_y()];
    ROOM(room);
    BEGIN_TILE(tile, view, room);
    SHARED int todo[BATCH + LANES];
    SHARED float spare[3 * LANES];
    if (block_x() * TILE_HEIGHT < tile.eye->height) smooth_row(tile, view, block_x(), todo, spare);
}

// Blend what mirrors show into finished pictures. One block per tile, one row of blocks per view.
ENTRY add_mirror_images(const Model* models, const World* worlds, const Eye* eyes, const View* views) {
    const View& view = views[block_y()];
    ROOM(room);
    BEGIN_TILE(tile, view, room);
    const Eye& eye = *tile.eye;
    int columns = (eye.width + TILE_WIDTH - 1) / TILE_WIDTH, rows = (eye.height + TILE_HEIGHT - 1) / TILE_HEIGHT;
    if (block_x() >= rows * columns) return;
    int row = block_x() / columns, column = block_x() % columns;
    int x = column * TILE_WIDTH + lane_index() % TILE_WIDTH, y = row * TILE_HEIGHT + lane_index() / TILE_WIDTH;
    bool drawn = x < eye.width && y < eye.height;
    long long pixel = (long long)y * eye.width + x;
    for (int k = 0; k < tile.model->mirror_count; k++) {
        int g = tile.model->mirrors[k];
        const float* mirror = geom_row(tile, g);
        bool shows = false;
        if (drawn) {
            int key = view.key[pixel] - FACE_ZERO - g * FACE_KEYS;
            shows = key == UPPER_FACE || ((int)mirror[G_TYPE] == PLANE && key == 0);
        }
        if (!any_of_tile(shows)) continue;
        Lane lane;
        aim(lane, eye.row, column * TILE_WIDTH, row * TILE_HEIGHT);
        lane.start = shows ? view.distance[pixel] + LAYER_GAP : BIG;
        lane.t = BIG;
        lane.id = -1;
        lane.triangle = 0;
        tile.eye = &eye + k + 1;
        int count = find_candidates(tile, row, column, column);
        nearest_first(tile, count);
        cast_all(lane, tile, count, k + 1);
        find_surface(lane, tile);
        light_up(lane, tile);
        tile.eye = &eye;
        if (!shows) continue;
        float weight = mirror[G_MIRROR];
        unsigned char* rgb = view.rgb + 3 * pixel;
        float red = rgb[0], green = rgb[1], blue = rgb[2];
        store_rgb(view.rgb, pixel, (int)(red + weight * (lane.red - red) + 0.5f),
                  (int)(green + weight * (lane.green - green) + 0.5f), (int)(blue + weight * (lane.blue - blue) + 0.5f));
    }
}
