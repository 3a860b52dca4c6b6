// Shading: light arriving, material, tone map; see cpu/light/shading.py.
#pragma once

// Add one light's diffuse part and highlight, weighed by what the shade leaves of it.
DEVICE void add_light(Lane& lane, const float* light, const float* at, const float* axis, const float* view) {
    float x = at[0] - lane.px, y = at[1] - lane.py, z = at[2] - lane.pz;
    float d2 = x * x + y * y + z * z + TINY;
    float inverse = 1.0f / sqrtf(d2);
    x *= inverse, y *= inverse, z *= inverse;
    float cone = limit((x * axis[0] + y * axis[1] + z * axis[2] - light[L_CUTOFF]) * light[L_BLEND], 0.0f, 1.0f);
    const float* a = light + L_ATTENUATION;
    float power = (1.0f - lane.shade) * cone / (a[0] + a[1] * d2 * inverse + a[2] * d2);
    float facing = lane.nx * x + lane.ny * y + lane.nz * z;
    float direct = most(facing, 0.0f) * power;
    lane.light_r += direct * light[L_DIFFUSE];
    lane.light_g += direct * light[L_DIFFUSE + 1];
    lane.light_b += direct * light[L_DIFFUSE + 2];
    float vx = view[V_EYE] - lane.px, vy = view[V_EYE + 1] - lane.py, vz = view[V_EYE + 2] - lane.pz;
    inverse = 1.0f / sqrtf(vx * vx + vy * vy + vz * vz + TINY);
    float hx = x + vx * inverse, hy = y + vy * inverse, hz = z + vz * inverse;
    float half = most((lane.nx * hx + lane.ny * hy + lane.nz * hz) / sqrtf(hx * hx + hy * hy + hz * hz + TINY), 0.0f);
    // Schlick's rational stand-in for half ** shininess.
    float shine = facing > 0.0f ? half / (lane.shininess - lane.shininess * half + half) * power : 0.0f;
    lane.shine_r += shine * light[L_SPECULAR];
    lane.shine_g += shine * light[L_SPECULAR + 1];
    lane.shine_b += shine * light[L_SPECULAR + 2];
}

// Add a light that casts no shadows; without a highlight colour, its diffuse part alone.
DEVICE void add_soft_light(Lane& lane, const float* light, const float* at, const float* axis, const float* view) {
    if (light[L_SPECULAR] + light[L_SPECULAR + 1] + light[L_SPECULAR + 2] > 0.0f) {
        lane.shade = 0.0f;
        add_light(lane, light, at, axis, view);
        return;
    }
    float x = at[0] - lane.px, y = at[1] - lane.py, z = at[2] - lane.pz;
    float d2 = x * x + y * y + z * z + TINY;
    float inverse = 1.0f / sqrtf(d2);
    float cone = limit(((x * axis[0] + y * axis[1] + z * axis[2]) * inverse - light[L_CUTOFF]) * light[L_BLEND], 0.0f, 1.0f);
    float facing = most((lane.nx * x + lane.ny * y + lane.nz * z) * inverse, 0.0f);
    const float* a = light + L_ATTENUATION;
    float direct = facing * cone / (a[0] + a[1] * d2 * inverse + a[2] * d2);
    lane.light_r += direct * light[L_DIFFUSE];
    lane.light_g += direct * light[L_DIFFUSE + 1];
    lane.light_b += direct * light[L_DIFFUSE + 2];
}

// Linear light of one channel: the matte part, and highlights tinted by the colour of a metal.
DEVICE float sensor(float albedo, float metal, float ambient, float light, float glow, float shine, float mirror) {
    float matte = albedo * ((1.0f - metal) * (ambient + light) + glow);
    return matte + (1.0f + (albedo - 1.0f) * metal) * (shine + mirror);
}

DEVICE float encode(float x) {
    float root2 = sqrtf(x);
    float root4 = sqrtf(root2);
    return most(SRGB_2 * root2 + SRGB_4 * root4 + SRGB_8 * sqrtf(root4) + SRGB_1 * x, 0.0f);
}

// Roll the highlights off and encode linear light as sRGB 0..255.
DEVICE float develop(float x) {
    x = x * (FILM_A * x + FILM_B) / (x * (FILM_C * x + FILM_D) + FILM_E);
    return encode(limit(x, 0.0f, 1.0f));
}

