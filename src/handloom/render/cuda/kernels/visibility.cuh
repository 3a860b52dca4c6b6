// Visibility: which geom does a ray hit first, and how far away; see cpu/rays/visibility.py.
#pragma once

DEVICE void keep(Lane& lane, bool hit, float enter, float leave, bool inside, int g) {
    float t = enter <= lane.start && inside ? leave : enter;
    bool nearer = hit && t > lane.start && (t < lane.t || (t == lane.t && g < lane.id));
    lane.t = nearer ? t : lane.t;
    lane.id = nearer ? g : lane.id;
}

DEVICE void cast_box(Lane& lane, const Rays& r, const float* size, bool inside, int g) {
    float ix = 1.0f / (lane.u * r.ax + lane.v * r.bx + r.cx + TINY);
    float iy = 1.0f / (lane.u * r.ay + lane.v * r.by + r.cy + TINY);
    float iz = 1.0f / (lane.u * r.az + lane.v * r.bz + r.cz + TINY);
    float mx = -r.ox * ix, my = -r.oy * iy, mz = -r.oz * iz;
    float kx = fabsf(ix) * size[0], ky = fabsf(iy) * size[1], kz = fabsf(iz) * size[2];
    float enter = most(most(mx - kx, my - ky), mz - kz);
    float leave = least(least(mx + kx, my + ky), mz + kz);
    keep(lane, enter < leave, enter, leave, inside, g);
}

DEVICE void cast_ellipsoid(Lane& lane, const Rays& r, float kx, float ky, float kz, bool inside, int g) {
    float ox = r.ox * kx, oy = r.oy * ky, oz = r.oz * kz;
    float x = (lane.u * r.ax + lane.v * r.bx + r.cx) * kx;
    float y = (lane.u * r.ay + lane.v * r.by + r.cy) * ky;
    float z = (lane.u * r.az + lane.v * r.bz + r.cz) * kz;
    float a = 1.0f / (x * x + y * y + z * z);
    float middle = -(ox * x + oy * y + oz * z) * a;
    float qx = ox + middle * x, qy = oy + middle * y, qz = oz + middle * z;
    float gap = 1.0f - (qx * qx + qy * qy + qz * qz);
    float half = sqrtf(most(gap, 0.0f) * a);
    keep(lane, gap > 0.0f, middle - half, middle + half, inside, g);
}

DEVICE bool cap_hit(float ox, float oy, float oz, float x, float y, float z, float a, float r2, float sign, float& t) {
    float ia = 1.0f / a;
    float middle = -(ox * x + oy * y + oz * z) * ia;
    float qx = ox + middle * x, qy = oy + middle * y, qz = oz + middle * z;
    float gap = r2 - (qx * qx + qy * qy + qz * qz);
    t = middle + sign * sqrtf(most(gap, 0.0f) * ia);
    return gap > 0.0f;
}

// The endless cylinder first; where the ray crosses it beyond an end, the sphere of that end decides.
DEVICE void cast_capsule(Lane& lane, const Rays& r, float radius, float length, bool inside, int g) {
    float r2 = radius * radius;
    float x = lane.u * r.ax + lane.v * r.bx + r.cx;
    float y = lane.u * r.ay + lane.v * r.by + r.cy;
    float z = lane.u * r.az + lane.v * r.bz + r.cz;
    float a = x * x + y * y + TINY;
    float ia = 1.0f / a;
    float middle = -(r.ox * x + r.oy * y) * ia;
    float qx = r.ox + middle * x, qy = r.oy + middle * y;
    float gap = r2 - (qx * qx + qy * qy);
    float half = sqrtf(most(gap, 0.0f) * ia);
    float enter = middle - half, leave = middle + half;
    float z0 = r.oz + enter * z, z1 = r.oz + leave * z;
    float end0 = z0 > 0.0f ? length : -length;
    float end1 = z1 > 0.0f ? length : -length;
    float cap0, cap1;
    bool hit0 = cap_hit(r.ox, r.oy, r.oz - end0, x, y, z, a + z * z, r2, -1.0f, cap0);
    cap_hit(r.ox, r.oy, r.oz - end1, x, y, z, a + z * z, r2, 1.0f, cap1);
    bool side = fabsf(z0) <= length;
    bool hit = gap > 0.0f && (side || hit0);
    keep(lane, hit, side ? enter : cap0, fabsf(z1) <= length ? leave : cap1, inside, g);
}

