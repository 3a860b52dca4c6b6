// Soft shadows: how much of a lamp's disc does a geom hide from a surface point; see cpu/light/penumbra.py.
#pragma once

// The signed distance and where on the segment it is; 1 where the solid is not between point and lamp.
DEVICE float within(float gap, float t0, float t1, float along, float extent, float& t) {
    bool hits = t0 <= t1;
    float first = hits ? t0 : along - extent;
    float last = hits ? t1 : along + extent;
    t = clamp01(limit(0.5f * (t0 + t1), first, last));
    return last > 0.0f && first < 1.0f ? gap : 1.0f;
}

DEVICE float box_gap(const Vector& o, const Vector& d, const float* size, float nearness, float& t) {
    float ix = 1.0f / (d.x + TINY), iy = 1.0f / (d.y + TINY), iz = 1.0f / (d.z + TINY);
    float mx = -o.x * ix, my = -o.y * iy, mz = -o.z * iz;
    float kx = fabsf(ix) * size[0], ky = fabsf(iy) * size[1], kz = fabsf(iz) * size[2];
    float t0 = most(most(mx - kx, my - ky), mz - kz);
    float t1 = least(least(mx + kx, my + ky), mz + kz);
    float xx = ix * ix, yy = iy * iy, zz = iz * iz;
    // The least of three quotients p / sqrt(a), found without roots and divisions from their signed squares.
    float p = kx + ky - fabsf(mx - my), a = xx + yy;
    float q = kx + kz - fabsf(mx - mz), b = xx + zz;
    float r = ky + kz - fabsf(my - mz), c = yy + zz;
    bool less = q * fabsf(q) * a < p * fabsf(p) * b;
    p = less ? q : p;
    a = less ? b : a;
    less = r * fabsf(r) * a < p * fabsf(p) * c;
    p = less ? r : p;
    a = less ? c : a;
    float inverse = nearness * nearness;
    float along = -(o.x * d.x + o.y * d.y + o.z * d.z) * inverse;
    float extent = (fabsf(d.x) * size[0] + fabsf(d.y) * size[1] + fabsf(d.z) * size[2]) * inverse;
    return within(-p / sqrtf(a), t0, t1, along, extent, t);
}

DEVICE float cylinder_gap(const Vector& o, const Vector& d, float radius, float length, float nearness, float& t) {
    float flat = sqrtf(d.x * d.x + d.y * d.y + TINY);
    float inverse = 1.0f / flat;
    float aside = fabsf(o.x * d.y - o.y * d.x) * inverse;
    float half = sqrtf(most(radius * radius - aside * aside, 0.0f)) * inverse;
    float iz = 1.0f / (d.z + TINY);
    float m = -o.z * iz;
    float k = fabsf(iz) * length;
    float middle = -(o.x * d.x + o.y * d.y) * inverse * inverse;
    float t0 = most(middle - half, m - k);
    float t1 = least(middle + half, m + k);
    float rim = (fabsf(m - middle) - half - k) * fabsf(d.z) * flat * nearness;
    float square = nearness * nearness;
    float along = -(o.x * d.x + o.y * d.y + o.z * d.z) * square;
    float extent = (flat * radius + fabsf(d.z) * length) * square;
    return within(most(aside - radius, rim), t0, t1, along, extent, t);
}

DEVICE float capsule_gap(const Vector& o, const Vector& d, float radius, float length, float nearness, float& t) {
    float flat = o.x * d.x + o.y * d.y;
    t = clamp01(-flat / (d.x * d.x + d.y * d.y + TINY));
    float end = limit(o.z + t * d.z, -length, length);
    t = clamp01(-(flat + (o.z - end) * d.z) * nearness * nearness);
    end = limit(o.z + t * d.z, -length, length);
    float p = o.x + t * d.x, q = o.y + t * d.y, r = o.z + t * d.z - end;
    return sqrtf(p * p + q * q + r * r) - radius;
}

