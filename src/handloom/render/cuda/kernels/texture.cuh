// Texture lookup: bilinear on the level that suits the distance; see cpu/model/texture.py.
#pragma once

DEVICE float blend_texels(int a, int b, int c, int d, float wa, float wb, float wc, float wd, int shift) {
    float p = (float)((a >> shift) & 255), q = (float)((b >> shift) & 255);
    float r = (float)((c >> shift) & 255), s = (float)((d >> shift) & 255);
    return (p * p * wa + q * q * wb + r * r * wc + s * s * wd) * TEXEL_SCALE;
}

// The angle of (x, y) in turns, -1/2 to 1/2, to 1e-4.
DEVICE float turn_of(float x, float y) {
    float a = fabsf(x), b = fabsf(y);
    float q = least(a, b) / most(most(a, b), TINY);
    float s = q * q;
    float r = ((-0.0464964749f * s + 0.15931422f) * s - 0.327622764f) * s * q + q;
    r = b > a ? 1.5707963268f - r : r;
    r = x < 0.0f ? 3.1415926536f - r : r;
    return (y < 0.0f ? -r : r) * 0.15915494309f;
}

// Where a surface point lies in a texture, in repeats, and which way u and v run there, for the relief: 0 along x, 1
// along y, 2 along z, 3 along (x, y) itself.
struct Unwrapped {
    float u, v;
    int u_axis, v_axis;
    float x, y;
};

DEVICE Unwrapped unwrap_round(const Lane& lane, const float* row, const Pose& pose, int kind, float x, float y, float z) {
    float up = fabsf(lane.nx * pose.r2 + lane.ny * pose.r5 + lane.nz * pose.r8);
    bool level = up > 0.9f && (kind == CYLINDER || kind == TURNED);
    float inverse = 1.0f / sqrtf(x * x + y * y + TINY);
    Unwrapped at;
    at.u = (level ? x * row[G_TEX_U] : turn_of(x, y) * row[G_TEX_AROUND]) + row[G_TEX_SHIFT];
    at.v = -(level ? y : z) * row[G_TEX_V] + row[G_TEX_SHIFT + 1];
    at.u_axis = level ? 0 : 3;
    at.v_axis = level ? 1 : 2;
    at.x = -y * inverse;
    at.y = x * inverse;
    return at;
}

DEVICE Unwrapped unwrap(const Lane& lane, const float* row, const Pose& pose, int kind, float x, float y, float z) {
    float along = row[G_TEX_ALONG];
    bool print = along > 2.5f, deep = along > 1.5f && !print, across = along > 0.5f && along < 1.5f;
    float face = fabsf(lane.face);
    bool mesh = kind == MESH || kind == TRIANGLES;
    bool level = mesh && fabsf(lane.nx * pose.r2 + lane.ny * pose.r5 + lane.nz * pose.r8) > 0.7f;
    bool on_x = (kind == BOX && face < 1.5f)
        || (mesh && fabsf(lane.nx * pose.r0 + lane.ny * pose.r3 + lane.nz * pose.r6) > 0.7f);
    bool flat = level || kind == PLANE || (kind == BOX && face > 2.5f) || (kind == CYLINDER && face > 0.5f);
    float s = on_x ? y : x, t = flat ? y : z;
    // Seen from behind and from the left, the axes run from right to left.
    if (print && kind == BOX && (lane.face == 2.0f || lane.face == -1.0f)) s = -s;
    int s_axis = on_x ? 1 : 0, t_axis = flat ? 1 : 2;
    bool swap = (across && flat) || (deep && !flat);
    Unwrapped at;
    at.u = (swap ? t : s) * row[G_TEX_U] - 0.5f + row[G_TEX_SHIFT];
    at.v = -(swap ? s : t) * row[G_TEX_V] - 0.5f + row[G_TEX_SHIFT + 1];
    at.u_axis = swap ? t_axis : s_axis;
    at.v_axis = swap ? s_axis : t_axis;
    at.x = at.y = 0.0f;
    return at;
}

