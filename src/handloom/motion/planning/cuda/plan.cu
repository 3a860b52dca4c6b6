// RRT-Connect and shortcutting, one block per job: a problem, and how it is searched; see trees/rrt_connect.py and trees/shortcut.py, whose
// steps and samples these are. All threads of a block check one motion together. Numbers that decide the course of a
// block are the same in all its threads; nothing that another block does decides it.

#ifdef __CUDACC__
#define DEVICE __device__ __forceinline__
#define DEVICE_CALL __device__ __noinline__
#define ENTRY extern "C" __global__ void __launch_bounds__(LANES, BLOCKS_AT_ONCE)
#define SHARED __shared__
DEVICE int lane_index() { return threadIdx.x; }
DEVICE int block_x() { return blockIdx.x; }
DEVICE void tile_sync() { __syncthreads(); }
DEVICE bool any_of_tile(bool holds) { return __syncthreads_or(holds); }
DEVICE void lower_to(int* place, int value) { atomicMin(place, value); }
DEVICE int now_at(const int* place) { return *(const volatile int*)place; }
DEVICE float as_float(int bits) { return __int_as_float(bits); }
#else
struct float4 { float x, y, z, w; };
struct int2 { int x, y; };
static inline float as_float(int bits) { float x; memcpy(&x, &bits, 4); return x; }
static inline void lower_to(int* place, int value) { if (value < *place) *place = value; }
static inline int now_at(const int* place) { return *place; }
#endif

#include "touch.cuh"

typedef unsigned long long u64;

// How one block searches.
struct Job {
    u64 seed;
    int problem, number, iterations, shortcuts;
    float step, padding, per_unit;
    int most;     // nodes per tree
    int weight;   // what a sample of this job counts when jobs of a problem are compared
    int unused;
    u64 node;     // first number of its trees in ``nodes``
    u64 parent;   // first of its trees in ``parents``
};

// What a block found. ``count`` is the number of waypoints, 0 without a path.
struct Found {
    int count, iterations, goal, blocked;
};

// Number ``k`` of the processor's generator with this seed, in [0, 1).
DEVICE double uniform(u64 seed, u64 k) {
    u64 x = seed + (k + 1) * INCREMENT;
    x = (x ^ (x >> 30)) * MIX_1;
    x = (x ^ (x >> 27)) * MIX_2;
    x ^= x >> 31;
    return (double)(x >> 11) * PER_BIT;
}

struct Tree {
    float* nodes;  // joint by joint
    int* parents;
    int most, count;
};

// The node nearest to a configuration in shared memory, and its distance; the first of equally near ones.
DEVICE int nearest(const Tree& tree, int joints, Room& room, const float* q, float& distance) {
    float best = 3e38f;
    int index = 0, lane = lane_index();
    for (int k = lane; k < tree.count; k += LANES) {
        float squared = 0.0f;
        for (int i = 0; i < joints; i++) {
            float d = tree.nodes[i * tree.most + k] - q[i];
            squared += d * d;
        }
        if (squared < best) best = squared, index = k;
    }
    room.near_distance[lane] = best, room.near_index[lane] = index;
    tile_sync();
    // The first warp reads the places of the others and writes to its own, which nobody reads yet.
    if (lane < 32) {
        for (int k = lane + 32; k < LANES; k += 32) {
            float other = room.near_distance[k];
            if (other < best || (other == best && room.near_index[k] < index)) best = other, index = room.near_index[k];
        }
        room.near_distance[lane] = best, room.near_index[lane] = index;
    }
    tile_sync();
    best = room.near_distance[0], index = room.near_index[0];
    for (int k = 1; k < 32; k++) {
        float other = room.near_distance[k];
        if (other < best || (other == best && room.near_index[k] < index)) best = other, index = room.near_index[k];
    }
    distance = sqrtf(best);
    return index;
}

DEVICE void add_node(Tree& tree, const float* q, int joints, int parent) {
    int lane = lane_index();
    if (lane < joints) tree.nodes[lane * tree.most + tree.count] = q[lane];
    if (lane == 0) tree.parents[tree.count] = parent;
    tree.count++;
    tile_sync();
}