DEVICE float ellipsoid_gap(Vector o, Vector d, const float* size, float& t) {
    float kx = 1.0f / size[0], ky = 1.0f / size[1], kz = 1.0f / size[2];
    float smallest = least(least(size[0], size[1]), size[2]);
    o.x *= kx, o.y *= ky, o.z *= kz;
    d.x *= kx, d.y *= ky, d.z *= kz;
    t = clamp01(-(o.x * d.x + o.y * d.y + o.z * d.z) / (d.x * d.x + d.y * d.y + d.z * d.z));
    float p = o.x + t * d.x, q = o.y + t * d.y, r = o.z + t * d.z;
    return (sqrtf(p * p + q * q + r * r) - 1.0f) * smallest;
}

// Clip the segment by the half spaces; the gap is the distance to the edge of the last face entered and first left.
DEVICE float polytope_gap(const Lane& lane, const Pose& pose, const float* caster, const float* hull, int count, float& t) {
    float enter = -BIG, leave = BIG, s = -1.0f, e = 1.0f;
    int entered = 0, left = 0;
    for (int f = 0; f < count; f++) {
        float p = hull[4 * f], q = hull[4 * f + 1], r = hull[4 * f + 2], offset = hull[4 * f + 3];
        float lamp = p * caster[K_POS] + q * caster[K_POS + 1] + r * caster[K_POS + 2] - offset;
        float nx = pose.r0 * p + pose.r1 * q + pose.r2 * r;
        float ny = pose.r3 * p + pose.r4 * q + pose.r5 * r;
        float nz = pose.r6 * p + pose.r7 * q + pose.r8 * r;
        float c = offset + nx * pose.x + ny * pose.y + nz * pose.z;
        float here = lane.px * nx + lane.py * ny + lane.pz * nz - c;
        float slope = lamp - here + TINY;
        float at = -here / slope;
        bool later = slope < 0.0f && at > enter, sooner = slope > 0.0f && at < leave;
        enter = later ? at : enter;
        entered = later ? f : entered;
        s = later ? slope : s;
        leave = sooner ? at : leave;
        left = sooner ? f : left;
        e = sooner ? slope : e;
    }
    const float *a = hull + 4 * entered, *b = hull + 4 * left;
    float cosine = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    float apart = sqrtf(most(s * s + e * e - (s + s) * e * cosine, TINY * TINY));
    float gap = (enter - leave) * fabsf(s * e) / apart;
    t = 0.5f * (enter + leave);
    bool between = enter < leave ? leave > 0.0f && enter < 1.0f : t > 0.0f && t < 1.0f;
    t = clamp01(t);
    return between ? gap : BIG;
}

// Add to the shade what a geom hides of the light; see the processor's _darken for why it is a sum.
DEVICE void shade_by(Lane& lane, const Tile& tile, int g, const float* caster, const float* light) {
    const float* row = geom_row(tile, g);
    const float* size = row + G_SIZE;
    Pose pose = read_pose(pose_row(tile, g));
    int kind = (int)row[G_TYPE];
    float gap, t;
    if (kind == MESH) {
        const float* hull = tile.model->hulls + 4 * (int)row[G_HULL];
        gap = polytope_gap(lane, pose, caster, hull, (int)row[G_HULL_COUNT], t);
    } else {
        float x = lane.px - pose.x, y = lane.py - pose.y, z = lane.pz - pose.z;
        Vector o = {pose.r0 * x + pose.r3 * y + pose.r6 * z, pose.r1 * x + pose.r4 * y + pose.r7 * z,
                    pose.r2 * x + pose.r5 * y + pose.r8 * z};
        Vector d = {caster[K_POS] - o.x, caster[K_POS + 1] - o.y, caster[K_POS + 2] - o.z};
        if (kind == CYLINDER) gap = cylinder_gap(o, d, size[0], size[1], lane.nearness, t);
        else if (kind == CAPSULE) gap = capsule_gap(o, d, size[0], size[1], lane.nearness, t);
        else if (kind == BOX) gap = box_gap(o, d, size, lane.nearness, t);
        else if (kind == SPHERE) gap = capsule_gap(o, d, size[0], 0.0f, lane.nearness, t);
        else gap = ellipsoid_gap(o, d, size, t);
    }
    float hidden = limit(0.5f - 0.5f * gap / (light[L_RADIUS] * t + CONTACT), 0.0f, 1.0f);
    lane.shade = least(lane.shade + (lane.id != g ? hidden : 0.0f), 1.0f);
}