DEVICE void cast_cylinder(Lane& lane, const Rays& r, float radius, float length, bool inside, int g) {
    float r2 = radius * radius;
    float x = lane.u * r.ax + lane.v * r.bx + r.cx;
    float y = lane.u * r.ay + lane.v * r.by + r.cy;
    float iz = 1.0f / (lane.u * r.az + lane.v * r.bz + r.cz + TINY);
    float ia = 1.0f / (x * x + y * y + TINY);
    float middle = -(r.ox * x + r.oy * y) * ia;
    float qx = r.ox + middle * x, qy = r.oy + middle * y;
    float gap = r2 - (qx * qx + qy * qy);
    float half = sqrtf(most(gap, 0.0f) * ia);
    float m = -r.oz * iz;
    float k = fabsf(iz) * length;
    float enter = most(middle - half, m - k);
    float leave = least(middle + half, m + k);
    keep(lane, gap > 0.0f && enter < leave, enter, leave, inside, g);
}

// A rectangle seen from its front only; a size of zero is endless.
DEVICE void cast_plane(Lane& lane, const Rays& r, const float* size, int g) {
    float sx = size[0] > 0.0f ? size[0] : BIG;
    float sy = size[1] > 0.0f ? size[1] : BIG;
    float z = lane.u * r.az + lane.v * r.bz + r.cz;
    float t = -r.oz / z;
    float x = r.ox + t * (lane.u * r.ax + lane.v * r.bx + r.cx);
    float y = r.oy + t * (lane.u * r.ay + lane.v * r.by + r.cy);
    keep(lane, z < 0.0f && fabsf(x) <= sx && fabsf(y) <= sy, t, t, false, g);
}

// Intersection of half spaces: the last plane entered against the first plane left.
DEVICE void cast_polytope(Lane& lane, const Rays& r, const float* hull, int count, bool inside, int g) {
    float enter = -BIG, leave = BIG;
    for (int f = 0; f < count; f++, hull += 4) {
        float p = hull[0], q = hull[1], s = hull[2];
        float height = hull[3] - (p * r.ox + q * r.oy + s * r.oz);
        float ku = p * r.ax + q * r.ay + s * r.az;
        float kv = p * r.bx + q * r.by + s * r.bz;
        float kw = p * r.cx + q * r.cy + s * r.cz;
        float slope = lane.u * ku + lane.v * kv + kw + TINY;
        float t = height / slope;
        enter = slope < 0.0f && t > enter ? t : enter;
        leave = slope > 0.0f && t < leave ? t : leave;
    }
    keep(lane, enter < leave, enter, leave, inside, g);
}

DEVICE void cast(Lane& lane, const Tile& tile, int g, int layer) {
    const float* row = geom_row(tile, g);
    const float* seen = seen_row(tile, g);
    Rays r = read_rays(seen);
    int kind = (int)row[G_TYPE];
    bool inside = layer == 0 && seen[S_INSIDE] > 0.0f;
    const float* size = row + G_SIZE;
    if (kind == BOX) cast_box(lane, r, size, inside, g);
    else if (kind == PLANE) cast_plane(lane, r, size, g);
    else if (kind == CYLINDER) cast_cylinder(lane, r, size[0], size[1], inside, g);
    else if (kind == CAPSULE) cast_capsule(lane, r, size[0], size[1], inside, g);
    else if (kind == MESH)
        cast_polytope(lane, r, tile.model->hulls + 4 * (int)row[G_HULL], (int)row[G_HULL_COUNT], inside, g);
    else if (kind == SPHERE)
        cast_ellipsoid(lane, r, 1.0f / size[0], 1.0f / size[0], 1.0f / size[0], inside, g);
    else if (kind == ELLIPSOID)
        cast_ellipsoid(lane, r, 1.0f / size[0], 1.0f / size[1], 1.0f / size[2], inside, g);
}
