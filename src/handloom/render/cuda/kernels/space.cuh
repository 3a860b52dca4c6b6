// Space: world-aligned boxes around the surface points of a tile, and how far geoms are; see cpu/rays/space.py.
#pragma once

// Bounds of the points ``height`` above the lanes that show geoms ``lowest`` to ``highest``: low and high x, y, z.
DEVICE void bound(const Lane& lane, Fold& fold, float height, int lowest, int highest, float* space) {
    bool mine = lane.id >= lowest && lane.id <= highest;
    float x = lane.px + height * lane.nx, y = lane.py + height * lane.ny, z = lane.pz + height * lane.nz;
    float values[6] = {mine ? -x : -BIG, mine ? x : -BIG, mine ? -y : -BIG,
                       mine ? y : -BIG,  mine ? -z : -BIG, mine ? z : -BIG};
    tile_greatest<6>(fold, values);
    for (int k = 0; k < 6; k++) space[k] = k % 2 ? values[k] : -values[k];
}

struct Middle {
    float x, y, z, dx, dy, dz;
};
DEVICE Middle middle_of(const float* s) {
    Middle m = {0.5f * (s[0] + s[1]), 0.5f * (s[2] + s[3]), 0.5f * (s[4] + s[5]),
                0.5f * (s[1] - s[0]), 0.5f * (s[3] - s[2]), 0.5f * (s[5] - s[4])};
    return m;
}

// How a space lies along axis ``j`` of a box: where its centre is, how far it reaches from there.
DEVICE float box_along(const float* box, int j, float x, float y, float z) {
    return box[j] * x + box[j + 3] * y + box[j + 6] * z;
}
DEVICE float box_reach(const float* box, int j, float dx, float dy, float dz) {
    return fabsf(box[j]) * dx + fabsf(box[j + 3]) * dy + fabsf(box[j + 6]) * dz;
}

// A distance that no point of a space is nearer to a box than, a little less against rounding.
DEVICE float least_gap(const float* box, const Middle& m) {
    float x = m.x - box[X_CENTER], y = m.y - box[X_CENTER + 1], z = m.z - box[X_CENTER + 2];
    float p = most(fabsf(box_along(box, 0, x, y, z)) - box_reach(box, 0, m.dx, m.dy, m.dz) - box[X_HALF], 0.0f);
    float q = most(fabsf(box_along(box, 1, x, y, z)) - box_reach(box, 1, m.dx, m.dy, m.dz) - box[X_HALF + 1], 0.0f);
    float r = most(fabsf(box_along(box, 2, x, y, z)) - box_reach(box, 2, m.dx, m.dy, m.dz) - box[X_HALF + 2], 0.0f);
    return GAP_CLOSER * sqrtf(p * p + q * q + r * r);
}

// The least height of a space above a plane.
DEVICE float height_above(const float* pose, const float* s) {
    float nx = pose[2], ny = pose[5], nz = pose[8];
    return nx * ((nx > 0.0f ? s[0] : s[1]) - pose[9]) + ny * ((ny > 0.0f ? s[2] : s[3]) - pose[10]) +
           nz * ((nz > 0.0f ? s[4] : s[5]) - pose[11]);
}