// Write a node to ``room.from`` and the point at most ``step`` from it on the way to a target to ``room.fresh``; return
// whether that is the target. Every use of ``nearest`` is followed by the barrier in here before the next one.
DEVICE bool toward(
    Room& room, const Tree& tree, int node, const float* target, int joints, float distance, float step) {
    int i = lane_index();
    bool arrives = distance <= step;
    if (i < joints) {
        float from = tree.nodes[i * tree.most + node];
        room.from[i] = from;
        room.fresh[i] = arrives ? target[i] : from + step / distance * (target[i] - from);
    }
    tile_sync();
    return arrives;
}

DEVICE int branch_length(const Tree& tree, int node) {
    int length = 0;
    for (int k = node; k >= 0; k = tree.parents[k]) length++;
    return length;
}

DEVICE void write_branch(const Tree& tree, int node, int joints, Room& room, int row, int step) {
    int i = lane_index();
    if (i < joints)
        for (int k = node; k >= 0; k = tree.parents[k], row += step)
            if (row >= 0 && row < PATH) room.path[row][i] = tree.nodes[i * tree.most + k];
}

struct Search {
    const Robots& robots;
    const Worlds& worlds;
    const int* done;
};

DEVICE Found rrt_connect(const Search& s, const Job& job, const float* goals, Tree* trees, Room& room, int& length) {
    int joints = room.problem.joints, roots = trees[1].count, grow = 0, lane = lane_index();
    length = 0;
    for (int iteration = 0; iteration < job.iterations; iteration++) {
        // Of several jobs of a problem the one that takes the least counts: this one no longer can.
        if (iteration % 16 == 15 && any_of_tile(lane == 0 && now_at(s.done + job.problem) < iteration * job.weight))
            return {0, iteration, -1, 0};
        if (iteration < roots) grow = 0;
        if (lane < joints) {
            float lower = s.robots.limits[2 * (room.problem.joint + lane)];
            float upper = s.robots.limits[2 * (room.problem.joint + lane) + 1];
            double u = uniform(job.seed, (u64)(iteration - roots) * joints + lane);
            room.sample[lane] = iteration < roots ? goals[iteration * joints + lane]
                                                  : (float)((double)lower + ((double)upper - (double)lower) * u);
        }
        tile_sync();
        Tree &tree = trees[grow], &other = trees[1 - grow];
        float distance;
        int near = nearest(tree, joints, room, room.sample, distance);
        toward(room, tree, near, room.sample, joints, distance, job.step);
        if (tree.count < job.most && edge_is_free(s.robots, s.worlds, room, job.padding, job.per_unit, room.from, room.fresh)) {
            int fresh = tree.count;
            add_node(tree, room.fresh, joints, near);
            if (lane < joints) room.sample[lane] = room.fresh[lane];
            tile_sync();
            int here = nearest(other, joints, room, room.sample, distance);
            bool joined = distance < 1e-6f;
            while (!joined && other.count < job.most) {
                bool arrived = toward(room, other, here, room.sample, joints, distance, job.step);
                if (!edge_is_free(s.robots, s.worlds, room, job.padding, job.per_unit, room.from, room.fresh)) break;
                add_node(other, room.fresh, joints, here);
                here = other.count - 1;
                joined = arrived;
                distance -= job.step;
            }
            if (joined) {
                int first = grow == 0 ? fresh : here, second = grow == 0 ? here : fresh;
                int before = branch_length(trees[0], first);
                length = before + branch_length(trees[1], second) - 1;
                if (length > PATH) return {0, iteration + 1, -1, 0};
                // Both halves end in the same configuration; one copy is overwritten.
                write_branch(trees[0], first, joints, room, before - 1, -1);
                tile_sync();
                write_branch(trees[1], second, joints, room, before - 1, 1);
                tile_sync();
                while (trees[1].parents[second] >= 0) second = trees[1].parents[second];
                return {length, iteration + 1, second, 0};
            }
        }
        if (trees[0].count >= job.most || trees[1].count >= job.most) return {0, iteration + 1, -1, 0};
        int one = trees[0].count + roots, two = trees[1].count + 1;
        grow = one != two ? (one < two ? 0 : 1) : iteration & 1;
    }
    return {0, job.iterations, -1, 0};
}