// Tilt the normal by a slope along u and v.
DEVICE void emboss(Lane& lane, const Pose& pose, const Unwrapped& at, float du, float dv) {
    du = limit(du, -1.0f, 1.0f), dv = limit(dv, -1.0f, 1.0f);
    // Slope in the geom frame; v runs against its axis.
    float x = at.u_axis == 3 ? du * at.x : (at.u_axis == 0 ? du : 0.0f);
    float y = at.u_axis == 3 ? du * at.y : (at.u_axis == 1 ? du : 0.0f);
    float z = at.u_axis == 2 ? du : 0.0f;
    x -= at.v_axis == 0 ? dv : 0.0f;
    y -= at.v_axis == 1 ? dv : 0.0f;
    z -= at.v_axis == 2 ? dv : 0.0f;
    float nx = lane.nx, ny = lane.ny, nz = lane.nz;
    float wx = pose.r0 * x + pose.r1 * y + pose.r2 * z;
    float wy = pose.r3 * x + pose.r4 * y + pose.r5 * z;
    float wz = pose.r6 * x + pose.r7 * y + pose.r8 * z;
    float along = wx * nx + wy * ny + wz * nz;
    float px = nx - wx + along * nx, py = ny - wy + along * ny, pz = nz - wz + along * nz;
    float inverse = 1.0f / sqrtf(px * px + py * py + pz * pz);
    lane.nx = px * inverse, lane.ny = py * inverse, lane.nz = pz * inverse;
}

// Multiply the albedo by the texture of the geom; (x, y, z) is the hit point in its frame.
DEVICE void sample_texture(
    Lane& lane, const Model& model, const float* row, const Pose& pose, float x, float y, float z, float mesh_u,
    float mesh_v, float pixel) {
    int kind = (int)row[G_TYPE];
    Unwrapped at;
    if (kind == TRIANGLES && row[G_TEX_MAPPED] > 0.0f) {
        at.u = mesh_u * row[G_TEX_U];
        at.v = mesh_v * row[G_TEX_V];
        at.u_axis = at.v_axis = 0;
        at.x = at.y = 0.0f;
    } else if (row[G_TEX_AROUND] > 0.0f) at = unwrap_round(lane, row, pose, kind, x, y, z);
    else at = unwrap(lane, row, pose, kind, x, y, z);
    const int* table = model.textures + 4 * (int)row[G_TEXTURE];
    int width = table[1], height = table[2];
    float scale = 1.0f;
    float coarse = lane.t * (pixel * row[G_TEX_DENSITY] * (float)(width > height ? width : height));
    for (int k = 1; k < table[3] && coarse > SHARPNESS; k++) {
        scale *= 0.5f;
        coarse *= 0.5f;
    }
    // All in 32-bit floats, which is exact for sizes that are powers of two and for fewer than 2^24 texels.
    float w = (float)width, h = (float)height;
    float wl = w * scale, hl = h * scale;
    float inverse = 1.0f / scale;
    float inv_wl = 1.0f / w * inverse, inv_hl = 1.0f / h * inverse;
    float first = floorf((w * h - wl * hl) * FOUR_THIRDS + 0.5f);
    float tx = at.u * wl - 0.5f, ty = at.v * hl - 0.5f;
    float x0 = floorf(tx), y0 = floorf(ty);
    float fx = tx - x0, fy = ty - y0;
    x0 = x0 - wl * floorf(x0 * inv_wl);
    y0 = y0 - hl * floorf(y0 * inv_hl);
    float x1 = x0 + 1.0f < wl ? x0 + 1.0f : 0.0f;
    float y1 = y0 + 1.0f < hl ? y0 + 1.0f : 0.0f;
    const int* texels = model.texels + table[0];
    int a = texels[(int)(first + y0 * wl + x0)], b = texels[(int)(first + y0 * wl + x1)];
    int c = texels[(int)(first + y1 * wl + x0)], d = texels[(int)(first + y1 * wl + x1)];
    float wa = (1.0f - fx) * (1.0f - fy), wb = fx * (1.0f - fy), wc = (1.0f - fx) * fy, wd = fx * fy;
    lane.red *= blend_texels(a, b, c, d, wa, wb, wc, wd, 0);
    lane.green *= blend_texels(a, b, c, d, wa, wb, wc, wd, 8);
    lane.blue *= blend_texels(a, b, c, d, wa, wb, wc, wd, 16);
    if (row[G_RELIEF] > 0.0f && row[G_TEX_MAPPED] == 0.0f) {
        float ha = (float)((a >> 24) & 255), hb = (float)((b >> 24) & 255);
        float hc = (float)((c >> 24) & 255), hd = (float)((d >> 24) & 255);
        float u_gain = row[G_RELIEF] * row[G_TEX_U] * (float)(width / 255.0);
        float v_gain = row[G_RELIEF] * row[G_TEX_V] * (float)(height / 255.0);
        float du = ((hb - ha) * (1.0f - fy) + (hd - hc) * fy) * u_gain * scale;
        float dv = ((hc - ha) * (1.0f - fx) + (hd - hb) * fx) * v_gain * scale;
        emboss(lane, pose, at, du, dv);
    }
}
