// Surfaces of revolution about z: rays against the cones and rings that their outline sweeps; see cpu/rays/turned.py
// and cpu/light/turned_light.py.
#pragma once

DEVICE void cast_turned(Lane& lane, const Tile& tile, int g) {
    const float* row = geom_row(tile, g);
    Rays r = read_rays(seen_row(tile, g));
    float x = lane.u * r.ax + lane.v * r.bx + r.cx;
    float y = lane.u * r.ay + lane.v * r.by + r.cy;
    float z = lane.u * r.az + lane.v * r.bz + r.cz;
    // The ray is moved to its point nearest the middle of the bounding box, so that all numbers are of its size.
    float moved = ((row[G_BOX] - r.ox) * x + (row[G_BOX + 1] - r.oy) * y + (row[G_BOX + 2] - r.oz) * z) /
                  (x * x + y * y + z * z);
    float ox = r.ox + moved * x, oy = r.oy + moved * y, oz = r.oz + moved * z;
    float best = BIG;
    int piece = -1;
    const float* p = tile.model->hulls + 4 * (int)row[G_HULL];
    int count = (int)row[G_HULL_COUNT];
    for (int k = 0; k < count; k++, p += 8) {
        float r0 = p[0], z0 = p[1], r1 = p[2], z1 = p[3];
        bool hit;
        float t;
        if (fabsf(z1 - z0) <= TURNED_LEVEL * fabsf(r1 - r0)) {
            float low = most(least(r0, r1) - TURNED_SEAM, 0.0f), high = most(r0, r1) + TURNED_SEAM;
            t = (z0 - oz) / (z != 0.0f ? z : TINY);
            float px = ox + t * x, py = oy + t * y;
            float square = px * px + py * py;
            hit = square >= low * low && square <= high * high && t + moved > lane.start && t < best;
        } else {
            float slope = (r1 - r0) / (z1 - z0);
            float low = least(z0, z1) - TURNED_SEAM, high = most(z0, z1) + TURNED_SEAM;
            float radius = r0 + slope * (oz - z0), growth = slope * z;
            float a = x * x + y * y - growth * growth;
            float b = ox * x + oy * y - radius * growth;
            float c = ox * ox + oy * oy - radius * radius;
            float square = b * b - a * c;
            float root = sqrtf(most(square, 0.0f));
            float q = -(b + (b >= 0.0f ? root : -root));
            t = q / (a != 0.0f ? a : TINY);
            float s = c / (q != 0.0f ? q : TINY);
            float first = least(t, s), last = most(t, s);
            float near = lane.start - moved;
            float z_first = oz + first * z, z_last = oz + last * z;
            bool good = z_first >= low && z_first <= high && first > near && radius + growth * first >= 0.0f;
            bool also = z_last >= low && z_last <= high && last > near && radius + growth * last >= 0.0f;
            t = good ? first : last;
            hit = square >= 0.0f && (good || also) && t < best;
        }
        best = hit ? t : best;
        piece = hit ? k : piece;
    }
    float t = best + moved;
    bool nearer = piece >= 0 && (t < lane.t || (t == lane.t && g < lane.id));
    lane.t = nearer ? t : lane.t;
    lane.id = nearer ? g : lane.id;
    lane.triangle = nearer ? piece : lane.triangle;
}

// Face, which tells outside from inside, and interpolated normal at a hit point in the geom frame.
DEVICE void orient_turned(Lane& lane, const Model& model, const float* row, const Pose& pose, float x, float y, float z) {
    const float* p = model.hulls + 4 * ((int)row[G_HULL] + 2 * lane.triangle);
    float radius = sqrtf(x * x + y * y) + TINY;
    float dr = p[2] - p[0], dz = p[3] - p[1];
    float share = clamp01(((radius - p[0]) * dr + (z - p[1]) * dz) / (dr * dr + dz * dz));
    float out = p[4] + share * (p[6] - p[4]), up = p[5] + share * (p[7] - p[5]);
    float scale = 1.0f / sqrtf(out * out + up * up + TINY);
    lane.face = out < 0.0f ? 1.0f : 0.0f;
    turn(lane, pose, out * scale * x / radius, out * scale * y / radius, up * scale);
}

// Paint the band on the outside.
DEVICE void paint_band(Lane& lane, const float* row, float z) {
    float low = row[G_BAND_LOW], high = row[G_BAND_HIGH];
    if (low >= high || !(z >= low && z <= high) || lane.face != 0.0f) return;
    lane.red = row[G_BAND_COLOR];
    lane.green = row[G_BAND_COLOR + 1];
    lane.blue = row[G_BAND_COLOR + 2];
}