#include "shorten.cuh"

ENTRY plan_all(
    const Tables* tables, const Problem* problems, const float* starts, const float* goals, const Job* jobs,
    int* done, float* nodes, int* parents, Found* found, float* paths) {
    SHARED Room room;
    SHARED Job shared_job;
    const Robots robots = tables->robots;
    const Worlds worlds = tables->worlds;
    int lane = lane_index();
    if (lane == 0) shared_job = jobs[block_x()];
    tile_sync();
    const Job& job = shared_job;
    if (lane == 0) room.problem = problems[job.problem];
    if (lane < CONFIGS) room.hit[lane] = 0;
    tile_sync();
    int joints = room.problem.joints, roots = min(room.problem.goals, job.most);
    const float *start = starts + (long long)job.problem * JOINTS, *ends = goals + room.problem.goal;
    // Where a search begins must be free for it: the start is configuration 0, the goals are those that follow.
    int blocked = 0;
    for (int first = 0; first < 1 + roots; first += CONFIGS) {
        int e = min(first + lane % CONFIGS, roots);
        const float* q = e == 0 ? start : ends + (long long)(e - 1) * joints;
        bool hit = hits<false>(robots, worlds, room, job.padding, [&](int k) { return q[k]; });
        if (hit && first == 0) room.hit[lane % CONFIGS] = 1;
        if (any_of_tile(hit)) blocked = 1;
    }
    Found result = {0, 0, -1, blocked};
    if (blocked && lane == 0 && roots < CONFIGS)
        for (int e = 0, bit = 1; e <= roots && e < 31; e++, bit *= 2) result.blocked |= room.hit[e] ? 2 * bit : 0;
    if (!blocked) {
        Tree trees[2];
        for (int t = 0; t < 2; t++) {
            trees[t].nodes = nodes + job.node + (u64)t * job.most * joints;
            trees[t].parents = parents + job.parent + (u64)t * job.most;
            trees[t].most = job.most, trees[t].count = t == 0 ? 1 : roots;
            for (int k = lane; k < trees[t].count * joints; k += LANES)
                trees[t].nodes[k % joints * job.most + k / joints] = t == 0 ? start[k] : ends[k];
            for (int k = lane; k < trees[t].count; k += LANES) trees[t].parents[k] = -1;
        }
        tile_sync();
        Search search = {robots, worlds, done};
        int length;
        result = rrt_connect(search, job, ends, trees, room, length);
        if (result.count > 0) {
            result.count = shorten(search, job, room, result.count);
            if (lane < joints)
                for (int k = 0; k < result.count; k++)
                    paths[((long long)block_x() * PATH + k) * JOINTS + lane] = room.path[k][lane];
            if (lane == 0) lower_to(done + job.problem, result.iterations * job.weight);
        }
    }
    if (lane == 0) found[block_x()] = result;
}

// Verdicts on configurations of one problem each, CONFIGS of them per block: 1 where something touches.
ENTRY check_all(
    const Tables* tables, const Problem* problems, const int* which, const float* q, int count, float padding,
    int* touched) {
    SHARED Room room;
    const Robots robots = tables->robots;
    const Worlds worlds = tables->worlds;
    int lane = lane_index(), c = lane % CONFIGS, row = min(CONFIGS * block_x() + c, count - 1);
    if (lane == 0) room.problem = problems[which[block_x()]];
    if (lane < CONFIGS) room.hit[lane] = 0;
    tile_sync();
    if (hits<false>(robots, worlds, room, padding, [&](int k) { return q[(long long)row * JOINTS + k]; })) room.hit[c] = 1;
    tile_sync();
    if (lane < CONFIGS && CONFIGS * block_x() + lane < count) touched[CONFIGS * block_x() + lane] = room.hit[lane];
}