// Add one pane to the light that is mirrored from a direction (x, y, z).
DEVICE void mirror_window(float* mirror, const float* pane, float x, float y, float z, float blur) {
    const float *w = pane + P_W, *p = pane + P_U, *q = pane + P_V;
    float ahead = w[0] * x + w[1] * y + w[2] * z;
    float scale = 1.0f / most(ahead, 0.05f);
    float u = fabsf(p[0] * x + p[1] * y + p[2] * z) * scale;
    float v = fabsf(q[0] * x + q[1] * y + q[2] * z) * scale;
    float a = blur * sqrtf(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    float b = blur * sqrtf(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
    float inside = limit(0.5f + (1.0f - u) * 0.5f / a, 0.0f, 1.0f) * limit(0.5f + (1.0f - v) * 0.5f / b, 0.0f, 1.0f);
    inside *= least(1.0f / a, 1.0f) * least(1.0f / b, 1.0f);
    float bars = pane[P_BARS];
    if (bars > 0.0f) {
        float clear = least(most((u - bars) / a + 0.5f, a), 1.0f) * least(most((v - bars) / b + 0.5f, b), 1.0f);
        inside *= least(clear, 1.0f);
    }
    inside *= limit(ahead * 8.0f, 0.0f, 1.0f);
    for (int c = 0; c < 3; c++) mirror[c] += inside * pane[P_COLOR + c];
}

// Turn albedo, light and surroundings into screen colours 0..255.
DEVICE void shade_surface(Lane& lane, const float* world, const float* view) {
    float exposure = world[W_EXPOSURE];
    if (lane.id < 0) {
        // The sky; there the normal is the direction of the ray.
        float up = sqrtf(most(lane.nz, 0.0f)), down = least(most(-lane.nz, 0.0f) * 4.0f, 1.0f);
        float sky[3];
        for (int c = 0; c < 3; c++) {
            float zenith = world[W_ZENITH + c], horizon = world[W_HORIZON + c], nadir = world[W_NADIR + c];
            sky[c] = (horizon + (zenith - horizon) * up + (nadir - horizon) * down) * exposure;
        }
        lane.red = develop(sky[0]), lane.green = develop(sky[1]), lane.blue = develop(sky[2]);
        return;
    }
    float nx = lane.nx, ny = lane.ny, nz = lane.nz;
    float vx = view[V_EYE] - lane.px, vy = view[V_EYE + 1] - lane.py, vz = view[V_EYE + 2] - lane.pz;
    float inverse = 1.0f / sqrtf(vx * vx + vy * vy + vz * vz + TINY);
    float cosine = most((nx * vx + ny * vy + nz * vz) * inverse, 0.0f);
    float twice = cosine + cosine;
    float rim = 1.0f - cosine;
    rim *= rim;
    rim *= rim;
    float mx = twice * nx - vx * inverse, my = twice * ny - vy * inverse, mz = twice * nz - vz * inverse;
    float spread = sqrtf(2.0f / (lane.shininess + 2.0f));
    float gap = lane.near_gap;
    float coat = lane.specular * (FACE_ON + (0.5f - FACE_ON) * rim * (1.0f - spread));
    float weight = gap * (lane.metal + (1.0f - lane.metal) * coat);
    float blur = SHARPEST_EDGE + BLUR * spread;
    float contrast = MIRROR_CONTRAST * (1.0f - 0.5f * spread);
    float cx = mx * contrast, cy = my * contrast, cz = mz * contrast;
    const float* e = world + W_AMBIENT;
    float mirror[3];
    for (int c = 0; c < 3; c++) mirror[c] = most(e[c] + e[3 + c] * cx + e[6 + c] * cy + e[9 + c] * cz, 0.0f);
    for (int k = 0; k < (int)world[W_WINDOW_COUNT]; k++)
        mirror_window(mirror, world + W_WINDOWS + k * WINDOW_COLUMNS, mx, my, mz, blur);
    float red = sensor(lane.red, lane.metal, (e[0] + e[3] * nx + e[6] * ny + e[9] * nz) * gap, lane.light_r, lane.glow,
                       lane.specular * lane.shine_r, mirror[0] * weight);
    float green = sensor(lane.green, lane.metal, (e[1] + e[4] * nx + e[7] * ny + e[10] * nz) * gap, lane.light_g, lane.glow,
                         lane.specular * lane.shine_g, mirror[1] * weight);
    float blue = sensor(lane.blue, lane.metal, (e[2] + e[5] * nx + e[8] * ny + e[11] * nz) * gap, lane.light_b, lane.glow,
                        lane.specular * lane.shine_b, mirror[2] * weight);
    if (lane.opacity < 1.0f && lane.specular > CLEAR_COAT) {
        float mirrored = least(mirror[1] * weight + lane.specular * lane.shine_g + 2.0f * weight, 1.0f);
        lane.opacity += (1.0f - lane.opacity) * mirrored;
    }
    lane.red = develop(red * exposure), lane.green = develop(green * exposure), lane.blue = develop(blue * exposure);
}