// What the solid inside one piece of the outside hides; ``o`` is the surface point, ``d`` its way to the lamp.
DEVICE float blocked_by_cone(const Vector& o, const Vector& d, float r0, float z0, float slope, float z1, float lamp) {
    float cosine = 1.0f / sqrtf(1.0f + slope * slope);
    float inverse = 1.0f / (d.z != 0.0f ? d.z : TINY);
    float p = (z0 - o.z) * inverse, q = (z1 - o.z) * inverse;
    float low = most(least(p, q), 0.0f), high = least(most(p, q), 1.0f);
    float flat = d.x * d.x + d.y * d.y + TINY;
    float middle = -(o.x * d.x + o.y * d.y) / flat;
    float aside = o.x * d.y - o.y * d.x;
    aside = aside * aside / flat;
    float growth = slope * d.z;
    float steep = flat - growth * growth;
    float best = middle + growth * sqrtf(aside / (flat * most(steep, TINY)));
    best = steep > TINY ? best : (growth > 0.0f ? high : low);
    float t = limit(best, low, high);
    float gap = sqrtf(flat * (t - middle) * (t - middle) + aside) - (r0 + slope * (o.z + t * d.z - z0));
    float hidden = least(0.5f - 0.5f * gap * cosine / (lamp * t + CONTACT), 1.0f);
    return low < high ? hidden : 0.0f;
}

// What a level disc hides.
DEVICE float blocked_by_disc(const Vector& o, const Vector& d, float radius, float height, float lamp) {
    float t = (height - o.z) / (d.z != 0.0f ? d.z : TINY);
    float x = o.x + t * d.x, y = o.y + t * d.y;
    float gap = sqrtf(x * x + y * y) - radius;
    float hidden = least(0.5f - 0.5f * gap / (lamp * t + CONTACT), 1.0f);
    return t > 0.0f && t < 1.0f ? hidden : 0.0f;
}

// What one piece of the cavity's wall hides from points inside.
DEVICE float blocked_in_cavity(const Vector& o, const Vector& d, float r0, float z0, float slope, float z1, float lamp) {
    float inverse = 1.0f / (d.z != 0.0f ? d.z : TINY);
    float p = (z0 - o.z) * inverse, q = (z1 - o.z) * inverse;
    float low = most(least(p, q), 0.0f), high = least(most(p, q), 1.0f);
    float ax = o.x + low * d.x, ay = o.y + low * d.y, bx = o.x + high * d.x, by = o.y + high * d.y;
    float a = sqrtf(ax * ax + ay * ay) - (r0 + slope * (o.z + low * d.z - z0));
    float b = sqrtf(bx * bx + by * by) - (r0 + slope * (o.z + high * d.z - z0));
    float hidden = most(a / (lamp * low + CONTACT), b / (lamp * high + CONTACT));
    hidden = least(0.5f + 0.5f * hidden, 1.0f);
    return low < high ? hidden : 0.0f;
}

// Raise the shade by what a surface of revolution hides of a lamp; it shades itself too.
DEVICE void shade_turned(Lane& lane, const Tile& tile, int g, const float* caster, const float* light) {
    const float* row = geom_row(tile, g);
    Pose pose = read_pose(pose_row(tile, g));
    float lamp = light[L_RADIUS];
    float x = lane.px - pose.x, y = lane.py - pose.y, z = lane.pz - pose.z;
    Vector o = {pose.r0 * x + pose.r3 * y + pose.r6 * z, pose.r1 * x + pose.r4 * y + pose.r7 * z,
                pose.r2 * x + pose.r5 * y + pose.r8 * z};
    Vector d = {caster[K_POS] - o.x, caster[K_POS + 1] - o.y, caster[K_POS + 2] - o.z};
    const float* p = tile.model->hulls + 4 * ((int)row[G_HULL] + 2 * (int)row[G_HULL_COUNT]);
    int outer = (int)row[G_OUTER], cavity = (int)row[G_CAVITY];
    float outside = 0.0f, inside = 0.0f;
    for (int k = 0; k < outer; k++, p += 4) {
        float hidden = p[3] <= p[1] ? blocked_by_disc(o, d, most(p[0], p[2]), p[1], lamp)
                                    : blocked_by_cone(o, d, p[0], p[1], (p[2] - p[0]) / (p[3] - p[1]), p[3], lamp);
        outside = most(outside, hidden);
    }
    for (int k = 0; k < cavity; k++, p += 4)
        if (p[3] > p[1])
            inside = most(inside, blocked_in_cavity(o, d, p[0], p[1], (p[2] - p[0]) / (p[3] - p[1]), p[3], lamp));
    float floor = row[G_FLOOR] - SUNK;
    bool closed = o.z < floor || o.z + d.z < floor;
    lane.shade = least(lane.shade + (closed ? outside : least(outside, inside)), 1.0f);
}

// The squared distance of the outline from a point at a radius and a height.
DEVICE float outline_distance(const float* p, int count, float radius, float height) {
    float least_square = BIG;
    for (int k = 0; k < count; k++, p += 8) {
        float dr = p[2] - p[0], dz = p[3] - p[1];
        float inverse = 1.0f / (dr * dr + dz * dz);
        float a = radius - p[0], b = height - p[1];
        float share = clamp01((a * dr + b * dz) * inverse);
        a -= share * dr;
        b -= share * dz;
        least_square = least(least_square, a * a + b * b);
    }
    return sqrtf(least_square);
}
