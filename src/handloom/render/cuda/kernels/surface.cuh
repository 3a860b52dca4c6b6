// Surface: point, normal, face and material where a ray hit; see cpu/rays/surface.py.
#pragma once

DEVICE void orient_box(Lane& lane, const Pose& pose, const float* size, float x, float y, float z) {
    float p = fabsf(x) * (1.0f / size[0]), q = fabsf(y) * (1.0f / size[1]), r = fabsf(z) * (1.0f / size[2]);
    bool on_x = p >= q && p >= r;
    bool on_y = !on_x && q >= r;
    float nx = on_x ? (x > 0.0f ? 1.0f : -1.0f) : 0.0f;
    float ny = on_y ? (y > 0.0f ? 1.0f : -1.0f) : 0.0f;
    float nz = on_x || on_y ? 0.0f : (z > 0.0f ? 1.0f : -1.0f);
    lane.face = nx + 2.0f * ny + 4.0f * nz;
    turn(lane, pose, nx, ny, nz);
}

DEVICE void orient_cylinder(Lane& lane, const Pose& pose, const float* size, float x, float y, float z) {
    float radius = sqrtf(x * x + y * y + TINY * TINY);
    float scale = 1.0f / radius;
    bool cap = fabsf(z) - size[1] > radius - size[0];
    lane.face = cap ? 1.0f : 0.0f;
    turn(lane, pose, cap ? 0.0f : x * scale, cap ? 0.0f : y * scale, cap ? (z > 0.0f ? 1.0f : -1.0f) : 0.0f);
}

// Bend the normal towards one given in the geom frame, by how much of a rounded edge is shown: nothing of one that is
// half a pixel wide, which would flicker.
DEVICE void bend(Lane& lane, const Pose& pose, float nx, float ny, float nz, float edge, float pixel) {
    float share = limit(edge / (lane.t * pixel + TINY) - 0.5f, 0.0f, 1.0f);
    float ox = lane.nx, oy = lane.ny, oz = lane.nz;
    float x = ox + share * (pose.r0 * nx + pose.r1 * ny + pose.r2 * nz - ox);
    float y = oy + share * (pose.r3 * nx + pose.r4 * ny + pose.r5 * nz - oy);
    float z = oz + share * (pose.r6 * nx + pose.r7 * ny + pose.r8 * nz - oz);
    float scale = 1.0f / sqrtf(x * x + y * y + z * z + TINY);
    lane.nx = x * scale, lane.ny = y * scale, lane.nz = z * scale;
}

// Bend the normals of a box near its edges, as if they were rounded.
DEVICE void round_box(
    Lane& lane, const Pose& pose, const float* size, float edge, float pixel, float x, float y, float z) {
    float nx = most(fabsf(x) - (size[0] - edge), 0.0f);
    float ny = most(fabsf(y) - (size[1] - edge), 0.0f);
    float nz = most(fabsf(z) - (size[2] - edge), 0.0f);
    float scale = 1.0f / sqrtf(nx * nx + ny * ny + nz * nz + TINY * TINY);
    nx = (x > 0.0f ? nx : -nx) * scale, ny = (y > 0.0f ? ny : -ny) * scale, nz = (z > 0.0f ? nz : -nz) * scale;
    bend(lane, pose, nx, ny, nz, edge, pixel);
}

// Bend the normals of a cylinder near its rims, as if they were rounded.
DEVICE void round_cylinder(
    Lane& lane, const Pose& pose, const float* size, float edge, float pixel, float x, float y, float z) {
    float radius = sqrtf(x * x + y * y + TINY * TINY);
    float out = most(radius - (size[0] - edge), 0.0f);
    float nz = most(fabsf(z) - (size[1] - edge), 0.0f);
    float scale = 1.0f / sqrtf(out * out + nz * nz + TINY * TINY);
    out *= scale / radius;
    bend(lane, pose, x * out, y * out, (z > 0.0f ? nz : -nz) * scale, edge, pixel);
}

// Normals of a capsule with half length ``length``, or of a sphere or ellipsoid whose axes (ex, ey, ez) weigh.
DEVICE void orient_round(Lane& lane, const Pose& pose, float ex, float ey, float ez, float length, float x, float y, float z) {
    float nx = x * ex, ny = y * ey;
    float nz = (z - limit(z, -length, length)) * ez;
    float scale = 1.0f / sqrtf(nx * nx + ny * ny + nz * nz + TINY * TINY);
    turn(lane, pose, nx * scale, ny * scale, nz * scale);
}

// The half space whose plane is nearest to the hit point, counted from the geom's first.
DEVICE int nearest_plane(const float* hull, int count, float x, float y, float z) {
    float best = -BIG;
    int face = 0;
    for (int f = 0; f < count; f++, hull += 4) {
        float height = x * hull[0] + y * hull[1] + z * hull[2] - hull[3];
        bool higher = height > best;
        best = higher ? height : best;
        face = higher ? f : face;
    }
    return face;
}

DEVICE void clear_surface(Lane& lane, const float* view) {
    const float* r = view + V_AXES;
    float scale = 1.0f / sqrtf(lane.u * lane.u + lane.v * lane.v + 1.0f);
    lane.nx = (r[0] * lane.u + r[1] * lane.v + r[2]) * scale;
    lane.ny = (r[3] * lane.u + r[4] * lane.v + r[5]) * scale;
    lane.nz = (r[6] * lane.u + r[7] * lane.v + r[8]) * scale;
    lane.px = view[V_EYE];
    lane.py = view[V_EYE + 1];
    lane.pz = view[V_EYE + 2];
    lane.red = lane.green = lane.blue = 0.0f;
    lane.specular = 0.0f;
    lane.shininess = 1.0f;
    lane.metal = lane.glow = 0.0f;
    lane.opacity = 1.0f;
}

