// What the kernels ask of a machine: the lanes of a tile, votes and bounds over them. With a CUDA compiler these are
// the card's; any other C++ compiler takes them from the program that runs the kernels lane by lane (see the tests).
//
// A block is one batch of LANES rays, exactly a batch of the processor's ray caster: every decision that is taken for
// a batch as a whole is taken over the same lanes there and here, so that the pictures are the same bits. For the same
// reason nothing may be contracted or approximated: compile without fused multiply-add, with IEEE division and root.
#pragma once

#define WARP 32

#ifdef __CUDACC__

#define DEVICE __device__ __forceinline__
#define DEVICE_CALL __device__ __noinline__
// So many blocks share a multiprocessor: the compiler keeps registers low enough.
#ifndef BLOCKS_AT_ONCE
#define BLOCKS_AT_ONCE 5
#endif
#define ENTRY extern "C" __global__ void __launch_bounds__(LANES, BLOCKS_AT_ONCE)
#define SHARED __shared__
#define INFINITE __int_as_float(0x7f800000)
typedef unsigned short ushort_t;

DEVICE int lane_index() { return threadIdx.x; }
DEVICE int block_x() { return blockIdx.x; }
DEVICE int block_y() { return blockIdx.y; }
DEVICE void tile_sync() { __syncthreads(); }
DEVICE bool any_of_tile(bool holds) { return __syncthreads_or(holds); }
DEVICE bool all_of_tile(bool holds) { return __syncthreads_and(holds); }
DEVICE bool any_of_warp(bool holds) { return __any_sync(0xffffffffu, holds); }
DEVICE unsigned warp_ballot(bool holds) { return __ballot_sync(0xffffffffu, holds); }
DEVICE int count_bits(unsigned bits) { return __popc(bits); }
DEVICE int first_bit(unsigned bits) { return __ffs(bits) - 1; }
DEVICE void set_bits(unsigned* word, unsigned bits) { atomicOr(word, bits); }

// Floats as integers of the same order, which the card compares over a warp in one instruction.
DEVICE int ordered(float x) { int b = __float_as_int(x); return b ^ ((b >> 31) & 0x7fffffff); }
DEVICE float from_ordered(int b) { return __int_as_float(b ^ ((b >> 31) & 0x7fffffff)); }

DEVICE float warp_greatest(float x) {
#if __CUDA_ARCH__ >= 800
    return from_ordered(__reduce_max_sync(0xffffffffu, ordered(x)));
#else
    for (int k = WARP / 2; k > 0; k /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, k));
    return x;
#endif
}
DEVICE float warp_least(float x) { return -warp_greatest(-x); }
DEVICE int warp_sum_before(unsigned bits) { return __popc(bits & ((1u << (threadIdx.x % WARP)) - 1u)); }

// The greatest of each of ``count`` values over the tile, in place. Two sets of places take turns, so that one barrier
// is enough.
struct Fold {
    float (*places)[LANES / WARP][6];
    int turn;
};

template <int COUNT> DEVICE void tile_greatest(Fold& fold, float* values) {
    float(*here)[6] = fold.places[fold.turn];
    fold.turn ^= 1;
    int warp = threadIdx.x / WARP;
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
        float x = warp_greatest(values[k]);
        if (threadIdx.x % WARP == 0) here[warp][k] = x;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
        float x = here[0][k];
#pragma unroll
        for (int w = 1; w < LANES / WARP; w++) x = fmaxf(x, here[w][k]);
        values[k] = x;
    }
}

#define FOLD_PLACES(name) SHARED float name[2][LANES / WARP][6]

#else
#include "lane_by_lane.h"
#endif

DEVICE float least(float a, float b) { return fminf(a, b); }
DEVICE float most(float a, float b) { return fmaxf(a, b); }
DEVICE float limit(float x, float low, float high) { return fminf(fmaxf(x, low), high); }
DEVICE float clamp01(float t) { return limit(t, 0.0f, 1.0f); }
