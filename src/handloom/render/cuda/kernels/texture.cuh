// Texture lookup: bilinear on the level that suits the distance; see cpu/model/texture.py.
#pragma once

DEVICE float blend_texels(int a, int b, int c, int d, float wa, float wb, float wc, float wd, int shift) {
    float p = (float)((a >> shift) & 255), q = (float)((b >> shift) & 255);
    float r = (float)((c >> shift) & 255), s = (float)((d >> shift) & 255);
    return (p * p * wa + q * q * wb + r * r * wc + s * s * wd) * TEXEL_SCALE;
}

// Multiply the albedo by the texture of the geom; (x, y, z) is the hit point in its frame.
DEVICE void sample_texture(
    Lane& lane, const Model& model, const float* row, float x, float y, float z, float mesh_u, float mesh_v, float pixel) {
    int kind = (int)row[G_TYPE];
    float u, v;
    if (kind == TRIANGLES && row[G_TEX_MAPPED] > 0.0f) {
        u = mesh_u * row[G_TEX_U];
        v = mesh_v * row[G_TEX_V];
    } else {
        float face = fabsf(lane.face);
        bool on_x = kind == BOX && face < 1.5f;
        bool flat = kind == PLANE || (kind == BOX && face > 2.5f) || (kind == CYLINDER && face > 0.5f);
        u = (on_x ? y : x) * row[G_TEX_U] - 0.5f;
        v = -(flat ? y : z) * row[G_TEX_V] - 0.5f;
    }
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
    float tx = u * wl - 0.5f, ty = v * hl - 0.5f;
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
}
