// Runs the kernels without a card: the lanes of a block are fibres that take turns, and wait for each other where the
// card's would. One block at a time, so what they share may be static.
#pragma once
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <ucontext.h>

#define DEVICE static inline
#define DEVICE_CALL static inline
#define ENTRY static void
#define SHARED static
#define INFINITE INFINITY
typedef unsigned short ushort_t;
using std::max;
using std::min;

struct Meeting {
    int size, arrived, round;
    unsigned values[2][LANES * 8];
};

struct Lanes {
    ucontext_t main, fibres[LANES];
    bool done[LANES];
    char* stacks;
    int current, x, y;
    Meeting tile, warps[LANES / WARP];
    std::function<void()> body;
    float* room;
};
static Lanes L;
static const size_t STACK_BYTES = 1 << 18;

static inline int lane_index() { return L.current; }
static inline int block_x() { return L.x; }
static inline int block_y() { return L.y; }
static inline float* shared_room() { return L.room; }

static void next_lane() {
    int from = L.current;
    for (int k = 1; k <= LANES; k++) {
        int to = (from + k) % LANES;
        if (L.done[to]) continue;
        if (to == from) return;
        L.current = to;
        swapcontext(&L.fibres[from], &L.fibres[to]);
        return;
    }
    L.current = from;
    swapcontext(&L.fibres[from], &L.main);
}

// Hands in up to 8 words and returns those of all lanes of the group, once all of them came.
static unsigned* meet(Meeting& group, int place, const void* mine, int words) {
    int round = group.round;
    unsigned* values = group.values[round & 1];
    memcpy(values + place * words, mine, 4 * words);
    if (++group.arrived == group.size) {
        group.arrived = 0;
        group.round++;
    }
    while (group.round == round) next_lane();
    return values;
}

static inline void tile_sync() {
    unsigned none = 0;
    meet(L.tile, L.current, &none, 1);
}
static inline bool any_of_tile(bool holds) {
    unsigned mine = holds, *all = meet(L.tile, L.current, &mine, 1), any = 0;
    for (int i = 0; i < LANES; i++) any |= all[i];
    return any;
}
static inline bool all_of_tile(bool holds) { return !any_of_tile(!holds); }
static inline unsigned warp_ballot(bool holds) {
    unsigned mine = holds, *all = meet(L.warps[L.current / WARP], L.current % WARP, &mine, 1), bits = 0;
    for (int i = 0; i < WARP; i++) bits |= all[i] << i;
    return bits;
}
static inline bool any_of_warp(bool holds) { return warp_ballot(holds) != 0; }
static inline int count_bits(unsigned bits) { return __builtin_popcount(bits); }
static inline int first_bit(unsigned bits) { return __builtin_ctz(bits); }
static inline int warp_sum_before(unsigned bits) { return count_bits(bits & ((1u << (L.current % WARP)) - 1u)); }
static inline float warp_greatest(float x) {
    float* all = (float*)meet(L.warps[L.current / WARP], L.current % WARP, &x, 1);
    for (int i = 0; i < WARP; i++) x = fmaxf(x, all[i]);
    return x;
}
static inline float warp_least(float x) { return -warp_greatest(-x); }

struct Fold {
    int places, turn;
};
template <int COUNT> static inline void tile_greatest(Fold&, float* values) {
    float* all = (float*)meet(L.tile, L.current, values, COUNT);
    for (int i = 0; i < LANES; i++)
        for (int k = 0; k < COUNT; k++) values[k] = fmaxf(values[k], all[i * COUNT + k]);
}
#define FOLD_PLACES(name) int name = 0

static void start_lane() {
    L.body();
    L.done[L.current] = true;
    next_lane();
}

static void run_block(int x, int y) {
    L.x = x, L.y = y;
    memset(&L.tile, 0, sizeof(L.tile));
    memset(L.warps, 0, sizeof(L.warps));
    L.tile.size = LANES;
    for (auto& warp : L.warps) warp.size = WARP;
    for (int i = 0; i < LANES; i++) {
        L.done[i] = false;
        getcontext(&L.fibres[i]);
        L.fibres[i].uc_stack.ss_sp = L.stacks + i * STACK_BYTES;
        L.fibres[i].uc_stack.ss_size = STACK_BYTES;
        L.fibres[i].uc_link = &L.main;
        makecontext(&L.fibres[i], start_lane, 0);
    }
    L.current = 0;
    swapcontext(&L.main, &L.fibres[0]);
}

static void run_grid(int width, int height, int shared, std::function<void()> body) {
    if (!L.stacks) L.stacks = (char*)malloc(LANES * STACK_BYTES);
    L.room = (float*)malloc(shared + 16);
    L.body = body;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) run_block(x, y);
    free(L.room);
}