// Fill point, normal, face and material; open sky where nothing was hit.
DEVICE void find_surface(Lane& lane, const Tile& tile) {
    const float* view = tile.eye->row;
    lane.face = 0.0f;
    if (lane.id < 0) {
        clear_surface(lane, view);
        return;
    }
    const float* row = geom_row(tile, lane.id);
    Rays r = read_rays(seen_row(tile, lane.id));
    Pose pose = read_pose(pose_row(tile, lane.id));
    const float* size = row + G_SIZE;
    int kind = (int)row[G_TYPE];
    float x = r.ox + lane.t * (lane.u * r.ax + lane.v * r.bx + r.cx);
    float y = r.oy + lane.t * (lane.u * r.ay + lane.v * r.by + r.cy);
    float z = r.oz + lane.t * (lane.u * r.az + lane.v * r.bz + r.cz);
    lane.px = pose.r0 * x + pose.r1 * y + pose.r2 * z + pose.x;
    lane.py = pose.r3 * x + pose.r4 * y + pose.r5 * z + pose.y;
    lane.pz = pose.r6 * x + pose.r7 * y + pose.r8 * z + pose.z;
    float mesh_u = 0.0f, mesh_v = 0.0f;
    if (kind == BOX) {
        orient_box(lane, pose, size, x, y, z);
        if (row[G_EDGE] > 0.0f) round_box(lane, pose, size, row[G_EDGE], view[V_PIXEL], x, y, z);
    } else if (kind == PLANE) turn(lane, pose, 0.0f, 0.0f, 1.0f);
    else if (kind == CYLINDER) {
        orient_cylinder(lane, pose, size, x, y, z);
        if (row[G_EDGE] > 0.0f) round_cylinder(lane, pose, size, row[G_EDGE], view[V_PIXEL], x, y, z);
    } else if (kind == TURNED) orient_turned(lane, *tile.model, row, pose, x, y, z);
    else if (kind == CAPSULE) orient_round(lane, pose, 1.0f, 1.0f, 1.0f, size[1], x, y, z);
    else if (kind == ELLIPSOID)
        orient_round(lane, pose, 1.0f / (size[0] * size[0]), 1.0f / (size[1] * size[1]), 1.0f / (size[2] * size[2]), 0.0f, x,
                     y, z);
    else if (kind == MESH) {
        const float* hull = tile.model->hulls + 4 * (int)row[G_HULL];
        int f = nearest_plane(hull, (int)row[G_HULL_COUNT], x, y, z);
        lane.face = (float)f;
        turn(lane, pose, hull[4 * f], hull[4 * f + 1], hull[4 * f + 2]);
    } else if (kind == TRIANGLES)
        orient_triangle(lane, *tile.model, r, pose, mesh_u, mesh_v);
    else if (kind == BEADS) {
        const float* c = tile.world->beads + 3 * lane.triangle;
        float scale = 1.0f / size[0];
        lane.nx = (lane.px - c[0]) * scale;
        lane.ny = (lane.py - c[1]) * scale;
        lane.nz = (lane.pz - c[2]) * scale;
        lane.face = (float)lane.triangle;
    } else
        orient_round(lane, pose, 1.0f, 1.0f, 1.0f, 0.0f, x, y, z);
    lane.red = row[G_COLOR];
    lane.green = row[G_COLOR + 1];
    lane.blue = row[G_COLOR + 2];
    lane.specular = row[G_SPECULAR];
    lane.shininess = row[G_SHININESS];
    lane.metal = row[G_METAL];
    lane.glow = row[G_GLOW];
    lane.opacity = row[G_ALPHA];
    if (kind == TURNED) paint_band(lane, row, z);
    if (row[G_TEXTURE] >= 0.0f) sample_texture(lane, *tile.model, row, pose, x, y, z, mesh_u, mesh_v, view[V_PIXEL]);
}

// The face alone, of the kinds that have creases.
DEVICE void find_face(Lane& lane, const Tile& tile) {
    lane.face = 0.0f;
    if (lane.id < 0) return;
    const float* row = geom_row(tile, lane.id);
    int kind = (int)row[G_TYPE];
    if (kind == BEADS) lane.face = (float)lane.triangle;
    if (kind != BOX && kind != CYLINDER && kind != MESH && kind != TURNED) return;
    Rays r = read_rays(seen_row(tile, lane.id));
    const float* size = row + G_SIZE;
    float x = r.ox + lane.t * (lane.u * r.ax + lane.v * r.bx + r.cx);
    float y = r.oy + lane.t * (lane.u * r.ay + lane.v * r.by + r.cy);
    float z = r.oz + lane.t * (lane.u * r.az + lane.v * r.bz + r.cz);
    Pose pose = read_pose(pose_row(tile, lane.id));
    if (kind == BOX) orient_box(lane, pose, size, x, y, z);
    else if (kind == CYLINDER) orient_cylinder(lane, pose, size, x, y, z);
    else if (kind == TURNED) orient_turned(lane, *tile.model, row, pose, x, y, z);
    else
        lane.face = (float)nearest_plane(
            tile.model->hulls + 4 * (int)row[G_HULL], (int)row[G_HULL_COUNT], x, y, z);
}
